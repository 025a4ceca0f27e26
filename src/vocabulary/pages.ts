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

export const timeRange = {
  timeFrom: optional(described(momentText, `Only rows at or after this time. ${momentWords}`)),
  timeTo: optional(
    described(momentText, `Only rows at or before this time (the whole second included). ${momentWords}`),
  ),
}

/** Contract §5. */
export const pageQuery = {
  pageNo: optional(
    described(
      integer(1, 1_000_000),
      'Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`.',
    ),
  ),
  pageSize: optional(described(integer(1, limits.pageRows), 'Rows per page; default 10.')),
  cursor: optional(
    text(
      2048,
      'The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped.',
    ),
  ),
}

export function sortedBy<const Name extends string>(names: readonly Name[]) {
  return {
    sort: optional(
      textOneOf(
        names,
        'The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order.',
      ),
    ),
    order: optional(textOneOf(['asc', 'desc'], 'Sort direction, only with `sort`: ascending (default) or descending.')),
  }
}

export const sortMembers = Object.keys(sortedBy([]))

export interface Sort<Name extends string> {
  by: Name
  isDescending: boolean
}

const Page = named(
  'Page',
  Type.Object({
    total: Type.Integer({ description: 'Number of matching rows, counted up to 10000.' }),
    totalIsExact: Type.Boolean({ description: 'False if more than 10000 rows match.' }),
    pageNo: nullable(Type.Integer({ description: 'The page’s number; null for a page by cursor.' })),
    pageSize: Type.Integer({ description: 'Maximum rows per page.' }),
    pages: Type.Integer({ description: 'Number of pages of the counted rows.' }),
    nextCursor: nullable(Type.String({ description: 'The cursor of the next page; null on the last page.' })),
  }),
)

export function pageOf<Schema extends TSchema>(schema: Schema) {
  const list = Type.Array(schema, { description: 'The rows of this page.' })
  const page = Type.Object({ list, ...Page.properties }, { [shownKey]: Type.Intersect([Page, Type.Object({ list })]) })
  return named(`${nameOf(schema)}Page`, page)
}
