import Type, { type TSchema } from 'typebox'
import { limits } from './limits.ts'
import { type FieldFault, fieldFault } from './refusals.ts'
import {
  described,
  given,
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

const defaultPageRows = 10

/** Returns a check of the members of a page's query that depend on each other; undefined if it is no page's. */
export function pageCheck(members: Record<string, unknown>) {
  if (members.pageNo === undefined) return undefined
  return (query: Record<string, unknown>, faulty: readonly string[]): FieldFault[] => {
    const [pageNo, cursor, sort, order] = ['pageNo', 'cursor', 'sort', 'order'].map((name) => given(query[name]))
    const pageSize = given(query.pageSize) ?? defaultPageRows
    const faults: FieldFault[] = []
    if (pageNo !== null && cursor !== null) {
      faults.push(fieldFault('cursor', 'must not be given together with pageNo', '不得与 pageNo 同时给出'))
    } else if (Number(pageNo) * Number(pageSize) > limits.pageRowsNumbered && !faulty.includes('pageSize')) {
      faults.push(pageTooFar)
    }
    if (members.sort !== undefined && order !== null && sort === null && !faulty.includes('sort')) {
      faults.push(fieldFault('order', 'must be given together with sort', '必须与 sort 同时给出'))
    }
    return faults
  }
}

const pageTooFar = fieldFault(
  'pageNo',
  `times pageSize must be at most ${limits.pageRowsNumbered}; use a cursor to go further`,
  `与 pageSize 的乘积不得超过 ${limits.pageRowsNumbered}；更远请使用游标`,
)

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
