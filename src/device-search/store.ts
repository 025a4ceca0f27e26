import type { Row } from 'postgres'
import type { Sql } from '../database/open.ts'
import { countedRows, type PageKey, type PageOf, type PageQuery, readWish, rowsOf, toPage } from '../database/page.ts'
import type { DeviceRecord } from '../devices/contract.ts'
import { showDevice } from '../devices/rules.ts'
import { deviceColumns, toDevice } from '../devices/store.ts'
import { asciiLower, type DeviceFilter, fittingStates } from './rules.ts'

const key: PageKey = [
  { column: 'bound_at', type: 'timestamptz' },
  { column: 'device_no', type: 'text' },
]

/**
 * Pages through an application's devices, newest first. For each combination of states that fits, one range of the
 * index `device_by_state` is read from the cursor on, and the few rows that come first are sorted.
 */
export async function pageOfDevices(
  sql: Sql,
  appId: string,
  filter: DeviceFilter,
  query: PageQuery,
  showMoment: (instant: Date) => string,
): Promise<PageOf<DeviceRecord>> {
  const wish = readWish(query, key)
  const [boundAt = null, deviceNo = null] = wish.after ?? []
  const after =
    boundAt === null ? sql`` : sql`and (d.bound_at, d.device_no) < (${boundAt}::text::timestamptz, ${deviceNo}::text)`
  const wanted = wish.offset + wish.pageSize + 1
  const fitting = ranges(sql, appId, filter)
  const rows = await rowsOf(sql`
    select ${sql.unsafe(deviceColumns)}, json_build_array(bound_at::text, device_no)::text as page_key
    from (
      select found.device_no from ${fitting.states} cross join lateral (
        select d.bound_at, d.device_no from device d where ${fitting.conditions} ${after}
        order by d.bound_at desc, d.device_no desc limit ${wanted}
      ) as found
      order by found.bound_at desc, found.device_no desc limit ${wish.pageSize + 1} offset ${wish.offset}
    ) as page join device using (device_no)
    order by bound_at desc, device_no desc`)
  const [counted] = await sql<[{ total: number }]>`
    select count(*) as total from (
      select from ${fitting.states} cross join lateral (
        select from device d where ${fitting.conditions}
      ) as found limit ${countedRows + 1}
    ) as counted`
  return toPage(wish, rows, counted.total, (row: Row) => showDevice(toDevice(row), showMoment))
}

/** The states that fit, as rows, and what a device must fulfil in the range of each. */
function ranges(sql: Sql, appId: string, filter: DeviceFilter) {
  const { deviceNo, deviceName, provinceCode, cityCode, districtCode, modelName, boundFrom, boundBefore, bbox } = filter
  const combinations = fittingStates(filter).map(
    ({ status, onlineStatus, runStatus }) => `(${status}::smallint, ${onlineStatus}::smallint, ${runStatus}::smallint)`,
  )
  const states = sql.unsafe(`(values ${combinations.join(', ')}) as state (status, online_status, run_status)`)
  const conditions = [
    sql`d.app_id = ${appId} and d.status = state.status and d.online_status = state.online_status
      and d.run_status = state.run_status`,
    boundFrom === null ? sql`` : sql`and d.bound_at >= ${boundFrom}`,
    boundBefore === null ? sql`` : sql`and d.bound_at < ${boundBefore}`,
    deviceNo === null ? sql`` : sql`and starts_with(d.device_no, ${deviceNo})`,
    deviceName === null
      ? sql``
      : sql`and strpos(lower(d.device_name collate "C"), ${asciiLower(deviceName)}::text collate "C") > 0`,
    provinceCode === null ? sql`` : sql`and d.province_code = ${provinceCode}`,
    cityCode === null ? sql`` : sql`and d.city_code = ${cityCode}`,
    districtCode === null ? sql`` : sql`and d.district_code = ${districtCode}`,
    modelName === null ? sql`` : sql`and d.model_name = ${modelName}`,
    bbox === null
      ? sql``
      : sql`and split_part(d.coordinates, ',', 1)::double precision between ${bbox.minLng} and ${bbox.maxLng}
        and split_part(d.coordinates, ',', 2)::double precision between ${bbox.minLat} and ${bbox.maxLat}`,
  ]
  return { states, conditions }
}
