import Type, { type Static } from 'typebox'
import { named, nullable, textOneOf } from '../../../vocabulary/values.ts'

export const JobFailure = named(
  'JobFailure',
  Type.Object({
    kind: textOneOf(['accessLost', 'rowsRefused', 'attemptsFailed', 'rowsLost'], 'Why the job failed.'),
    place: nullable(
      Type.String({
        description: 'Where it stopped: line of the file, serial number or site; null before the first row.',
      }),
    ),
    code: nullable(Type.Integer({ description: 'For accessLost: the error code that the caller would get now.' })),
    count: nullable(Type.Integer({ description: 'Number of refused or lost rows, or of failed attempts.' })),
    cause: nullable(Type.String({ description: 'For attemptsFailed: the last error’s name and code.' })),
  }),
)
export type JobFailure = Static<typeof JobFailure>
