import type { PendingQuery, Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { folded, ofApplications, readByIndexOrder } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type Found, type FoundKind, foundKinds } from './contract.ts'

// A record is found by its key along an index; by a part of its name, among the first rows of an index, or of the table
// for a caller who sees everything. Each read is bounded, for tables of any size and without statistics in PostgreSQL.

interface Sight {
  appIds: readonly string[] | null
  seesPeople: boolean
}

export async function findAnything(sql: Sql, text: string, sight: Sight): Promise<Found[]> {
  const [bound, byId, requests] = await readByIndexOrder(sql, (tx) =>
    Promise.all([findBound(tx, text, sight), findApplications(tx, text, sight), findRequest(tx, text, sight)]),
  )
  const look = (on: Statements) =>
    Promise.all([
      bound.length < limits.searchFound ? findDevices(on, text, sight) : [],
      findNamed(on, 'site', text, sight),
      findNamed(on, 'application', text, sight),
      findNamed(on, 'billingRule', text, sight),
      sight.seesPeople ? findPeople(on, text) : [],
    ])
  const [devices, sites, applications, ...others] = await (sight.appIds === null
    ? look(sql)
    : readByIndexOrder(sql, look))
  const found = [together(bound, devices), sites, together(byId, applications), ...others, requests]
  return foundKinds.flatMap((kind, place) =>
    (found[place] as Row[])
      .map((row): Found => ({ kind, id: String(row.id), appId: row.app_id || null, name: row.name }))
      .sort((one, other) => rankOf(one, text) - rankOf(other, text))
      .slice(0, limits.searchFound),
  )
}

function together(rows: readonly Row[], others: readonly Row[]): Row[] {
  const known = new Set(rows.map(({ id }) => id))
  return [...rows, ...others.filter(({ id }) => !known.has(id))]
}

function rankOf({ id, name }: Found, text: string): number {
  const sought = text.toLowerCase()
  const [one, other] = [id.toLowerCase(), name.toLowerCase()]
  if (one === sought || other === sought) return 0
  return one.startsWith(sought) || other.startsWith(sought) ? 1 : 2
}

/** All texts with a prefix lie between the prefix and the prefix followed by the greatest character. */
const greatest = '\u{10FFFF}'

/** Tries the text as given, in upper case and in lower case. */
async function findBound(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  const spellings = [...new Set([text, text.toUpperCase(), text.toLowerCase()])]
  const bound = await Promise.all(spellings.map((spelling) => readBindings(tx, spelling, appIds)))
  // The serial that matches exactly, in any spelling, is the shortest.
  const shortest = bound.flat().sort((one, other) => one.device_no.length - other.device_no.length)
  return readDevices(tx, shortest.slice(0, limits.searchFound))
}

/** For a caller of some applications only equal numbers: the index may hold very many of others before theirs. */
function readBindings(tx: Statements, text: string, appIds: Sight['appIds']): Promise<Row[]> {
  const isSought =
    appIds === null
      ? tx`device_no >= ${text} and device_no < ${text + greatest}`
      : tx`device_no = ${text} and ${ofApplications(tx, appIds)}`
  return tx`
    select app_id, bound_at, device_no from device_binding where ${isSought} order by device_no limit ${limits.searchFound}`
}

/** On a cluster, a binding and its device may be stored on different nodes. */
async function readDevices(tx: Statements, bindings: readonly Row[]): Promise<Row[]> {
  if (bindings.length === 0) return []
  const list = (value: (binding: Row) => string) => textArray(bindings.map(value))
  return tx`
    select app_id, device_no as id, device_name as name
    from device join unnest(
      ${list((binding) => binding.app_id)}::text[], ${list((binding) => binding.bound_at.toISOString())}::timestamptz[],
      ${list((binding) => binding.device_no)}::text[]
    ) as bound (app_id, bound_at, device_no) using (app_id, bound_at, device_no)`
}

function findDevices(sql: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  const rows = sql`select app_id, device_no as id, device_name as name from device`
  return walk(sql, inOrder(sql, rows, appIds, 'app_id desc, bound_at desc, device_no desc'), 'id', text)
}

/** The order is that of an index. */
const named = {
  site: { table: 'site', id: 'id', name: 'site_name', order: 'app_id desc, id desc' },
  application: { table: 'application', id: 'app_id', name: 'app_name', order: 'app_id' },
  billingRule: { table: 'billing_rule', id: 'id', name: 'rule_name', order: 'app_id desc, id desc' },
} as const satisfies Partial<Record<FoundKind, object>>

function findNamed(sql: Statements, kind: keyof typeof named, text: string, { appIds }: Sight): Promise<Row[]> {
  const { table, id, name, order } = named[kind]
  const rows = sql`select app_id, ${sql(id)} as id, ${sql(name)} as name from ${sql(table)}`
  return walk(sql, inOrder(sql, rows, appIds, order), 'name', text)
}

function findPeople(sql: Statements, text: string): Promise<Row[]> {
  return walk(sql, sql`select null as app_id, id, name from operator`, 'name', text)
}

function findApplications(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  const id = text.toLowerCase()
  return tx`
    select app_id, app_id as id, app_name as name from application
    where app_id >= ${id} and app_id < ${id + greatest} and ${ofApplications(tx, appIds)} limit ${limits.searchFound}`
}

function findRequest(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  return tx`
    select app_id, request_id as id, operation as name from refusal
    where request_id = ${text} and ${ofApplications(tx, appIds)} limit 1`
}

/** All applications: in the order of the table; else along an index. */
function inOrder(sql: Statements, rows: PendingQuery<Row[]>, appIds: Sight['appIds'], order: string) {
  return appIds === null ? rows : sql`${rows} where ${ofApplications(sql, appIds)} order by ${sql.unsafe(order)}`
}

/** Among the first rows only, in any case. What begins with the text comes first, the shortest before others. */
function walk(sql: Statements, rows: PendingQuery<Row[]>, column: 'id' | 'name', text: string): Promise<Row[]> {
  const place = sql`strpos(${sql.unsafe(folded(column, text))}, ${text.toLowerCase()})`
  return sql`
    select * from (${rows} limit ${limits.searchRowsWalked}) as walked where ${place} > 0
    order by ${place}, length(${sql(column)}) limit ${limits.searchFound}`
}
