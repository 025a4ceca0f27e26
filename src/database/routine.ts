import { createHash } from 'node:crypto'
import { takeLock } from './advisory-lock.ts'
import { findDistributed } from './distribute.ts'
import { type Sql, type Statements, writePathSettings } from './open.ts'
import { transaction } from './transaction.ts'

/**
 * SQL of the write path, stored as a function: one call is one round trip and one transaction. After a lock, it sees
 * what the lock's last holder wrote. Its name has a digest of the text, so that two versions can share a database
 * during an upgrade.
 */
export interface Routine {
  name: string
  definition: string
  call: string
}

/** Declares a routine: parameters in order, result columns, variables and PL/pgSQL body. */
export function routine(
  name: string,
  parameters: Record<string, string>,
  returns: string,
  variables: string,
  body: string,
): Routine {
  const list = Object.entries(parameters).map(([parameter, type]) => `${parameter} ${type}`)
  // Behind a pooler, a session may lack the service's settings.
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

/** Creates missing routines and drops those unused for two days. Two processes may do so at once. */
export async function installRoutines(sql: Sql, routines: readonly Routine[]): Promise<void> {
  await transaction(sql, async (tx) => {
    await takeLock(tx, 'install routines')
    const isDistributed = await findDistributed(tx)
    for (const { name, definition } of routines) {
      const [known] = await tx`select from pg_proc where proname = ${name} and pg_function_is_visible(oid)`
      if (isDistributed) {
        // Also for one created before distribution. Citus needs a statement's values to find its node.
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

/** Records once an hour that this process uses its routines. Creates them again if they were dropped. */
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
 * SQL: joins a table to rows `k` of application `v_app`. It names the application by the rows: with a constant, a plan
 * made on an empty table would read the whole application. A cluster needs the constant to find the node, and plans
 * each time.
 */
export const isOfRowsSql = (table: string) => `${table}.app_id = ${joined}`

/** SQL: the same for devices `d`, by the place (`ctid`) that this very statement has read. Citus doesn't take it. */
export const isAtPlaceSql = `d.${atPlace}${isOfRowsSql('d')}`

export function callRoutine<Row extends object>(
  sql: Statements,
  { call }: Routine,
  values: (string | number | boolean)[],
): Promise<Row[]> {
  return sql.unsafe<Row[]>(call, values, { prepare: true })
}

/** Writes a PostgreSQL array, for parameters that are cast to `text[]`. */
export function textArray(values: readonly (string | number | null)[]): string {
  // Nearly always true, and several times as fast.
  if (!values.includes(null) && !/["\\]/.test(values.join(' ')))
    return values.length === 0 ? '{}' : `{"${values.join('","')}"}`
  return `{${values.map((value) => (value === null ? 'NULL' : `"${escaped(String(value))}"`)).join(',')}}`
}

const escaped = (text: string) => text.replace(/["\\]/g, '\\$&')

/** SQL: the rows of a JSON array of objects, as `i`. */
export function jsonRows<Members extends object>(
  parameter: string,
  columns: Partial<Record<keyof Members & string, string>>,
): string {
  return `json_to_recordset(${parameter}) as i (${columnList(columns)})`
}

/** SQL: records from JSON texts joined by line feeds, which none of them holds; a JSON array costs three times more. */
export const recordsOf = (parameter: string) => `string_to_array(${parameter}, E'\n')`

/**
 * SQL: rows `i`, numbered by `n`, each column from an array of the first one's length. `unnest` would copy each array
 * into a table first. Each column must name a parameter or variable: an expression would be evaluated per row.
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
