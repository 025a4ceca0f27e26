import Type, { type TSchema } from 'typebox'
import { limits } from './limits.ts'
import {
  described,
  integer,
  momentText,
  momentWords,
  named,
  nameOf,
  nullable,
  optional,
  shownKey,
  text,
  textOneOf,
} from './values.ts'

// The members of all pages.

/** The time filters of page operations (contract §5). */
export const timeRange = {
  timeFrom: optional(described(momentText, `Only rows from this moment on. ${momentWords}`)),
  timeTo: optional(described(momentText, `Only rows up to this moment, including all of its second. ${momentWords}`)),
}

/** Query members of every page operation (contract §5). */
export const pageQuery = {
  pageNo: optional(
    described(
      integer(1, 1_000_000),
      'The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further.',
    ),
  ),
  pageSize: optional(described(integer(1, limits.pageRows), 'The number of rows on a page; 10 by default.')),
  cursor: optional(
    text(
      2048,
      'The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped.',
    ),
  ),
}

/** Query members of a page that callers may sort by these members of its records. */
export function sortedBy<const Name extends string>(names: readonly Name[]) {
  return {
    sort: optional(
      textOneOf(
        names,
        'The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order.',
      ),
    ),
    order: optional(textOneOf(['asc', 'desc'], 'Only with `sort`: ascending, which is the default, or descending.')),
  }
}

/** What `sortedBy` adds to a query. */
export const sortMembers = Object.keys(sortedBy([]))

/** The order that a query asks for. */
export interface Sort<Name extends string> {
  by: Name
  isDescending: boolean
}

/** The members of every page beside its rows (contract §5). */
const Page = named(
  'Page',
  Type.Object({
    total: Type.Integer({ description: 'How many rows fit the filters, counted up to 10000.' }),
    totalIsExact: Type.Boolean({ description: 'False when more than 10000 rows fit.' }),
    pageNo: nullable(Type.Integer({ description: 'The page’s number; null for a page by cursor.' })),
    pageSize: Type.Integer({ description: 'How many rows a page holds at most.' }),
    pages: Type.Integer({ description: 'How many pages the counted rows fill.' }),
    nextCursor: nullable(Type.String({ description: 'The cursor of the next page; null on the last page.' })),
  }),
)

/** The answer of every page operation: rows of a named record. */
export function pageOf<Schema extends TSchema>(schema: Schema) {
  const list = Type.Array(schema, { description: 'The rows of this page.' })
  const page = Type.Object({ list, ...Page.properties }, { [shownKey]: Type.Intersect([Page, Type.Object({ list })]) })
  return named(`${nameOf(schema)}Page`, page)
}
