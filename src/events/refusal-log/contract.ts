import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery, sortedBy, timeRange } from '../../vocabulary/pages.ts'
import { type RefusalName, refusals } from '../../vocabulary/refusals.ts'
import {
  anyAppId,
  described,
  FieldFaults,
  freeText,
  integer,
  moment,
  named,
  nullable,
  optional,
  text,
  textOneOf,
} from '../../vocabulary/values.ts'

const names = Object.keys(refusals) as RefusalName[]

export const RefusalRecord = named(
  'RefusedWrite',
  Type.Object({
    time: moment,
    requestId: Type.String({ description: 'the `X-Request-Id` of the answer' }),
    appId: nullable(
      Type.String({
        description: 'null for an operator’s write that names no application; only operators see such refusals',
      }),
    ),
    operation: Type.String({ description: 'The id of the operation that was called.' }),
    code: Type.Integer({ description: 'The refusal’s code.' }),
    name: textOneOf(names, 'the name of the refusal’s code'),
    errors: nullable(FieldFaults.properties.errors),
    subject: nullable(
      Type.String({
        description:
          'the record it was about: a serial number, the id of a site or a rule, or the name of a record to be created',
      }),
    ),
    actor: Type.String({ description: 'who called: application:…, operator:… or operatorKey:…' }),
  }),
)
export type RefusalRecord = Static<typeof RefusalRecord>

export const pageRefusals = operation({
  id: 'pageRefusals',
  group: 'refusals',
  summary:
    'Pages through refused writes, including refused rows of batches, newest first; those of several applications are sorted by `appId` first, unless `sort` says otherwise. The newest 1000 refusals of each application are kept, at most 300 a minute.',
  method: 'GET',
  path: '/api/event/v1/refusal/page',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    ...sortedBy(['time']),
    ...timeRange,
    code: optional(described(integer(1, 99_999), 'The code of a refusal.')),
    operation: optional(text(64, 'the id of an operation')),
    deviceNo: optional(freeText(64, 'a part of the serial number, regardless of upper and lower case')),
    subject: optional(freeText(64, 'a whole serial number, the id of a site or a rule, or a new site’s name')),
    requestId: optional(text(128, 'the `X-Request-Id` of an answer')),
  }),
  data: pageOf(RefusalRecord),
  refusals: ['applicationNotFound'],
})
