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
    requestId: Type.String({ description: 'the `X-Request-Id` of the response' }),
    appId: nullable(
      Type.String({
        description: 'null for an operator’s request without an application; only operators see these',
      }),
    ),
    operation: Type.String({ description: 'The id of the operation that was called.' }),
    code: Type.Integer({ description: 'The error code.' }),
    name: textOneOf(names, 'the name of the error code'),
    errors: nullable(FieldFaults.properties.errors),
    subject: nullable(
      Type.String({
        description: 'the subject: a serial number, the ID of a site or rule, or the name of a record to be created',
      }),
    ),
    actor: Type.String({ description: 'the caller: application:…, operator:… or operatorKey:…' }),
  }),
)
export type RefusalRecord = Static<typeof RefusalRecord>

export const pageRefusals = operation({
  id: 'pageRefusals',
  group: 'refusals',
  summary:
    'Lists refused write requests, including refused batch rows, newest first. Without `sort`, they are grouped by `appId`. The 1000 newest of each application are kept, up to 300 per minute.',
  method: 'GET',
  path: '/api/event/v1/refusal/page',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    ...sortedBy(['time']),
    ...timeRange,
    code: optional(described(integer(1, 99_999), 'The error code.')),
    operation: optional(text(64, 'the id of an operation')),
    deviceNo: optional(freeText(64, 'part of the serial number, not case-sensitive')),
    subject: optional(freeText(64, 'a whole serial number, the id of a site or a rule, or a new site’s name')),
    requestId: optional(text(128, 'the `X-Request-Id` of a response')),
  }),
  data: pageOf(RefusalRecord),
  refusals: ['applicationNotFound'],
})
