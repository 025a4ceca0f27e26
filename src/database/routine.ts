import { createHash } from 'node:crypto'
import { takeLock } from './advisory-lock.ts'
import { findDistributed } from './distribute.ts'
import { type Sql, type Statements, writePathSettings } from './open.ts'
import { transaction } from './transaction.ts'

/**
 * SQL of the write path that the database stores as a function. One call is one round trip and one transaction, and
 * each statement in it sees what was committed before the statement began; so after a lock it sees what the lock's last
 * holder wrote. The store that uses the routine holds its text. Its name has a digest of the text, so that processes of
 * two versions can share a database during an upgrade.
 */
export interface Routine {
  name: string
  /** The SQL that creates the function. */
  definition: string
  call: string
}

/** Declares a routine: its parameters in order, the columns of its result, its variables and its PL/pgSQL body. */
export function routine(
  name: string,
  parameters: Record<string, string>,
  returns: string,
  variables: string,
  body: string,
): Routine {
  const list = Object.entries(parameters).map(([parameter, type]) => `${parameter} ${type}`)
  // A session behind a pooler may lack the settings that the service asked for.
  const settings = Object.entries(writePathSettings).map(([name, value]) => `set ${name} = ${value}`)
  const text = `(
  ${list.join(',\n  ')}
) returns table (${returns})
language plpgsql ${settings.join(' ')} as $routine$
#variable_conflict use_column
declare
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

/** Creates missing routines, drops those unused for two days. Two processes may do so at once. */
export async function installRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  await transaction(sql, async (tx) => {
    await takeLock(tx, 'install routines')
    const isDistributed = await findDistributed(tx)
    for (const { name, definition } of routines) {
      const [known] = await tx`select from pg_proc where proname = ${name} and pg_function_is_visible(oid)`
      if (isDistributed) {
        // Also one that was created before the tables were distributed. Citus needs a statement's values to find its node.
        await tx.unsafe(
          definition.replace('create', 'create or replace').replaceAll(joined, 'v_app').replaceAll(`d.${atPlace}`, ''),
        )
        await tx.unsafe(`alter function ${name} reset plan_cache_mode`)
      } else if (known === undefined) await tx.unsafe(definition)
      await tx`insert into routine (name) values (${name}) on conflict (name) do update set seen_at = now()`
    }
    const unused = await tx`
      with gone as (delete from routine where seen_at < now() - interval '2 days' returning name)
      select oid::regprocedure::text as signature from pg_proc join gone on proname = name
      where pg_function_is_visible(oid)`
    for (const { signature } of unused) await tx.unsafe(`drop function ${signature}`)
  })
}

/**
 * Records once an hour that this process uses its routines. A process that could not for two days creates them again.
 */
export async function keepRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  const names = textArray(routines.map(({ name }) => name))
  const mine = 'name = any($1::text[])'
  await sql.unsafe(`update routine set seen_at = now() where ${mine} and seen_at < now() - interval '1 hour'`, [names])
  const [row] = await sql.unsafe<[{ known: number }]>(`select count(*)::int as known from routine where ${mine}`, [
    names,
  ])
  if (row.known < routines.length) await installRoutines(sql, routines)
}

const joined = 'k.app_id /* v_app */'
const atPlace = 'ctid = k.place and '

/**
 * SQL: joins a table to rows `k` of the application `v_app`, beside the rest of the key. Names the application by the
 * rows: by a constant, a plan that was made while the table was empty would read the whole application. On a cluster the
 * constant tells the node, and statements are planned each time.
 */
export const isOfRowsSql = (table: string) => `${table}.app_id = ${joined}`

/** SQL: the same for devices `d`, by the place (`ctid`) that this very statement has read, which Citus does not take. */
export const isAtPlaceSql = `d.${atPlace}${isOfRowsSql('d')}`

export function callRoutine<Row extends object>(
  sql: Statements,
  { call }: Routine,
  values: (string | number | boolean)[],
): Promise<Row[]> {
  return sql.unsafe<Row[]>(call, values, { prepare: true })
}

/** Writes values as a PostgreSQL array; for parameters that are cast to `text[]`. */
export function textArray(values: readonly (string | number | null)[]): string {
  // Nearly always true, and several times as fast.
  if (!values.includes(null) && !/["\\]/.test(values.join(' ')))
    return values.length === 0 ? '{}' : `{"${values.join('","')}"}`
  return `{${values.map((value) => (value === null ? 'NULL' : `"${escaped(String(value))}"`)).join(',')}}`
}

const escaped = (text: string) => text.replace(/["\\]/g, '\\$&')

/** SQL: the rows of a JSON parameter, an array of objects with members of these names and types, as `i`. */
export function jsonRows<Members extends object>(
  parameter: string,
  columns: Partial<Record<keyof Members & string, string>>,
): string {
  return `json_to_recordset(${parameter}) as i (${columnList(columns)})`
}

/** SQL: records from JSON texts joined by line feeds, which no JSON text holds; a JSON array costs three times more. */
export const recordsOf = (parameter: string) => `string_to_array(${parameter}, E'\n')`

/**
 * SQL: rows of which each column is an array of the routine's, as `i`, numbered by `n` from 1; there are as many as the
 * first array has elements. The elements are read by number, because `unnest` puts those of each array into a table of
 * its own first. So each column must name a parameter or a variable: an expression would be evaluated for each row.
 */
export function arrayRows(columns: Record<string, string>): string {
  const [first] = Object.values(columns)
  const elements = Object.entries(columns).map(([name, array]) => `${array}[n] as ${name}`)
  return `(select n, ${elements.join(', ')} from generate_series(1, cardinality(${first})) as n) as i`
}

function columnList(columns: Partial<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')
}
