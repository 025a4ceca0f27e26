import { tryLock } from '../../database/advisory-lock.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { failuresUntilHeld } from '../../deliveries/rules.ts'
import { listedOfOne, roundMs } from './rules.ts'

// Counts only applications whose log has grown since their last count: everything that changes a device, a placement or
// a site draws an ID of that log, also a device's first report. A round without changes looks at one row of each
// application.

/** `since` is in Unix seconds. */
interface Listed {
  since: number
  siteId: number | null
  siteName: string | null
  city: string | null
}

interface UnreachableSite extends Listed {
  /** Of the application's unreachable sites. */
  total: number
}

interface FaultyDevice extends Listed {
  deviceNo: string
  deviceName: string
  /** The device's own city, if it has no site. */
  cityCode: string
}

export interface Counted {
  devices: number
  online: number
  offline: number
  faulty: number
  /** How many devices went offline in each minute of the last half hour and still are, by Unix time. */
  gone: { minute: number; count: number }[]
  sites: number
  withoutDevices: number
  /** The longest, `listedOfOne` of each at most. */
  unreachableSites: UnreachableSite[]
  faultyDevices: FaultyDevice[]
}

/** `since` is in Unix seconds. */
interface Failing {
  appId: string
  state: 'failing' | 'held' | 'stopped'
  since: number
}

interface Due {
  app_id: string
  app_name: string
  is_frozen: boolean
  last_event_id: number
  took_ms: number | null
  counted_at: Date | null
  counts: Counted | null
}

/** Counting a large application takes one part of this many of one connection's time. */
const countShare = 50
/** With fewer devices a count is cheap: one that took long waited for a busy machine. */
const largeDevices = 50_000
/** Applications whose count takes longer are counted by themselves. */
const longMs = 20
const ofChunk = 200
/** The first count of ten million devices takes a minute. */
const countTimeoutMs = 300_000

export async function countFleet(tx: Statements): Promise<void> {
  if (!(await tryLock(tx, 'fleet'))) return
  // A negative age is that of a clock that was set back.
  const [young] = await tx`
    select 1 from fleet_count where app_id = '' and now() - counted_at between interval '0' and ${roundMs} * interval '1 millisecond'`
  if (young !== undefined) return
  await tx.unsafe(`set local statement_timeout = ${countTimeoutMs}`)
  const failing = JSON.stringify(await findFailing(tx))
  const [{ round }] = await tx<[{ round: number }]>`
    insert into fleet_count (app_id, round, counted_at, counts)
    values ('', 1, now(), ${failing}::text::json)
    on conflict (app_id) do update
    set round = fleet_count.round + 1, counted_at = excluded.counted_at, counts = excluded.counts
    returning round`
  const due = await findDue(tx)
  const isLong = ({ took_ms }: Due) => took_ms !== null && took_ms > longMs
  for (const one of due.filter(isLong)) await countSome(tx, round, [one])
  const short = due.filter((one) => !isLong(one))
  for (let at = 0; at < short.length; at += ofChunk) await countSome(tx, round, short.slice(at, at + ofChunk))
}

function findDue(tx: Statements): Promise<Due[]> {
  return tx.unsafe<Due[]>(
    `select a.app_id, a.app_name, a.status = 2 as is_frozen, h.last_event_id, f.took_ms, f.counted_at, f.counts
    from event_head h join application a on a.app_id = h.app_id left join fleet_count f on f.app_id = h.app_id
    where f.app_id is null or f.app_name <> a.app_name or f.is_frozen <> (a.status = 2)
      or f.through_event_id <> h.last_event_id
        and now() - f.counted_at not between interval '0' and f.took_ms * $1::integer * interval '1 millisecond'`,
    [countShare],
  )
}

async function findFailing(tx: Statements): Promise<Failing[]> {
  return tx.unsafe<Failing[]>(
    `select app_id as "appId", extract(epoch from coalesce(failing_since, stopped_at))::float8 as since,
      case when stopped_at is not null then 'stopped' when failures >= $1::integer then 'held' else 'failing' end as state
    from callback_endpoint where stopped_at is not null or failing_since is not null order by app_id`,
    [failuresUntilHeld],
  )
}

async function countSome(tx: Statements, round: number, due: readonly Due[]): Promise<void> {
  const beganAt = performance.now()
  const appIds = due.flatMap(({ app_id, is_frozen }) => (is_frozen ? [] : [app_id]))
  const found = await countApplications(tx, appIds)
  const tookMs = (performance.now() - beganAt) / due.length
  const rows = due.map((one) => {
    const counts = keepSince(found.get(one.app_id) ?? nothing(), one)
    return { ...one, counts, took_ms: counts.devices < largeDevices ? 0 : tookMs }
  })
  await tx.unsafe(
    `insert into fleet_count (app_id, round, counted_at, through_event_id, app_name, is_frozen, took_ms, counts)
    select app_id, $1, now(), last_event_id, app_name, is_frozen, took_ms, counts from json_to_recordset($2::text::json)
      as i (app_id text, last_event_id bigint, app_name text, is_frozen boolean, took_ms float8, counts json)
    on conflict (app_id) do update
    set round = excluded.round, counted_at = excluded.counted_at, through_event_id = excluded.through_event_id,
      app_name = excluded.app_name, is_frozen = excluded.is_frozen, took_ms = excluded.took_ms, counts = excluded.counts`,
    [round, JSON.stringify(rows)],
  )
}

const nothing = (): Counted => ({
  devices: 0,
  online: 0,
  offline: 0,
  faulty: 0,
  gone: [],
  sites: 0,
  withoutDevices: 0,
  unreachableSites: [],
  faultyDevices: [],
})

export const unreachableOf = ({ unreachableSites: [longest] }: Counted) => longest?.total ?? 0

/** A known unreachable site keeps its time. One that was reachable is unreachable since the last count at most. */
function keepSince(counted: Counted, { counts: before, counted_at }: Due): Counted {
  if (before === null || counted_at === null) return counted
  const known = new Map(before.unreachableSites.map(({ siteId, since }) => [siteId, since]))
  const wasReachable = unreachableOf(before) === before.unreachableSites.length && before.sites > 0
  const earliest = wasReachable ? counted_at.getTime() / 1000 : 0
  for (const site of counted.unreachableSites) site.since = known.get(site.siteId) ?? Math.max(site.since, earliest)
  return counted
}

const ofApplications = 'app_id = any($1::text[])'
const epochOf = (time: string) => `extract(epoch from ${time})::float8`

const totals = [
  `select app_id, count(*)::int as devices from device where ${ofApplications} group by app_id`,
  `select app_id, count(seen_at)::int as online, (count(*) - count(seen_at))::int as offline, count(faulty_since)::int as faulty
  from device_presence where ${ofApplications} group by app_id`,
  `select app_id, count(*)::int as sites, (count(*) filter (where not exists (
      select 1 from placement p where p.app_id = s.app_id and p.site_id = s.id and p.lasts)))::int as "withoutDevices"
  from site s where ${ofApplications} group by app_id`,
]

const goneSql = `select app_id, (floor(extract(epoch from offline_since) / 60) * 60)::int as minute, count(*)::int as count
  from device_presence where ${ofApplications} and offline_since > now() - interval '30 minutes' group by 1, 2`

/** Whose entrances (way 1) or exits (2) have reported, none online. Begins with the few offline devices. */
const unreachableSql = `with offline as (
    select l.app_id, l.site_id, w.way, greatest(p.offline_since, l.placed_at) as since
    from device_presence p join placement l on l.app_id = p.app_id and l.device_no = p.device_no and l.removed_at is null
      join (values (1), (2)) as w (way) on l.lane_type in (w.way, 3)
    where p.${ofApplications} and p.offline_since is not null),
  ways as (select app_id, site_id, way, max(since) as since from offline group by app_id, site_id, way),
  unreachable as (
    select app_id, site_id, min(since) as since from ways w where not exists (
      select 1 from placement l join device_presence p on p.app_id = l.app_id and p.device_no = l.device_no
      where l.app_id = w.app_id and l.site_id = w.site_id and l.lasts and l.lane_type in (w.way, 3) and p.seen_at is not null)
    group by app_id, site_id),
  ranked as (
    select u.*, count(*) over (partition by app_id)::int as total, row_number() over (partition by app_id order by since, site_id) as n
    from unreachable u)
  select r.app_id, r.total, ${epochOf('r.since')} as since, r.site_id as "siteId", s.site_name as "siteName", s.city_name as city
  from ranked r join site s on s.app_id = r.app_id and s.id = r.site_id
  where n <= ${listedOfOne} order by r.app_id, n`

const faultySql = `with ranked as (
    select p.app_id, p.device_no, p.faulty_since, l.site_id,
      row_number() over (partition by p.app_id order by l.site_id is null, p.faulty_since, p.device_no) as n
    from device_presence p left join placement l on l.app_id = p.app_id and l.device_no = p.device_no and l.removed_at is null
    where p.${ofApplications} and p.faulty_since is not null)
  select r.app_id, r.device_no as "deviceNo", ${epochOf('r.faulty_since')} as since, d.device_name as "deviceName",
    d.city_code as "cityCode", r.site_id as "siteId", s.site_name as "siteName", s.city_name as city
  from ranked r join device d on d.app_id = r.app_id and d.device_no = r.device_no and d.status <> 1
    left join site s on s.app_id = r.app_id and s.id = r.site_id
  where n <= ${listedOfOne} order by r.app_id, n`

const lists = { gone: goneSql, unreachableSites: unreachableSql, faultyDevices: faultySql }

async function countApplications(tx: Statements, appIds: readonly string[]): Promise<Map<string, Counted>> {
  const all = new Map(appIds.map((appId) => [appId, nothing()]))
  if (appIds.length === 0) return all
  const run = (statement: string) => tx.unsafe<{ app_id: string }[]>(statement, [textArray(appIds)])
  for (const statement of totals) {
    for (const { app_id, ...row } of await run(statement)) Object.assign(all.get(app_id) ?? {}, row)
  }
  for (const [list, statement] of Object.entries(lists) as [keyof typeof lists, string][]) {
    for (const { app_id, ...row } of await run(statement)) all.get(app_id)?.[list].push(row as never)
  }
  return all
}

export interface KnownApplication {
  app_id: string
  app_name: string
  is_frozen: boolean
  counts: Counted
}

export interface News {
  round: number
  countedAt: Date
  /** The database's clock, in Unix seconds. */
  now: number
  failing: Failing[]
  applications: KnownApplication[]
}

/** Returns all of it if the rounds began again, as after a restore. */
export async function readFleet(sql: Statements, knownRound: number): Promise<News | undefined> {
  const [last] = await sql<Omit<News, 'applications'>[]>`
    select round, counted_at as "countedAt", extract(epoch from now())::float8 as now, counts as failing
    from fleet_count where app_id = ''`
  if (last === undefined || last.round === knownRound) return last && { ...last, applications: [] }
  const applications = await sql<KnownApplication[]>`
    select app_id, app_name, is_frozen, counts from fleet_count
    where app_id <> '' and round > ${last.round < knownRound ? 0 : knownRound}`
  return { ...last, applications }
}
