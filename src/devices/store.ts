import type { ParameterOrJSON, Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import {
  folded,
  ofApplications,
  type PageKey,
  type PageQuery,
  type PageRequest,
  readByIndexOrder,
  readPageRequest,
  rowsOf,
  toPage,
} from '../database/page.ts'
import { textArray } from '../database/routine.ts'
import { limits } from '../vocabulary/limits.ts'
import type { ShowMoment, TimeRange } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { Box } from '../vocabulary/values.ts'
import { changeableMembers, deviceColumnsSql, registeredColumns, toDevice } from './columns.ts'
import { pageDevices } from './contract.ts'
import { type Device, showDevice } from './rules.ts'

/** How many characters of a tag the index holds (`tag_start`). */
const tagStart = 64

const columnsSql = deviceColumnsSql()

/** The device with this serial, if one of these applications owns it; `appIds: null` means any. Throws 20002. */
export async function requireDeviceOf(
  sql: Statements,
  appIds: readonly string[] | null,
  deviceNo: string,
): Promise<Device> {
  const [only, ...others] = appIds ?? []
  if (only !== undefined && others.length === 0) return requireDevice(sql, only, deviceNo)
  // Two statements, because on a cluster binding and device lie on different nodes. Without a device the binding is looked
  // up again: the device changed its owner between the two, and is with another one now.
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

/** The application's device with this serial. Throws 20002, also for a serial of another application. */
export async function requireDevice(sql: Statements, appId: string, deviceNo: string): Promise<Device> {
  const [row] = await sql`
    with binding as materialized (
      select bound_at from device_binding where device_no = ${deviceNo} and app_id = ${appId})
    select ${sql.unsafe(columnsSql)} from device
    where app_id = ${appId} and bound_at = (select bound_at from binding) and device_no = ${deviceNo}`
  if (row === undefined) throw new Refusal('deviceNotFound')
  return toDevice(row)
}

/** The application's devices with these serials. The transaction must hold the application's lock. */
export async function findDevices(
  sql: Statements,
  appId: string,
  deviceNos: readonly string[],
): Promise<Map<string, Device>> {
  if (deviceNos.length === 0) return new Map()
  // Two statements, because a join of the two tables would lie across the nodes of a cluster.
  const bindings = await sql.unsafe(
    'select device_no, bound_at::text as bound_at from device_binding where device_no = any($2::text[]) and app_id = $1',
    [appId, textArray(deviceNos)],
    { prepare: true },
  )
  const rows = await sql.unsafe(
    `select d.* from unnest($2::text[], $3::text[]) as b (device_no, bound_at)
    -- Each row by its whole key: for a join, a planner without statistics reads all rows of the application.
    cross join lateral (
      select ${columnsSql} from device
      where app_id = $1 and bound_at = b.bound_at::timestamptz and device_no = b.device_no limit 1) as d`,
    [appId, textArray(bindings.map((row) => row.device_no)), textArray(bindings.map((row) => row.bound_at))],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, toDevice(row)]))
}

/** The owners of these serials, by serial; serials without an owner are left out. */
export async function findHolders(sql: Statements, deviceNos: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.unsafe('select device_no, app_id from device_binding where device_no = any($1::text[])', [
    textArray(deviceNos),
  ])
  return new Map(rows.map((row) => [row.device_no, row.app_id]))
}

const changeableColumns = changeableMembers.map((member) => registeredColumns[member])

const saveChangedSql = `update device set ${changeableColumns.map((column, place) => `${column} = $${place + 4}`).join(', ')}
  where app_id = $1 and bound_at = $2::text::timestamptz and device_no = $3`

/**
 * Writes the members that an update can change. The transaction must hold the application's lock. One by one, by the
 * whole key, without a wait between them: for a join of the list and the table, a planner without statistics reads the
 * list again for each device of the application.
 */
export async function saveChangedDevices(tx: Statements, appId: string, devices: readonly Device[]): Promise<void> {
  await Promise.all(
    devices.map((device) => {
      const changed = changeableMembers.map((member) => device[member])
      const values = [appId, device.boundAt.toISOString(), device.deviceNo, ...changed]
      return tx.unsafe(saveChangedSql, values, { prepare: true })
    }),
  )
}

export interface DeviceFilter {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  /** A part of the serial, in upper or lower case; `deviceName` likewise. */
  deviceNo: string | null
  deviceName: string | null
  tag: string | null
  provinceCode: string | null
  cityCode: string | null
  districtCode: string | null
  modelName: string | null
  status: number | null
  onlineStatus: number | null
  runStatus: number | null
  /** Where the device stands, and whether it stands anywhere. */
  siteId: number | null
  isPlaced: boolean | null
  bound: TimeRange
  bbox: Box | null
}

/** By application, newest first. In microseconds since 1970, because their text is the same in every session. */
const pageKey: PageKey = [
  { column: 'app_id', type: 'text' },
  { column: 'bound_micros', type: 'bigint' },
  { column: 'device_no', type: 'text' },
]
const orderSql = 'order by app_id, bound_at desc, device_no desc'
/** The same order for the rows of one page. `|| ''` forces a sort: to read them in index order would walk all rows. */
const pageOrderSql = `order by app_id || '', bound_at desc, device_no desc`
const keySql = `json_build_array(app_id, (extract(epoch from bound_at) * 1000000)::bigint::text, device_no)::text`
const isBehindSql = (micros: string, deviceNo: string) =>
  `(bound_at, device_no) < (timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond', ${deviceNo})`

export interface Statement {
  text: string
  values: ParameterOrJSON<never>[]
}

type AddParameter = (value: string | number | Date) => string

function statement(write: (add: AddParameter) => string): Statement {
  const values: ParameterOrJSON<never>[] = []
  return { text: write((value) => `$${values.push(value)}`), values }
}

/** The condition on the owner. A statement repeats it for each of its tables, so that it reads no other's rows. */
function ownerSql({ appIds }: DeviceFilter, add: AddParameter, table = 'device'): string {
  if (appIds === null) return 'true'
  return appIds.length === 0 ? 'false' : `${table}.app_id in (${appIds.map(add).join(', ')})`
}

/** The conditions of a filter. The index `device_by_age` holds every column of devices that they read, except long tags. */
export function conditionsSql(filter: DeviceFilter, add: AddParameter): string {
  const { deviceNo, deviceName, tag, bound, bbox } = filter
  const found = [ownerSql(filter, add)]
  if (bound.from !== null) found.push(`bound_at >= ${add(bound.from)}`)
  if (bound.before !== null) found.push(`bound_at < ${add(bound.before)}`)
  const equal = {
    status: filter.status,
    online_status: filter.onlineStatus,
    run_status: filter.runStatus,
    province_code: filter.provinceCode,
    city_code: filter.cityCode,
    district_code: filter.districtCode,
    model_name: filter.modelName,
  }
  for (const [column, value] of Object.entries(equal)) if (value !== null) found.push(`${column} = ${add(value)}`)
  if (tag !== null) {
    found.push(`tag_start = left(${add(tag)}, ${tagStart})`)
    if ([...tag].length >= tagStart) found.push(`tag = ${add(tag)}`)
  }
  const part = (column: string, value: string) =>
    found.push(`strpos(${folded(column, value)}, ${folded(add(value), value)}) > 0`)
  if (deviceNo !== null) part('device_no', deviceNo)
  if (deviceName !== null) part('device_name', deviceName)
  const lasting = () => `from placement where ${ownerSql(filter, add, 'placement')} and placement.lasts`
  if (filter.siteId !== null) {
    found.push(`(device.app_id, device.bound_at, device.device_no) in (
      select app_id, bound_at, device_no ${lasting()} and site_id = ${add(filter.siteId)})`)
  }
  if (filter.isPlaced !== null) {
    found.push(`${filter.isPlaced ? '' : 'not '}exists (
      select 1 ${lasting()} and placement.app_id = device.app_id and placement.device_no = device.device_no)`)
  }
  if (bbox !== null) {
    found.push(`location[0] between ${add(bbox.minLng)} and ${add(bbox.maxLng)}`)
    found.push(`location[1] between ${add(bbox.minLat)} and ${add(bbox.maxLat)}`)
  }
  return found.join(' and ')
}

/** Whether only owner and time filter the page: then it is a range of the index. */
function isRange(filter: DeviceFilter): boolean {
  const { appIds, bound, ...others } = filter
  return Object.values(others).every((value) => value === null)
}

/** Counts the matching devices, up to the limit + 1. */
export function countStatement(filter: DeviceFilter): Statement {
  return statement(
    (add) => `
      select count(*) as counted
      from (select 1 from device where ${conditionsSql(filter, add)} limit ${limits.pageRowsCounted + 1}) as fitting`,
  )
}

/**
 * Counts the matching devices, up to the limit + 1, and reads the page if the count is within the limit. Scans the
 * devices once, in whatever order suits the database.
 */
export function searchStatement(
  filter: DeviceFilter,
  { after, offset, pageSize }: Omit<PageRequest, 'asked'>,
): Statement {
  return statement((add) => {
    const fitting = conditionsSql(filter, add)
    const [appId, micros, deviceNo] = (after ?? []).map(add)
    const behind =
      appId === undefined || micros === undefined || deviceNo === undefined
        ? 'true'
        : `(app_id > ${appId} or app_id = ${appId} and ${isBehindSql(micros, deviceNo)})`
    return `
      with fitting as materialized (
        select app_id, bound_at, device_no from device where ${fitting} limit ${limits.pageRowsCounted + 1}
      ), total as materialized (select count(*) as counted from fitting)
      select counted, page.* from total left join (
        select ${columnsSql}, ${keySql} as page_key from (
          select app_id, bound_at, device_no from fitting, total
          where counted <= ${limits.pageRowsCounted} and ${behind} ${orderSql} limit ${add(pageSize + 1)} offset ${add(offset)}
        ) as listed join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)}
      ) as page on true ${orderSql}`
  })
}

/** A range of devices: `behind` a key within its application, or of all applications `behindApplication`. */
export type KeyRange = { behind: string[] } | { behindApplication: string }

/** Reads a range of the matching devices in order. Scans the index no further than the end of the page. */
export function rangeStatement(filter: DeviceFilter, range: KeyRange, limit: number, offset: number): Statement {
  return statement((add) => {
    const fitting = conditionsSql(filter, add)
    let within: string
    if ('behind' in range) {
      const [appId = '', micros = '', deviceNo = ''] = range.behind
      within = `app_id = ${add(appId)} and ${isBehindSql(add(micros), add(deviceNo))}`
    } else {
      within = `app_id > ${add(range.behindApplication)}`
    }
    return `
      select ${columnsSql}, ${keySql} as page_key from (
        select app_id, bound_at, device_no from device
        where ${fitting} and ${within} ${orderSql} limit ${add(limit)} offset ${add(offset)}
      ) as listed join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)} ${pageOrderSql}`
  })
}

/** Reads the rows of a page in index order, for when more devices match than are counted. */
async function readRanges(
  sql: Statements,
  filter: DeviceFilter,
  { after, offset, pageSize }: PageRequest,
): Promise<Row[]> {
  const limit = pageSize + 1
  const read = (range: KeyRange, rows: number) => run(sql, rangeStatement(filter, range, rows, offset))
  if (after === null) return read({ behindApplication: '' }, limit)
  const rows = await read({ behind: after }, limit)
  if (rows.length === limit) return rows
  return [...rows, ...(await read({ behindApplication: after[0] ?? '' }, limit - rows.length))]
}

/** Reads one page of devices. Throws 10001 for a cursor that this operation did not issue. */
export async function pageOfDevices(sql: Sql, filter: DeviceFilter, query: PageQuery, showMoment: ShowMoment) {
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, pageKey)
  const show = (row: Row) => showDevice(toDevice(row), showMoment)
  if (query.isUncounted) {
    return toPage(request, await readByIndexOrder(sql, (tx) => rowsOf(readRanges(tx, filter, request))), 0, show)
  }
  if (isRange(filter)) {
    const [rows, [total]] = await Promise.all([
      rowsOf(readRanges(sql, filter, request)),
      run(sql, countStatement(filter)),
    ])
    return toPage(request, rows, total?.counted, show)
  }
  const found = await rowsOf(run(sql, searchStatement(filter, request)))
  const counted: number = found[0]?.counted
  const rows =
    counted > limits.pageRowsCounted
      ? await rowsOf(readRanges(sql, filter, request))
      : found.filter((row) => row.device_no !== null)
  return toPage(request, rows, counted, show)
}

/** Not prepared, so that it is planned for its parameters: an application may have ten devices or ten million. */
function run(sql: Statements, { text, values }: Statement): Promise<Row[]> {
  return sql.unsafe<Row[]>(text, values)
}
