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
const viewedPage = textOneOf([...viewedPages], 'The console list that the view belongs to.')

export const ViewRecord = named(
  'View',
  Type.Object({
    id: Type.Integer(),
    page: viewedPage,
    name: Type.String({ description: 'The name of the view.' }),
    query: nullable(Type.String({ description: 'Filters, order and page size, as in the address of the list.' })),
    columns: nullable(Type.String({ description: 'The selected columns, in the list’s format.' })),
    createTime: moment,
  }),
)
export type ViewRecord = Static<typeof ViewRecord>

export const saveView = operation({
  id: 'saveView',
  summary:
    'Saves a view of a console list in your own account. Replaces a view of that list with the same name; with an `id`, updates that view, including its name. An account can have up to 50 views.',
  words: { en: 'Save a view', zh: '保存视图' },
  method: 'POST',
  path: `${folder}/save`,
  ...ownViews,
  body: Type.Object({
    id: optional(described(integer(1), 'The view to update; without it, the name decides.')),
    page: viewedPage,
    name,
    query: optional(freeText(lengths.url, 'Filters, order and page size, as in the address of the list.')),
    columns: optional(freeText(1024, 'The selected columns, in the list’s format.')),
  }),
  data: ViewRecord,
  refusals: ['viewNotFound', 'viewNameTaken'],
})

export const pageViews = operation({
  id: 'pageViews',
  summary: 'Lists your own saved views, newest first. Admins can list those of any account.',
  method: 'GET',
  path: `${folder}/page`,
  ...ownViews,
  dependsOnRole: true,
  query: Type.Object({
    page: optional(viewedPage),
    operatorId: optional(described(integer(), 'The account; default: your own.')),
    ...pageQuery,
  }),
  data: pageOf(ViewRecord),
  refusals: [],
})

export const deleteView = operation({
  id: 'deleteView',
  summary: 'Deletes one of your own saved views.',
  words: { en: 'Delete a view', zh: '删除视图' },
  method: 'POST',
  path: `${folder}/delete`,
  ...ownViews,
  body: Type.Object({ id: integer(1) }),
  data: ViewRecord,
  refusals: ['viewNotFound'],
})
