import Type, { type Static } from 'typebox'
import { named, nullable, textOneOf } from '../../../vocabulary/values.ts'

/** Why a job failed. */
export const JobFailure = named(
  'JobFailure',
  Type.Object({
    kind: textOneOf(['accessLost', 'rowsRefused', 'attemptsFailed', 'rowsLost'], 'Why the job failed.'),
    place: nullable(
      Type.String({
        description:
          'The line of the file, the serial number or the site at which it stopped; null before its first row.',
      }),
    ),
    code: nullable(Type.Integer({ description: 'For accessLost: the code with which its sender would be refused.' })),
    count: nullable(Type.Integer({ description: 'How many rows were refused or lost, or how many attempts failed.' })),
    cause: nullable(Type.String({ description: 'For attemptsFailed: the last error’s name and code.' })),
  }),
)
export type JobFailure = Static<typeof JobFailure>
