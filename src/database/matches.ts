import type { PendingQuery, Row } from 'postgres'
import type { Sql, Statements } from './open.ts'
import { readByIndexOrder } from './page.ts'

// Finds one application's matching rows for bulk actions. It reads one stretch of an index at a time, which costs the
// same however few of its rows match.

export interface Match {
  appId: string
  /** The application's newest event id when the bulk action started. */
  beganAfter: number
}

export interface Matches {
  keys: string[][]
  /** The key of the stretch's last row, matching or not; null when there is none. */
  last: string[] | null
}

/** A row's key in the order of pages. */
export type RowKey = string[]

/**
 * SQL: whether a later event of these types has created the row. The row's own time doesn't show it: it is set before
 * the row waits for the application's lock, perhaps by another clock.
 */
export const isLaterThan = (
  sql: Statements,
  { appId, beganAfter }: Match,
  subject: string,
  types: readonly string[],
) => sql`
  exists (
    select 1 from event e
    where e.app_id = ${appId} and hashtext(e.subject) = hashtext(${sql.unsafe(subject)})
      and e.subject = ${sql.unsafe(subject)} and e.id > ${beganAfter} and e.type in ${sql(types)})`

interface Scan {
  /** The columns of `order`, and `fits`, which says whether the row matches. */
  rows: PendingQuery<Row[]>
  /** The order descends. */
  order: readonly string[]
  keySql: string
}

/** Reads the first rows of a scan by the order of an index, and finds those that match. */
export async function readMatches(sql: Sql, write: (tx: Statements) => Scan, limit: number): Promise<Matches> {
  const [found] = await readByIndexOrder(sql, (tx) => {
    const { rows, order, keySql } = write(tx)
    const [down, up] = [order.map((column) => `${column} desc`).join(', '), order.join(', ')]
    return tx<[Matches]>`
      with stretch as materialized (${rows} order by ${tx.unsafe(down)} limit ${tx.unsafe(String(limit))})
      select (select coalesce(json_agg(${tx.unsafe(keySql)} order by ${tx.unsafe(down)}), '[]') from stretch where fits) as keys,
        (select ${tx.unsafe(keySql)} from stretch order by ${tx.unsafe(up)} limit 1) as last`
  })
  return found
}

/** Makes a fragment of a statement from a text; `write` passes each value to `add`. */
export function fragmentOf(
  sql: Statements,
  write: (add: (value: string | number | Date) => string) => string,
): PendingQuery<Row[]> {
  const values: (string | number | Date)[] = []
  const strings = write((value) => {
    values.push(value)
    return mark
  }).split(mark)
  return sql(Object.assign(strings, { raw: strings }) as unknown as TemplateStringsArray, ...values)
}

/** No text of a statement holds this mark. */
const mark = '\0'
