import { createHash } from 'node:crypto'
import type { Sql, Statements } from './open.ts'

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

/** Declares a routine: its parameters in order, what each row of its answer holds, and its PL/pgSQL body. */
export function routine(name: string, parameters: Record<string, string>, returns: string, body: string): Routine {
  const list = Object.entries(parameters).map(([parameter, type]) => `${parameter} ${type}`)
  const text = `(${list.join(', ')}) returns table (${returns}) language plpgsql as $routine$\n${body}\n$routine$`
  const unique = `${name}_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  return {
    name: unique,
    definition: `create function ${unique} ${text}`,
    call: `select * from ${unique}(${list.map((_, index) => `$${index + 1}`).join(', ')})`,
  }
}

/** Creates the routines that the database does not have yet; safe when two processes start at once. */
export async function installRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('install routines', 0))`
    for (const { name, definition } of routines) {
      const [known] = await tx`select from pg_proc where proname = ${name} and pg_function_is_visible(oid)`
      if (known === undefined) await tx.unsafe(definition)
    }
  })
}

/** Runs a routine as a prepared statement. */
export function callRoutine<Row extends object>(
  sql: Statements,
  { call }: Routine,
  values: (string | number | boolean)[],
): Promise<Row[]> {
  return sql.unsafe<Row[]>(call, values, { prepare: true })
}

/**
 * One column of a batch as a single text parameter: values joined by line feeds, an empty string for null. The SQL
 * side is `column(parameter)`. It is several times cheaper than array literals on both sides, and it is safe because
 * no stored string holds a control character (contract §2); a value that did would shift its neighbours, so the
 * count is checked.
 */
export function joinColumn<Item>(items: readonly Item[], read: (item: Item) => string | number | null): string {
  let joined = ''
  for (let index = 0; index < items.length; index++) {
    const value = read(items[index] as Item)
    joined += index === 0 ? (value ?? '') : `\n${value ?? ''}`
  }
  let separators = 0
  for (let at = joined.indexOf('\n'); at !== -1; at = joined.indexOf('\n', at + 1)) separators++
  if (separators !== items.length - 1) throw new Error('a value of a batch holds a line feed')
  return joined
}

/** The SQL that makes an array of a joined column. */
export function column(parameter: string): string {
  return `string_to_array(${parameter}, E'\\n', '')`
}

/** The lock that every writer of an application's rows holds until it commits. */
export const applicationLock = (appId: string) => `pg_advisory_xact_lock(hashtextextended(${appId}, 0))`
