import { folded } from '../../database/page.ts'
import type { Filters } from '../../vocabulary/filters.ts'
import type { TimeRange } from '../../vocabulary/moments.ts'
import type { pageDevices } from '../contract.ts'

/** The index holds this many characters of a tag (`tag_start`). */
const tagStart = 64

export type DeviceFilter = Omit<Filters<typeof pageDevices.query>, 'lastReportFrom' | 'lastReportTo'> & {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  /** A device that never reported does not match. */
  lastReport: TimeRange | null
}

export type AddParameter = (value: string | number | Date) => string

/** Returns the condition on the owner. Each table of a statement repeats it, so that no other owner's rows are read. */
export function ownerSql({ appIds }: DeviceFilter, add: AddParameter, table = 'device'): string {
  if (appIds === null) return 'true'
  return appIds.length === 0 ? 'false' : `${table}.app_id in (${appIds.map(add).join(', ')})`
}

/** Returns the conditions on the latest report's time, which is null for a device that never reported. */
export function lastReportConditions({ lastReport, hasReported }: DeviceFilter, add: AddParameter): string[] {
  const found: string[] = []
  if (hasReported !== null) found.push(`reported_at is ${hasReported ? 'not null' : 'null'}`)
  if (lastReport !== null) {
    if (lastReport.from !== null) found.push(`reported_at >= ${add(lastReport.from)}`)
    if (lastReport.before !== null) found.push(`reported_at < ${add(lastReport.before)}`)
  }
  return found
}

function reportConditions(filter: DeviceFilter, add: AddParameter): string[] {
  if (!isJoined(filter)) return []
  if (filter.hasReported === false && filter.lastReport !== null) return ['false']
  const isRow = `${ownerSql(filter, add, 'p')} and p.app_id = device.app_id and p.device_no = device.device_no`
  if (filter.hasReported === false) {
    // A device that never reported is offline and then has no `seen_at`; both tables change together. So both
    // conditions skip online devices without a look-up.
    return [`online_status = 2 and not exists (select 1 from device_presence p where ${isRow} and p.seen_at is null)`]
  }
  const conditions = [isRow, ...lastReportConditions(filter, add)]
  return [`exists (select 1 from device_presence p where ${conditions.join(' and ')})`]
}

/** Returns a filter's conditions. The index `device_by_age` holds every column that they read, except long tags. */
export function conditionsSql(filter: DeviceFilter, add: AddParameter): string {
  const { deviceNo, deviceName, tag, time, bbox } = filter
  const found = [ownerSql(filter, add)]
  if (time.from !== null) found.push(`bound_at >= ${add(time.from)}`)
  if (time.before !== null) found.push(`bound_at < ${add(time.before)}`)
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

export function isJoined({ lastReport, hasReported }: DeviceFilter): boolean {
  return lastReport !== null || hasReported !== null
}

/** Tells whether the only condition is that a device has reported: in a working fleet nearly all match. */
export function isLikelyByMost(filter: DeviceFilter): boolean {
  const { lastReport, hasReported } = filter
  if (hasReported === false || (hasReported === null && (lastReport === null || lastReport.from === null))) return false
  return isRange({ ...filter, lastReport: null, hasReported: null })
}

export function isAnyDevice(filter: DeviceFilter): boolean {
  const { from, before } = filter.time
  return filter.appIds === null && from === null && before === null && isRange(filter)
}

/** Tells whether only owner and time filter the list, which is then a range of the index. */
export function isRange(filter: DeviceFilter): boolean {
  const { appIds, time, ...others } = filter
  return Object.values(others).every((value) => value === null)
}
