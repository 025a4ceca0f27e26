import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { folded, type PageQuery, readPage } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { yielder } from '../../runtime/event-loop.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { fieldFault, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { touchCatalogue } from '../models/store.ts'
import { compareSerials } from '../rules.ts'
import { type InventoryEntry, pageDeviceInventory } from './contract.ts'

export interface NewInventoryEntry {
  deviceNo: string
  modelName: string
}

function toRecord(row: Row): InventoryEntry {
  return { deviceNo: row.device_no, modelName: row.model_name, createTime: showMoment(row.created_at) }
}

export const unknownModel = (field: string) =>
  fieldFault(field, 'is not the name of a device model', '不是已有设备型号的名称')

export async function unknownModelNames(tx: Statements, names: readonly string[]): Promise<Set<string>> {
  const rows = await tx.unsafe<{ name: string }[]>(
    `select name from unnest($1::text[]) as name
    where not exists (select 1 from device_model where model_name = name)`,
    [textArray(names)],
  )
  return new Set(rows.map((row) => row.name))
}

export async function findInventory(tx: Statements, serials: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.unsafe('select device_no, model_name from device_inventory where device_no = any($1::text[])', [
    textArray(serials),
  ])
  return new Map(rows.map((row) => [row.device_no, row.model_name]))
}

/**
 * Adds entries or changes their models, and increments the catalogue's version if anything differs. The serials must be
 * distinct. The transaction must hold the catalogue.
 */
export async function upsertInventory(
  tx: Statements,
  entries: readonly NewInventoryEntry[],
): Promise<{ added: number; changed: number }> {
  const pause = yielder()
  await pause()
  // Sorted, so that two imports lock shared rows in the same order.
  const sorted = entries.toSorted((a, b) => compareSerials(a.deviceNo, b.deviceNo))
  await pause()
  const serials = textArray(sorted.map((entry) => entry.deviceNo))
  await pause()
  const models = textArray(sorted.map((entry) => entry.modelName))
  const rows = await tx.unsafe<{ added: boolean }[]>(
    `insert into device_inventory (device_no, model_name, created_at)
    select device_no, model_name, now() from unnest($1::text[], $2::text[]) as entry (device_no, model_name)
    on conflict (device_no) do update set model_name = excluded.model_name
      where device_inventory.model_name <> excluded.model_name
    returning xmax = 0 as added`,
    [serials, models],
  )
  const added = rows.filter((row) => row.added).length
  if (rows.length > 0) await touchCatalogue(tx)
  // An existing entry counts as changed.
  return { added, changed: entries.length - added }
}

/** Deletes an entry. Throws 20022. */
export async function deleteInventoryEntry(tx: Statements, deviceNo: string): Promise<InventoryEntry> {
  const [row] = await tx`
    delete from device_inventory where device_no = ${deviceNo} returning device_no, model_name, created_at`
  if (row === undefined) throw new Refusal('inventoryEntryNotFound')
  return toRecord(row)
}

export interface InventoryFilter extends PageQuery {
  deviceNo?: string | null
  modelName?: string | null
}

export function pageOfInventory(sql: Sql, filter: InventoryFilter) {
  const deviceNo = given(filter.deviceNo)
  const modelName = given(filter.modelName)
  const rows = sql`
    select device_no, model_name, created_at from device_inventory
    where ${deviceNo === null ? sql`true` : sql`strpos(${sql.unsafe(folded('device_no', deviceNo))}, ${deviceNo.toLowerCase()}) > 0`}
      and (${modelName}::text is null or strpos(lower(model_name), lower(${modelName})) > 0)`
  const key = [{ column: 'device_no', type: 'text' as const }]
  return readPage(sql, { operation: pageDeviceInventory.id, rows, key, newestFirst: false }, filter, (row) =>
    toRecord(row),
  )
}
