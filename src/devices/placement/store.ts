import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, folded, type PageQuery, readPage } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import type { Filters } from '../../vocabulary/filters.ts'
import { groupBy } from '../../vocabulary/group-by.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type PlacedDeviceRecord, pagePlacementHistory, pagePlacements, type SiteSummary } from './contract.ts'
import { ended, type Placement, type Standing, showPlacement } from './rules.ts'

const placementTypes: Readonly<Record<string, string>> = {
  id: 'bigint',
  device_no: 'text',
  bound_at: 'timestamptz',
  site_id: 'bigint',
  lane_type: 'smallint',
  lane_name: 'text',
  placed_at: 'timestamptz',
  placed_by: 'text',
  removed_at: 'timestamptz',
  removed_by: 'text',
  reason: 'text',
}
const columnNames = Object.keys(placementTypes)

/** SQL: a placement's columns from `alias`, with the site's name. */
const columnsSql = (alias: string, appId = '$1') => `${columnNames.map((column) => `${alias}.${column}`).join(', ')},
    coalesce(${alias}.site_name, (select site_name from site where app_id = ${appId} and id = ${alias}.site_id)) as site_name`

function toPlacement(row: Row, appId: string): Placement {
  return {
    id: row.id,
    appId,
    deviceNo: row.device_no,
    boundAt: row.bound_at,
    siteId: row.site_id,
    siteName: row.site_name,
    laneType: row.lane_type,
    laneName: row.lane_name,
    placedAt: row.placed_at,
    placedBy: row.placed_by,
    removedAt: row.removed_at,
    removedBy: row.removed_by,
    reason: row.reason,
  }
}

/** Reads what a change needs of the application's devices and sites. Needs the application's lock. */
export async function readStanding(
  tx: Statements,
  appId: string,
  changes: number,
  serials: readonly string[],
  siteIds: readonly number[],
): Promise<Standing> {
  const prepared = { prepare: true }
  const [bindings, sites, newest, ids] = await Promise.all([
    tx.unsafe(
      `select device_no, bound_at,
        (select max(unbound_at) from past_binding p where p.device_no = b.device_no) as held_since
      from device_binding b where device_no = any($2::text[]) and app_id = $1`,
      [appId, textArray(serials)],
      prepared,
    ),
    // By whole keys: given a list, a planner without statistics reads all rows of the application.
    tx.unsafe(
      `select s.id, s.site_name from unnest($2::bigint[]) as i (id)
      cross join lateral (select id, site_name from site where app_id = $1 and id = i.id limit 1) as s`,
      [appId, textArray(siteIds)],
      prepared,
    ),
    tx.unsafe(
      `select ${columnsSql('p')} from unnest($2::text[]) as i (device_no)
      cross join lateral (
        select * from placement where app_id = $1 and device_no = i.device_no order by id desc limit 1) as p`,
      [appId, textArray(serials)],
      prepared,
    ),
    tx`select nextval('placement_id') as id from generate_series(1, ${changes}::int)`,
  ])
  return {
    appId,
    bindings: new Map(
      bindings.map((row) => [row.device_no, { boundAt: row.bound_at, heldSince: row.held_since ?? row.bound_at }]),
    ),
    siteNames: new Map(sites.map((row) => [row.id, row.site_name])),
    newest: new Map(newest.map((row) => [row.device_no, toPlacement(row, appId)])),
    freeIds: ids.map(({ id }) => id),
  }
}

/** Returns the current placements of these serials in the application. */
export async function findLasting(
  sql: Statements,
  appId: string,
  serials: readonly string[],
): Promise<Map<string, Placement>> {
  const rows = await sql.unsafe(
    `select p.* from unnest($2::text[]) as i (device_no) cross join lateral (
      select ${columnsSql('p')} from placement p
      where app_id = $1 and device_no = i.device_no and removed_at is null limit 1) as p`,
    [appId, textArray(serials)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, toPlacement(row, appId)]))
}

/** Inserts or updates placements; of duplicates, the last. Needs the applications' locks. */
export async function writePlacements(tx: Statements, placements: readonly Placement[]): Promise<void> {
  const last = new Map(placements.map((placement) => [placement.id, placement]))
  const own = groupBy(last.values(), ({ appId }) => appId)
  await Promise.all([...own].map(([appId, its]) => writePlacementsOf(tx, appId, its)))
}

async function writePlacementsOf(tx: Statements, appId: string, placements: readonly Placement[]): Promise<void> {
  const rows = placements.map((one) => ({
    id: one.id,
    device_no: one.deviceNo,
    bound_at: one.boundAt,
    site_id: one.siteId,
    lane_type: one.laneType,
    lane_name: one.laneName,
    placed_at: one.placedAt,
    placed_by: one.placedBy,
    removed_at: one.removedAt,
    removed_by: one.removedBy,
    reason: one.reason,
    site_name: one.removedAt === null ? null : one.siteName,
  }))
  const typed = Object.entries({ ...placementTypes, site_name: 'text' })
  const names = typed.map(([name]) => name).join(', ')
  const changing = ['lane_type', 'lane_name', 'removed_at', 'removed_by', 'reason', 'site_name']
  // The unique index checks each row as it is written, so ended placements come first.
  await tx.unsafe(
    `insert into placement (app_id, ${names})
    select $1, ${names} from json_to_recordset($2::text::json) as i (${typed.map(([name, type]) => `${name} ${type}`).join(', ')})
    order by removed_at nulls last
    on conflict (app_id, id) do update set ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [appId, JSON.stringify(rows)],
    { prepare: true },
  )
}

/** Returns the current placement. Throws 20002 for a device of another application, 20030 without a placement. */
export async function requirePlacement(sql: Statements, appId: string, deviceNo: string): Promise<Placement> {
  const [row] = await sql.unsafe(
    `select ${columnsSql('p')} from placement p where app_id = $1 and device_no = $2 and removed_at is null`,
    [appId, deviceNo],
  )
  if (row !== undefined) return toPlacement(row, appId)
  const [binding] = await sql`select 1 from device_binding where device_no = ${deviceNo} and app_id = ${appId}`
  throw new Refusal(binding === undefined ? 'deviceNotFound' : 'placementNotFound')
}

/** Ends up to `limits.placementsAtOnce` placements at sites that will be deleted. Returns them. */
export async function endPlacementsAt(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
  { actor, now }: { actor: string; now: Date },
): Promise<Placement[]> {
  const rows = await tx.unsafe(
    `select ${columnsSql('p')} from placement p
    where app_id = $1 and site_id = any($2::bigint[]) and lasts order by id limit $3`,
    [appId, textArray(siteIds), limits.placementsAtOnce],
    { prepare: true },
  )
  if (rows.length === 0) return []
  const over = rows.map((row) => ended(toPlacement(row, appId), now, actor, null))
  await writePlacements(tx, over)
  return over
}

export type PlacementFilter = Omit<Filters<typeof pagePlacements.query>, 'deviceNos'> &
  PageQuery & { appId: string; deviceNos: readonly string[] | null }

/** Reads one page of current placements, newest first, with their devices' shown fields. */
export function pageOfPlacements(sql: Sql, filter: PlacementFilter) {
  const { appId, siteId, deviceNo, deviceNos, laneType } = filter
  const device = equal(sql, {
    status: filter.status,
    online_status: filter.onlineStatus,
    run_status: filter.runStatus,
  })
  const site = equal(sql, {
    province_code: filter.provinceCode,
    city_code: filter.cityCode,
    district_code: filter.districtCode,
  })
  const conditions = [
    siteId === null ? sql`` : sql`and site_id = ${siteId}`,
    deviceNo === null ? sql`` : sql`and strpos(${sql.unsafe(folded('device_no', deviceNo))}, lower(${deviceNo})) > 0`,
    laneType === null ? sql`` : sql`and lane_type = ${laneType}`,
    device.length === 0
      ? sql``
      : sql`and exists (
          select 1 from device d
          where d.app_id = ${appId} and d.bound_at = p.bound_at and d.device_no = p.device_no ${device})`,
    site.length === 0 ? sql`` : sql`and site_id in (select s.id from site s where s.app_id = ${appId} ${site})`,
  ]
  // One subquery per serial: given a list, a planner without statistics scans all placements.
  const rows =
    deviceNos === null
      ? sql`select * from placement p where app_id = ${appId} and lasts ${conditions}`
      : sql`
        select p.* from unnest(${textArray([...new Set(deviceNos)])}::text[]) as asked (serial)
        cross join lateral (
          select * from placement where app_id = ${appId} and device_no = asked.serial and removed_at is null limit 1
        ) as p where true ${conditions}`
  const beside = sql`
    select s.site_name as present_name, d.device_name, d.status, d.online_status, d.run_status, d.status_remark,
      (select reported_at from device_presence where app_id = ${appId} and device_no = page.device_no) as reported_at
    from (select site_name from site where app_id = ${appId} and id = page.site_id limit 1) as s
    cross join (
      select device_name, status, online_status, run_status, status_remark from device
      where app_id = ${appId} and bound_at = page.bound_at and device_no = page.device_no limit 1) as d`
  const source = { operation: pagePlacements.id, rows, key: byId, newestFirst: true, beside }
  return readPage(sql, source, filter, (row): PlacedDeviceRecord => {
    const placement = toPlacement({ ...row, site_name: row.present_name } as unknown as Row, appId)
    return {
      ...showPlacement(placement),
      deviceName: row.device_name,
      status: row.status,
      onlineStatus: row.online_status,
      runStatus: row.run_status,
      statusRemark: row.status_remark,
      lastReportTime: row.reported_at === null ? null : showMoment(row.reported_at),
    }
  })
}

function equal(sql: Sql, values: Record<string, string | number | null>) {
  return Object.entries(values).flatMap(([column, value]) =>
    value === null ? [] : [sql`and ${sql.unsafe(column)} = ${value}`],
  )
}

export interface HistoryFilter extends PageQuery {
  appId: string
  deviceNo: string | null
  siteId: number | null
}

/** Reads one page of a device's or site's placements, including ended ones, newest first. */
export function pageOfHistory(sql: Sql, filter: HistoryFilter) {
  const { appId, deviceNo, siteId } = filter
  const rows = sql`
    select * from placement where app_id = ${appId}
    ${deviceNo === null ? sql`` : sql`and device_no = ${deviceNo}`} ${siteId === null ? sql`` : sql`and site_id = ${siteId}`}`
  const beside = sql`select site_name as present_name from site where app_id = ${appId} and id = page.site_id limit 1`
  const source = { operation: pagePlacementHistory.id, rows, key: byId, newestFirst: true, beside }
  return readPage(sql, source, filter, (row) => {
    const site_name = row.site_name ?? row.present_name
    return showPlacement(toPlacement({ ...row, site_name } as unknown as Row, appId))
  })
}

/** Counts the devices at these sites by state and lane, in the order of the ids. Throws 30002. */
export async function summarizeSites(
  sql: Statements,
  appId: string,
  siteIds: readonly number[],
): Promise<SiteSummary[]> {
  const isEntrance = 'p.lane_type in (1, 3)'
  const isExit = 'p.lane_type in (2, 3)'
  const isOnline = 'd.online_status = 1'
  const rows = await sql.unsafe(
    `select i.id, counts.* from unnest($2::bigint[]) with ordinality as i (id, n)
    cross join lateral (select 1 from site where app_id = $1 and id = i.id limit 1) as s
    cross join lateral (
      select count(*) as devices, count(*) filter (where ${isOnline}) as online,
        count(*) filter (where d.online_status = 2) as offline, count(*) filter (where d.status = 2) as fault,
        count(*) filter (where d.run_status = 1) as open, count(*) filter (where d.run_status = 0) as closed,
        count(*) filter (where d.run_status = 2) as stopped,
        count(*) filter (where ${isEntrance}) as entrances, count(*) filter (where ${isExit}) as exits,
        count(*) filter (where ${isEntrance} and ${isOnline}) as entrances_online,
        count(*) filter (where ${isExit} and ${isOnline}) as exits_online
      from placement p cross join lateral (
        select status, online_status, run_status from device
        where app_id = $1 and bound_at = p.bound_at and device_no = p.device_no limit 1) as d
      where p.app_id = $1 and p.site_id = i.id and p.lasts) as counts
    order by i.n`,
    [appId, textArray(siteIds)],
  )
  if (rows.length < siteIds.length) throw new Refusal('siteNotFound')
  return rows.map(({ id: siteId, entrances_online: entrancesOnline, exits_online: exitsOnline, ...counts }) => {
    const { devices, online, offline, fault, open, closed, stopped, entrances, exits } = counts
    return {
      siteId,
      devices,
      online,
      offline,
      fault,
      open,
      closed,
      stopped,
      entrances,
      exits,
      entrancesOnline,
      exitsOnline,
    }
  })
}
