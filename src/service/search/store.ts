import type { PendingQuery, Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { folded, ofApplications, readByIndexOrder } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type Found, type FoundKind, foundKinds } from './contract.ts'

// One search over all kinds of records. Whatever the tables hold, each kind reads a bounded stretch of an index.

/** What a caller may find. */
interface Sight {
  /** The applications whose records are found; null for all of them. */
  appIds: readonly string[] | null
  seesPeople: boolean
}

/** Finds records of every kind, at most `limits.searchFound` of each. */
export function findAnything(sql: Sql, text: string, sight: Sight): Promise<Found[]> {
  return readByIndexOrder(sql, async (tx) => {
    const found = await Promise.all([
      findDevices(tx, text, sight),
      findByName(tx, 'site', text, sight),
      findApplications(tx, text, sight),
      findByName(tx, 'billingRule', text, sight),
      sight.seesPeople ? findPeople(tx, text) : [],
      findRequest(tx, text, sight),
    ])
    return foundKinds.flatMap((kind, place) =>
      (found[place] ?? [])
        .map((row): Found => ({ kind, id: String(row.id), appId: row.app_id || null, name: row.name }))
        .sort((one, other) => rankOf(one, text) - rankOf(other, text))
        .slice(0, limits.searchFound),
    )
  })
}

/** Exact matches come first, then those that begin with what is looked for. */
function rankOf({ id, name }: Found, text: string): number {
  const sought = text.toLowerCase()
  const [one, other] = [id.toLowerCase(), name.toLowerCase()]
  if (one === sought || other === sought) return 0
  return one.startsWith(sought) || other.startsWith(sought) ? 1 : 2
}

/** The greatest character: every text that begins with another one lies between that one and that one with it. */
const greatest = '\u{10FFFF}'

async function findDevices(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  const spellings = [...new Set([text, text.toUpperCase(), text.toLowerCase()])]
  const bound = await Promise.all(spellings.map((spelling) => readBindings(tx, spelling, appIds)))
  const first = await readDevices(tx, bound.flat().slice(0, limits.searchFound))
  if (first.length >= limits.searchFound) return first
  const owned = tx`
    select app_id, device_no as id, device_name as name from device where ${ofApplications(tx, appIds)}
    order by app_id desc, bound_at desc, device_no desc`
  const others = await walk(tx, owned, holds(tx, 'id', text))
  const known = new Set(first.map(({ id }) => id))
  return [...first, ...others.filter(({ id }) => !known.has(id))]
}

/**
 * Finds who holds the serial numbers that begin with a text; for a caller who sees some applications alone, that are the
 * text: those before theirs in the index may be very many.
 */
function readBindings(tx: Statements, text: string, appIds: Sight['appIds']): Promise<Row[]> {
  const isSought =
    appIds === null
      ? tx`device_no >= ${text} and device_no < ${text + greatest}`
      : tx`device_no = ${text} and ${ofApplications(tx, appIds)}`
  return tx`
    select app_id, bound_at, device_no from device_binding where ${isSought} order by device_no limit ${limits.searchFound}`
}

/** Reads the names of bound devices. On a cluster, a binding and its device may be stored on different nodes. */
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

const named = {
  site: { table: 'site', column: 'site_name' },
  billingRule: { table: 'billing_rule', column: 'rule_name' },
} as const satisfies Partial<Record<FoundKind, object>>

function findByName(tx: Statements, kind: keyof typeof named, text: string, { appIds }: Sight): Promise<Row[]> {
  const { table, column } = named[kind]
  const owned = tx`
    select app_id, id, ${tx(column)} as name from ${tx(table)} where ${ofApplications(tx, appIds)}
    order by app_id desc, id desc`
  return walk(tx, owned, holds(tx, 'name', text))
}

function findApplications(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  const owned = tx`
    select app_id, app_id as id, app_name as name from application where ${ofApplications(tx, appIds)}
    order by created_at desc, app_id desc`
  return walk(tx, owned, tx`${holds(tx, 'name', text)} or starts_with(id, ${text.toLowerCase()})`)
}

function findPeople(tx: Statements, text: string): Promise<Row[]> {
  const people = tx`select null as app_id, id, name from operator order by id desc`
  return walk(tx, people, holds(tx, 'name', text))
}

function findRequest(tx: Statements, text: string, { appIds }: Sight): Promise<Row[]> {
  return tx`
    select app_id, request_id as id, operation as name from refusal
    where request_id = ${text} and ${ofApplications(tx, appIds)} limit 1`
}

/** Reads the rows that match among the first of an index. */
function walk(tx: Statements, rows: PendingQuery<Row[]>, isSought: PendingQuery<Row[]>): Promise<Row[]> {
  return tx`
    select * from (${rows} limit ${limits.searchRowsWalked}) as walked where ${isSought} limit ${limits.searchFound}`
}

/** SQL: whether a column holds a text, in upper or lower case. */
function holds(tx: Statements, column: string, text: string): PendingQuery<Row[]> {
  return tx`strpos(${tx.unsafe(folded(column, text))}, ${text.toLowerCase()}) > 0`
}
