import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import {
  described,
  freeText,
  integer,
  lengths,
  moment,
  name,
  named,
  nullable,
  optional,
  textOneOf,
} from '../../vocabulary/values.ts'

// Views of the console's lists, saved by name in the account of a session: filters, order and columns.

/** The lists of the console of which views are saved. */
const viewedPages = [
  'applications',
  'sites',
  'devices',
  'billingRules',
  'priceChanges',
  'models',
  'inventory',
  'regions',
  'imports',
  'acts',
  'events',
  'audit',
  'deliveries',
  'refusals',
  'operators',
] as const
export type ViewedPage = (typeof viewedPages)[number]

const folder = '/api/platform/v1/view'
const ownViews = { group: 'views', callers: ['operator'], roles: everyRole } as const
const viewedPage = textOneOf([...viewedPages], 'The list of the console that it is a view of.')

export const ViewRecord = named(
  'View',
  Type.Object({
    id: Type.Integer(),
    page: viewedPage,
    name: Type.String({ description: 'The name that its owner gave the view.' }),
    query: nullable(Type.String({ description: 'Filters, order and page size, as in the address of the list.' })),
    columns: nullable(Type.String({ description: 'The chosen columns, in the list’s own format.' })),
    createTime: moment,
  }),
)
export type ViewRecord = Static<typeof ViewRecord>

export const saveView = operation({
  id: 'saveView',
  summary:
    'Saves a view of one of the console’s lists in one’s own account. It replaces the view of that list with the same name; with an `id`, it changes that view, including its name. An account has at most 50 views.',
  method: 'POST',
  path: `${folder}/save`,
  ...ownViews,
  body: Type.Object({
    id: optional(described(integer(1), 'The view to change; without it the name decides.')),
    page: viewedPage,
    name,
    query: optional(freeText(lengths.url, 'Filters, order and page size, as in the address of the list.')),
    columns: optional(freeText(1024, 'The chosen columns, in the list’s own format.')),
  }),
  data: ViewRecord,
  refusals: ['viewNotFound', 'viewNameTaken'],
})

export const pageViews = operation({
  id: 'pageViews',
  summary: 'Pages through the views of one’s own account, newest first; admins page through those of any account.',
  method: 'GET',
  path: `${folder}/page`,
  ...ownViews,
  query: Type.Object({
    page: optional(viewedPage),
    operatorId: optional(described(integer(), 'The account; without it one’s own.')),
    ...pageQuery,
  }),
  data: pageOf(ViewRecord),
  refusals: [],
})

export const deleteView = operation({
  id: 'deleteView',
  summary: 'Deletes a view of one’s own account.',
  method: 'POST',
  path: `${folder}/delete`,
  ...ownViews,
  body: Type.Object({ id: integer(1) }),
  data: ViewRecord,
  refusals: ['viewNotFound'],
})
