import Type, { type TSchema, type TString } from 'typebox'
import { limits } from './limits.ts'
import { refusals } from './refusals.ts'
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
  oneOf,
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
  pageSize: optional(described(integer(1, limits.pageRows), 'Rows on a page; 10 when left out.')),
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

/** The rows of a batch. Each is checked by itself, so that a faulty one is an outcome and not the end of the request. */
export function batchOf(row: TSchema, description?: string) {
  return Type.Array(Type.Unknown({ [shownKey]: row }), {
    minItems: 1,
    maxItems: limits.batchRows,
    ...(description === undefined ? {} : { description }),
  })
}

/** Without 0, so that the code of an outcome tells clients in typed languages which of the two it is. */
const RefusalCode = named(
  'RefusalCode',
  described(oneOf(...Object.values(refusals).map(({ code }) => code)), 'The code of a refusal.'),
)

/**
 * The answer of every batch: one outcome a row, in order, each with the member that names the row. It is published as
 * one of two records by `code`, the row that was carried out and the one that was refused.
 */
export function outcomesOf<const Name extends string, Schema extends TSchema>(name: Name, schema: Schema) {
  const key = Type.String({ description: 'Which row it is; null for a row that did not say.' })
  const member = { [name]: nullable(key) } as Record<Name, ReturnType<typeof nullable<TString>>>
  const msg = Type.String({ description: 'For people: success, or why the row was refused.' })
  const faults = Type.Union([FieldFaults, Type.Null()], {
    description: 'The faulty members of a row that is faulty; else null.',
  })
  // Several batches tell of the same record.
  const title = `${nameOf(schema)}Outcomes`
  const known = namedSchemas.get(title)
  const done = () =>
    named(
      `${nameOf(schema)}Done`,
      Type.Object({
        ...member,
        code: Type.Literal(0, { description: '0: the row was carried out.' }),
        msg,
        data: described(schema, 'The record, as the operation of one row answers it.'),
      }),
    )
  const refused = () =>
    named(`${nameOf(schema)}Refused`, Type.Object({ ...member, code: RefusalCode, msg, data: faults }))
  const outcome = Type.Object(
    { ...member, code: Type.Integer(), msg, data: Type.Union([schema, Type.Null(), FieldFaults]) },
    known === undefined ? { [shownKey]: Type.Union([done(), refused()]) } : {},
  )
  const outcomes = Type.Object({
    results: Type.Array(outcome, { description: 'One outcome a row, in the order of the rows.' }),
  })
  return (known as typeof outcomes | undefined) ?? named(title, outcomes)
}
