import { createHash } from 'node:crypto'
import type { Sql, Statements } from './open.ts'
import { transaction } from './transaction.ts'

/**
 * SQL of the write path that the database keeps as a function. One call is one round trip and one transaction, and
 * every statement in it sees what was committed before it began, so what follows a lock sees what the lock's last
 * holder wrote. The text stands in the store that uses it. The name carries a digest of the text, so that processes
 * of two versions can share a database while one replaces the other.
 */
export interface Routine {
  name: string
  /** Creates the function. */
  definition: string
  /** Calls it. */
  call: string
}

/**
 * Declares a routine: its parameters in order, the columns of its batch, what each row of its answer holds, and the
 * PL/pgSQL between `begin` and `end`. There, each column is a text variable `c_<name>`: its values joined by line feeds.
 */
export function routine(
  name: string,
  parameters: Record<string, string>,
  columns: readonly string[],
  returns: string,
  variables: string,
  body: string,
): Routine {
  const list = [...Object.entries(parameters), ['p_batch', 'text']].map(([parameter, type]) => `${parameter} ${type}`)
  const split = columns.map((column, index) => `  c_${column} text := v_columns[${index + 1}];`)
  const text = `(${list.join(', ')}) returns table (${returns}) language plpgsql as $routine$
#variable_conflict use_column
declare
  v_columns text[] := string_to_array(p_batch, E'\\x1e');
${split.join('\n')}
${variables}
begin
${body}
end
$routine$`
  const unique = `${name}_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  return {
    name: unique,
    definition: `create function ${unique} ${text}`,
    call: `select * from ${unique}(${list.map((_, index) => `$${index + 1}`).join(', ')})`,
  }
}

/**
 * Creates the routines that the database does not have yet, and drops those of other versions of the program that no
 * process has used for two days. Safe when two processes start at once.
 */
export async function installRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  await transaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('install routines', 0))`
    for (const { name, definition } of routines) {
      const [known] = await tx`select 1 from pg_proc where proname = ${name} and pg_function_is_visible(oid)`
      if (known === undefined) await tx.unsafe(definition)
      await tx`insert into routine (name) values (${name}) on conflict (name) do update set seen_at = now()`
    }
    const unused = await tx`
      with gone as (delete from routine where seen_at < now() - interval '2 days' returning name)
      select oid::regprocedure::text as signature from pg_proc join gone on proname = name
      where pg_function_is_visible(oid)`
    for (const { signature } of unused) await tx.unsafe(`drop function ${signature}`)
  })
}

/** Says once an hour that this process uses its routines. One that could not for two days makes them again. */
export async function keepRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  const names = joinColumn(routines, ({ name }) => name)
  const mine = `name = any(${column('$1')})`
  await sql.unsafe(`update routine set seen_at = now() where ${mine} and seen_at < now() - interval '1 hour'`, [names])
  const [row] = await sql.unsafe<[{ known: number }]>(`select count(*)::int as known from routine where ${mine}`, [
    names,
  ])
  if (row.known < routines.length) await installRoutines(sql, routines)
}

/** Runs a routine as a prepared statement. */
export function callRoutine<Row extends object>(
  sql: Statements,
  { call }: Routine,
  values: (string | number | boolean)[],
): Promise<Row[]> {
  return sql.unsafe<Row[]>(call, values, { prepare: true })
}

/** How a column of a batch is read off an item. */
export type Columns<Item> = Record<string, (item: Item) => string | number | null>

/**
 * A batch as one text parameter: each column's values joined by line feeds, an empty string for null, the columns
 * joined by record separators. It is several times cheaper than array literals or a parameter a column, on both sides,
 * and it is safe because no stored string holds a control character (contract §2). A value that did would shift its
 * neighbours, so the separators are counted.
 */
export function joinBatch<Item>(items: readonly Item[], columns: Columns<Item>): string {
  const joined = Object.values(columns).map((read) => joinColumn(items, read))
  const batch = joined.join('\x1e')
  if (occurrences(batch, '\x1e') !== joined.length - 1) throw new Error('a value of a batch holds a record separator')
  return batch
}

/** One column of a batch. */
export function joinColumn<Item>(items: readonly Item[], read: (item: Item) => string | number | null): string {
  const column =
    items.length === 1 ? `${read(items[0] as Item) ?? ''}` : items.map((item) => read(item) ?? '').join('\n')
  if (occurrences(column, '\n') !== items.length - 1) throw new Error('a value of a batch holds a line feed')
  return column
}

function occurrences(text: string, separator: string): number {
  let count = 0
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1)) count++
  return count
}

/** The SQL that makes an array of a joined column. */
export function column(joined: string): string {
  return `string_to_array(${joined}, E'\\n', '')`
}

/** The SQL for rows made of some columns of a batch, as `i`; `one` for a batch that is known to be a single row. */
export function batchRows(names: readonly string[], size: 'one' | 'many'): string {
  if (size === 'one') return `(select ${names.map((name) => `nullif(c_${name}, '') as ${name}`).join(', ')}) as i`
  return `unnest(${names.map((name) => column(`c_${name}`)).join(', ')}) as i (${names.join(', ')})`
}

/** The lock that every writer of an application's rows holds until it commits. */
export const applicationLock = (appId: string) => `pg_advisory_xact_lock(hashtextextended(${appId}, 0))`
