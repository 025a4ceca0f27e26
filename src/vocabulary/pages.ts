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
} from './values.ts'

// The members of all pages.

/** The time filters of page operations (contract §5). */
export const timeRange = {
  timeFrom: optional(described(momentText, `Not before this moment. ${momentWords}`)),
  timeTo: optional(described(momentText, `Not after this moment, whose second counts whole. ${momentWords}`)),
}

/** Query members of every page operation (contract §5). */
export const pageQuery = {
  pageNo: optional(
    described(
      integer(1, 1_000_000),
      'The page, from 1. Left out, it is the first. `pageNo` × `pageSize` reaches to 100000; a cursor goes further.',
    ),
  ),
  pageSize: optional(described(integer(1, limits.pageRows), 'Rows on a page; 10 when left out.')),
  cursor: optional(
    text(
      2048,
      'The `nextCursor` of the page before, with the same filters and without `pageNo`. Any depth costs the same, and nothing that existed throughout is skipped.',
    ),
  ),
}

/** The members of every page beside its rows (contract §5). */
const Page = named(
  'Page',
  Type.Object({
    total: Type.Integer({ description: 'How many rows fit the filters, counted to 10000.' }),
    totalIsExact: Type.Boolean({ description: 'False when more than 10000 rows fit.' }),
    pageNo: nullable(Type.Integer({ description: 'The page’s number; null for a page by cursor.' })),
    pageSize: Type.Integer({ description: 'How many rows a page holds at most.' }),
    pages: Type.Integer({ description: 'How many pages there are, as far as rows are counted.' }),
    nextCursor: nullable(Type.String({ description: 'Leads to the next page; null on the last.' })),
  }),
)

/** The answer of every page operation: rows of a named record. */
export function pageOf<Schema extends TSchema>(schema: Schema) {
  const list = Type.Array(schema, { description: 'The rows of this page.' })
  const page = Type.Object({ list, ...Page.properties }, { [shownKey]: Type.Intersect([Page, Type.Object({ list })]) })
  return named(`${nameOf(schema)}Page`, page)
}
