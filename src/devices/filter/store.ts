import { folded } from '../../database/page.ts'
import type { Box } from '../../vocabulary/coordinates.ts'
import type { TimeRange } from '../../vocabulary/moments.ts'

// The filters of devices as conditions of SQL, for pages, exports and acts.

/** How many characters of a tag the index holds (`tag_start`). */
const tagStart = 64

export interface DeviceFilter {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  /** A part of the serial, regardless of upper and lower case; `deviceName` likewise. */
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
  /** The site at which the device is placed, and whether it is placed at all. */
  siteId: number | null
  isPlaced: boolean | null
  bound: TimeRange
  /** When it reported last; a device that never reported does not match. */
  lastReport: TimeRange | null
  hasReported: boolean | null
  bbox: Box | null
}

/** Adds a parameter to a statement. Returns its placeholder. */
export type AddParameter = (value: string | number | Date) => string

/**
 * The condition on the owner. A statement repeats it for each of its tables, so that it reads no rows of another owner.
 */
export function ownerSql({ appIds }: DeviceFilter, add: AddParameter, table = 'device'): string {
  if (appIds === null) return 'true'
  return appIds.length === 0 ? 'false' : `${table}.app_id in (${appIds.map(add).join(', ')})`
}

/** The bounds of a time of the newest report, which is null for a device that never reported. */
export function lastReportConditions({ lastReport, hasReported }: DeviceFilter, add: AddParameter): string[] {
  const found: string[] = []
  if (hasReported !== null) found.push(`reported_at is ${hasReported ? 'not null' : 'null'}`)
  if (lastReport !== null) {
    if (lastReport.from !== null) found.push(`reported_at >= ${add(lastReport.from)}`)
    if (lastReport.before !== null) found.push(`reported_at < ${add(lastReport.before)}`)
  }
  return found
}

/** The conditions on the reports of a device, which has a row in `device_presence` once it has reported. */
function reportConditions(filter: DeviceFilter, add: AddParameter): string[] {
  if (!isJoined(filter)) return []
  if (filter.hasReported === false && filter.lastReport !== null) return ['false']
  const isRow = `${ownerSql(filter, add, 'p')} and p.app_id = device.app_id and p.device_no = device.device_no`
  if (filter.hasReported === false) {
    // A device that never reported is offline, and its row has no sign of life while it is offline; both tables change
    // together. So both conditions skip online devices without a look-up.
    return [`online_status = 2 and not exists (select 1 from device_presence p where ${isRow} and p.seen_at is null)`]
  }
  const conditions = [isRow, ...lastReportConditions(filter, add)]
  return [`exists (select 1 from device_presence p where ${conditions.join(' and ')})`]
}

/** The conditions of a filter. The index `device_by_age` holds every column of a device that they read, except long tags. */
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
  return [...found, ...reportConditions(filter, add)].join(' and ')
}

/** Whether a filter looks into another table for each device. */
export function isJoined({ lastReport, hasReported }: DeviceFilter): boolean {
  return lastReport !== null || hasReported !== null
}

/** Whether a filter asks only for devices that have reported: in a working fleet nearly all match. */
export function isLikelyByMost(filter: DeviceFilter): boolean {
  const { lastReport, hasReported } = filter
  if (hasReported === false || (hasReported === null && (lastReport === null || lastReport.from === null))) return false
  return isRange({ ...filter, lastReport: null, hasReported: null })
}

/** Whether nothing filters the page. */
export function isAnyDevice(filter: DeviceFilter): boolean {
  const { from, before } = filter.bound
  return filter.appIds === null && from === null && before === null && isRange(filter)
}

/** Whether the page is filtered by owner and time alone: then it is a range of the index. */
export function isRange(filter: DeviceFilter): boolean {
  const { appIds, bound, ...others } = filter
  return Object.values(others).every((value) => value === null)
}
