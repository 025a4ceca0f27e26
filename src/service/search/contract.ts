import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import { named, nullable, text, textOneOf } from '../../vocabulary/values.ts'

/** In the order of the response. */
export const foundKinds = ['device', 'site', 'application', 'billingRule', 'operator', 'request'] as const
export type FoundKind = (typeof foundKinds)[number]

export const Found = named(
  'Found',
  Type.Object({
    kind: textOneOf([...foundKinds], 'The kind of record; `operator` is an account, `request` a refused request.'),
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
    'Searches devices by serial number; sites, applications, billing rules and accounts by part of the name; applications by the start of their ID; and refused requests by request ID. Returns up to 8 records of each kind. Not case-sensitive, except for request IDs. All rows are searched by the start of a serial number (for developers, by the whole serial number); other parts of serial numbers and names only in the first 30,000 rows. To search all rows, use the list operations. Developers find only records of their own applications; only admins find accounts.',
  method: 'GET',
  path: '/api/platform/v1/search',
  callers: ['operator'],
  roles: everyRole,
  dependsOnRole: true,
  query: Type.Object({ text: text(128, 'What to look for.') }),
  data: Type.Object({
    list: Type.Array(Found, {
      description: 'The results by kind; within a kind, exact matches first.',
    }),
  }),
  refusals: [],
})
