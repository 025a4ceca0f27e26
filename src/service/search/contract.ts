import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import { named, nullable, text, textOneOf } from '../../vocabulary/values.ts'

/** What a search finds, in the order in which it is answered. */
export const foundKinds = ['device', 'site', 'application', 'billingRule', 'operator', 'request'] as const
export type FoundKind = (typeof foundKinds)[number]

export const Found = named(
  'Found',
  Type.Object({
    kind: textOneOf([...foundKinds], 'What was found; `operator` is an account, `request` a write that was refused.'),
    id: Type.String({
      description: 'The serial number, the `X-Request-Id`, or the id of the record.',
      examples: ['FC-GATE-0001'],
    }),
    appId: nullable(Type.String({ description: 'The application that it belongs to; null for none.' })),
    name: Type.String({
      description: 'The name of the record; of a request, the id of the operation that was called.',
    }),
  }),
)
export type Found = Static<typeof Found>

export const search = operation({
  id: 'search',
  group: 'overview',
  summary:
    'Finds devices by serial number; sites, applications, billing rules and accounts by a part of the name; an application by the beginning of its id; and a refused write by its request id. At most 8 records of each kind are returned. Upper and lower case are treated alike, except in a request id. The beginning of a serial number is searched in all rows (for a developer, only the whole serial number is); parts of names and other parts of serial numbers only in the first 30,000 rows, while the page operations search all rows. A developer finds only records of their own applications; only admins find accounts.',
  method: 'GET',
  path: '/api/platform/v1/search',
  callers: ['operator'],
  roles: everyRole,
  query: Type.Object({ text: text(128, 'What to look for.') }),
  data: Type.Object({
    list: Type.Array(Found, {
      description: 'The records that were found, in the order of their kinds; within a kind, exact matches first.',
    }),
  }),
  refusals: [],
})
