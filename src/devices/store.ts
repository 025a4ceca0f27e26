import type { Row } from 'postgres'
import type { Statements } from '../database/open.ts'
import { ofApplications } from '../database/page.ts'
import { textArray } from '../database/routine.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { changeableMembers, deviceColumnsSql, registeredColumns, toDevice } from './columns.ts'
import type { Device } from './rules.ts'

const columnsSql = deviceColumnsSql()

/** Returns the device if one of these applications owns it; `appIds: null` means any. Throws 20002. */
export async function requireDeviceOf(
  sql: Statements,
  appIds: readonly string[] | null,
  deviceNo: string,
): Promise<Device> {
  const [only, ...others] = appIds ?? []
  if (only !== undefined && others.length === 0) return requireDevice(sql, only, deviceNo)
  // On a cluster, binding and device lie on different nodes. If no device is found, its owner changed between the two
  // statements, and the binding is read again.
  for (let last: string | undefined; ; ) {
    const [binding] = await sql`
      select app_id, bound_at::text as bound_at from device_binding
      where device_no = ${deviceNo} and ${ofApplications(sql, appIds)}`
    const found = binding && `${binding.app_id} ${binding.bound_at}`
    if (binding === undefined || found === last) throw new Refusal('deviceNotFound')
    const [row] = await sql`
      select ${sql.unsafe(columnsSql)} from device
      where app_id = ${binding.app_id} and bound_at = ${binding.bound_at}::text::timestamptz and device_no = ${deviceNo}`
    if (row !== undefined) return toDevice(row)
    last = found
  }
}

/** Returns the application's device. Throws 20002, also for another application's serial. */
export async function requireDevice(sql: Statements, appId: string, deviceNo: string): Promise<Device> {
  const [row] = await sql`
    with binding as materialized (
      select bound_at from device_binding where device_no = ${deviceNo} and app_id = ${appId})
    select ${sql.unsafe(columnsSql)} from device
    where app_id = ${appId} and bound_at = (select bound_at from binding) and device_no = ${deviceNo}`
  if (row === undefined) throw new Refusal('deviceNotFound')
  return toDevice(row)
}

/** Returns the application's devices by serial. Needs the application's lock. */
export async function findDevices(
  sql: Statements,
  appId: string,
  deviceNos: readonly string[],
): Promise<Map<string, Device>> {
  if (deviceNos.length === 0) return new Map()
  // A join of the two tables would lie across a cluster's nodes.
  const bindings = await sql.unsafe(
    'select device_no, bound_at from device_binding where device_no = any($2::text[]) and app_id = $1',
    [appId, textArray(deviceNos)],
    { prepare: true },
  )
  return findBound(sql, appId, bindings)
}

export async function findBound(
  sql: Statements,
  appId: string,
  bindings: readonly Row[],
): Promise<Map<string, Device>> {
  const [serials, moments] = [bindings.map((row) => row.device_no), bindings.map((row) => row.bound_at.toISOString())]
  const rows = await sql.unsafe(
    `select d.* from unnest($2::text[], $3::text[]) as b (device_no, bound_at)
    -- Each row by its whole key: for a join, a planner without statistics reads all rows of the application.
    cross join lateral (
      select ${columnsSql} from device
      where app_id = $1 and bound_at = b.bound_at::timestamptz and device_no = b.device_no limit 1) as d`,
    [appId, textArray(serials), textArray(moments)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, toDevice(row)]))
}

/** Returns owners by serial, leaving out serials without one. */
export async function findHolders(sql: Statements, deviceNos: readonly string[]): Promise<Map<string, string>> {
  const statement = 'select device_no, app_id from device_binding where device_no = any($1::text[])'
  const rows = await sql.unsafe(statement, [textArray(deviceNos)], { prepare: true })
  return new Map(rows.map((row) => [row.device_no, row.app_id]))
}

const changeableColumns = changeableMembers.map((member) => registeredColumns[member])

const saveChangedSql = `update device set ${changeableColumns.map((column, place) => `${column} = $${place + 4}`).join(', ')}
  where app_id = $1 and bound_at = $2::text::timestamptz and device_no = $3`

/**
 * Saves what an update can change; of duplicates, the last. Needs the applications' locks. One statement per whole key,
 * sent together: for a join, a planner without statistics reads the list again for each device.
 */
export async function saveChangedDevices(tx: Statements, devices: readonly Device[]): Promise<void> {
  const last = new Map(devices.map((device) => [device.deviceNo, device]))
  await Promise.all(
    [...last.values()].map((device) => {
      const changed = changeableMembers.map((member) => device[member])
      const values = [device.appId, device.boundAt.toISOString(), device.deviceNo, ...changed]
      return tx.unsafe(saveChangedSql, values, { prepare: true })
    }),
  )
}
