import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { type PageQuery, readPage } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { transaction } from '../../database/transaction.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { type DeviceModelRecord, pageDeviceModels } from './contract.ts'

export type DeviceModel = Omit<DeviceModelRecord, 'createTime'>

const columnsSql = 'serial_prefix, model_name, product_picture_url, device_type, device_type_name, created_at'

function toModel(row: Row): DeviceModel {
  return {
    serialPrefix: row.serial_prefix,
    modelName: row.model_name,
    productPictureUrl: row.product_picture_url,
    deviceType: row.device_type,
    deviceTypeName: row.device_type_name,
  }
}

function toRecord(row: Row): DeviceModelRecord {
  return { ...toModel(row), createTime: showMoment(row.created_at) }
}

/** Prevents other transactions from changing the catalogue until this one ends. */
export async function holdCatalogue(tx: Statements): Promise<void> {
  await tx`select 1 from device_catalogue for no key update`
}

/** Increments the catalogue's version, so that creates composed before are composed again. */
export async function touchCatalogue(tx: Statements): Promise<void> {
  await tx`update device_catalogue set version = version + 1`
}

export async function upsertDeviceModel(tx: Statements, model: DeviceModel): Promise<DeviceModelRecord> {
  const [row] = await tx`
    insert into device_model (serial_prefix, model_name, product_picture_url, device_type, device_type_name, created_at)
    values (${model.serialPrefix}, ${model.modelName}, ${model.productPictureUrl}, ${model.deviceType},
      ${model.deviceTypeName}, now())
    on conflict (serial_prefix) do update set model_name = excluded.model_name,
      product_picture_url = excluded.product_picture_url, device_type = excluded.device_type,
      device_type_name = excluded.device_type_name
    returning ${tx.unsafe(columnsSql)}`
  return toRecord(row as Row)
}

/** Deletes a model. Throws 20021. */
export async function deleteDeviceModel(tx: Statements, serialPrefix: string): Promise<DeviceModelRecord> {
  const [row] =
    await tx`delete from device_model where serial_prefix = ${serialPrefix} returning ${tx.unsafe(columnsSql)}`
  if (row === undefined) throw new Refusal('deviceModelNotFound')
  return toRecord(row)
}

export interface DeviceModelFilter extends PageQuery {
  serialPrefix?: string | null
  modelName?: string | null
}

export function pageOfDeviceModels(sql: Sql, filter: DeviceModelFilter) {
  const serialPrefix = given(filter.serialPrefix)
  const modelName = given(filter.modelName)
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from device_model
    where (${serialPrefix}::text is null or starts_with(serial_prefix, ${serialPrefix}))
      and (${modelName}::text is null or strpos(lower(model_name), lower(${modelName})) > 0)`
  const key = [{ column: 'serial_prefix', type: 'text' as const }]
  return readPage(sql, { operation: pageDeviceModels.id, rows, key, newestFirst: false }, filter, (row) =>
    toRecord(row),
  )
}

export interface CatalogueState {
  version: number
  models: DeviceModel[]
  hasInventory: boolean
}

/** Reads all models, whether the inventory has entries, and the version of both. */
export async function readCatalogue(sql: Sql): Promise<CatalogueState> {
  return transaction(
    sql,
    async (tx) => {
      const [state] = await tx`
      select version, exists (select 1 from device_inventory) as has_inventory from device_catalogue`
      const rows = await tx`select ${tx.unsafe(columnsSql)} from device_model order by serial_prefix`
      return { version: state?.version, hasInventory: state?.has_inventory, models: rows.map(toModel) }
    },
    'isolation level repeatable read read only',
  )
}

export async function modelNamesOf(sql: Statements, serials: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.unsafe<{ device_no: string; model_name: string }[]>(
    `select device_no, model_name from device_inventory where device_no = any($1::text[])`,
    [textArray(serials)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, row.model_name]))
}
