import Type, { type TSchema, type TString } from 'typebox'
import {
  described,
  FieldFaults,
  integer,
  momentText,
  momentWords,
  named,
  namedSchemas,
  nameOf,
  nullable,
  optional,
  shownKey,
  text,
} from './values.ts'

// What pages and batches take and answer, whatever their rows are.

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
  pageSize: optional(described(integer(1, 100), 'Rows on a page; 10 when left out.')),
  cursor: optional(
    text(
      2048,
      'The `nextCursor` of the page before, with the same filters and without `pageNo`. Any depth costs the same, and nothing that existed throughout is skipped.',
    ),
  ),
}

/** What every page tells beside its rows (contract §5). */
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

/** The most rows of a batch. */
export const mostRows = 1000

/** The rows of a batch. Each is checked by itself, so that a faulty one is an outcome and not the end of the request. */
export function batchOf(row: TSchema, description?: string) {
  return Type.Array(Type.Unknown({ [shownKey]: row }), {
    minItems: 1,
    maxItems: mostRows,
    ...(description === undefined ? {} : { description }),
  })
}

/** The answer of every batch: one outcome a row, in order, each with the member that names the row. */
export function outcomesOf<const Name extends string, Schema extends TSchema>(name: Name, schema: Schema) {
  const key = Type.String({ description: 'Which row it is; null for a row that did not say.' })
  const member = { [name]: nullable(key) } as Record<Name, ReturnType<typeof nullable<TString>>>
  const outcome = Type.Object({
    ...member,
    code: Type.Integer({ description: '0 for a row that was carried out, else the code of its refusal.' }),
    msg: Type.String({ description: 'For people: success, or why the row was refused.' }),
    data: Type.Union([schema, Type.Null(), FieldFaults], {
      description: 'The record of a row that was carried out; the faulty members of one that is faulty; else null.',
    }),
  })
  const outcomes = Type.Object({
    results: Type.Array(outcome, { description: 'One outcome a row, in the order of the rows.' }),
  })
  // Several batches tell of the same record.
  const title = `${nameOf(schema)}Outcomes`
  return (namedSchemas.get(title) as typeof outcomes | undefined) ?? named(title, outcomes)
}

/** The largest body of a batch (contract §2): room for a thousand rows, even with long names, remarks and addresses. */
export const batchBytes = 4 * 1024 * 1024
