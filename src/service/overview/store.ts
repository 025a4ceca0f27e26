import { jobStatus } from '../../bulk/jobs/contract.ts'
import type { JobFailure } from '../../bulk/jobs/failure/contract.ts'
import { tryLock } from '../../database/advisory-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { backgroundMs } from '../../database/pools.ts'
import type { Pruned } from '../../database/prune.ts'
import { textArray } from '../../database/routine.ts'
import { failuresUntilHeld, statuses } from '../../deliveries/rules.ts'
import { ofEventsSql, readBacklog } from '../../deliveries/store.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import type { Counts, Trouble } from './contract.ts'

/** Counting ten million devices takes some seconds. */
const mostCounted = 100_000
const mostShown = 10

const isFailing = `(e.stopped_at is null and e.failures >= ${failuresUntilHeld})`

type StoredTrouble = Trouble & { callbackStoppedSince: string | null; callbackStoppedReason: string | null }

/** It has faulty gates, and none is online. */
interface UnreachableSite {
  appId: string
  appName: string
  siteId: number
  siteName: string
  gatesFaulty: number
}

interface FailedJob {
  id: number
  appId: string | null
  appName: string | null
  /** Null for an import. */
  act: string | null
  kind: string
  finishedAt: string
  error: string | null
  failure: JobFailure | null
}

/** In Unix seconds. */
type OnlineSample = [time: number, devicesOnline: number]

interface Counted {
  counts: Counts
  troubles: StoredTrouble[]
  unreachable: UnreachableSite[]
  failedJobs: FailedJob[]
  /** The samples of the last day, one for each five minutes. */
  online: OnlineSample[]
}

export interface LastCount extends Counted {
  countedAt: Date
}

const sampleSeconds = 300
const daySeconds = 86_400

/** Of any process; undefined before the first. */
export async function findCount(sql: Statements): Promise<LastCount | undefined> {
  const [row] = await sql`select counts, counted_at from platform_count`
  if (row === undefined) return undefined
  const { counts, ...rest }: Counted = row.counts
  // During a rolling upgrade, a count of the previous version lacks these members.
  const none = { unreachable: [], failedJobs: [], online: [] }
  return {
    ...none,
    ...rest,
    counts: { ...counts, sitesWithoutDevices: counts.sitesWithoutDevices ?? 0 },
    countedAt: row.counted_at,
  }
}

/** Does nothing if the last count is younger than `youngerMs`. Returns false while another process counts. */
export async function refreshCount(tx: Statements, youngerMs: number): Promise<boolean> {
  if (!(await tryLock(tx, 'overview'))) return false
  const [young] = await tx`
    select 1 from platform_count where counted_at > now() - ${youngerMs} * interval '1 millisecond'`
  if (young !== undefined) return true
  await tx.unsafe(`set local statement_timeout = ${backgroundMs}`)
  const counts = await countAll(tx)
  const counted: Counted = {
    counts,
    troubles: await findTroubles(tx),
    unreachable: await findUnreachable(tx),
    failedJobs: await findFailedJobs(tx),
    online: addSample((await findCount(tx))?.online ?? [], counts.devicesOnline),
  }
  const text = JSON.stringify(counted)
  await tx`
    insert into platform_count (counts, counted_at) values (${text}::text::json, now())
    on conflict (only_row) do update set counts = excluded.counts, counted_at = excluded.counted_at`
  return true
}

/** Of the counts within five minutes, the newest is kept. */
function addSample(before: readonly OnlineSample[], devicesOnline: number): OnlineSample[] {
  const now = Date.now() / 1000
  const time = Math.floor(now / sampleSeconds) * sampleSeconds
  return [...before.filter(([other]) => other !== time && other > now - daySeconds), [time, devicesOnline]]
}

async function countAll(tx: Statements): Promise<Counts> {
  const deliveries = (status: number) =>
    `(select count(*)::int from (select 1 from delivery where ${ofEventsSql(status)} limit ${mostCounted}) d)`
  const [counts] = await tx.unsafe<[Omit<Counts, 'eventsWaiting'>]>(`
    select (select count(*)::int from site) as sites,
      (select count(*)::int from (
        select 1 from site s where not exists (
          select 1 from placement p where p.app_id = s.app_id and p.site_id = s.id and p.lasts)
        limit ${mostCounted}) s) as "sitesWithoutDevices",
      devices, "devicesOnline",
      (select count(*)::int from device where status <> 1) as "devicesFaulty",
      applications, "applicationsOffline", "applicationsFrozen",
      ${deliveries(statuses.waiting)} as "callbacksWaiting", ${deliveries(statuses.dead)} as "callbacksDead",
      (select count(*)::int from callback_endpoint where stopped_at is null and held_until > now()) as "callbacksHeld",
      (select count(*)::int from callback_endpoint where stopped_at is not null) as "callbacksStopped"
    from (
      select count(*)::int as devices, (count(*) filter (where online_status = 1))::int as "devicesOnline" from device) d,
      (select count(*)::int as applications,
        (count(*) filter (where online_status = 2))::int as "applicationsOffline",
        (count(*) filter (where status = 2))::int as "applicationsFrozen" from application) a`)
  const { on, held } = await readBacklog(tx)
  return { ...counts, eventsWaiting: on + held }
}

async function findTroubles(tx: Statements): Promise<StoredTrouble[]> {
  return tx.unsafe<StoredTrouble[]>(`
    with faulty as (select app_id, count(*)::int as count from device where status <> 1 group by app_id),
    dead as (
      select app_id, count(*)::int as count
      from (select app_id from delivery where ${ofEventsSql(statuses.dead)} limit ${mostCounted}) d group by app_id)
    select a.app_id as "appId", app_name as "appName", coalesce(f.count, 0) as "devicesFaulty",
      coalesce(d.count, 0) as "callbacksDead", e.stopped_at is not null as "isCallbackStopped",
      e.stopped_at as "callbackStoppedSince", e.stopped_reason as "callbackStoppedReason",
      case when ${isFailing} then e.failing_since end as "callbackFailingSince",
      case when ${isFailing} then e.failing_reason end as "callbackFailingReason"
    from application a left join faulty f using (app_id) left join dead d using (app_id)
      left join callback_endpoint e using (app_id)
    where f.count > 0 or d.count > 0 or e.stopped_at is not null or ${isFailing}
    order by (e.stopped_at is not null or ${isFailing}) is true desc, coalesce(d.count, 0) + coalesce(f.count, 0) desc, a.app_id
    limit ${mostShown}`)
}

/** With the most faulty gates: nobody gets in or out. Begins with the faulty devices, because they are few. */
async function findUnreachable(tx: Statements): Promise<UnreachableSite[]> {
  const found = await tx.unsafe<Omit<UnreachableSite, 'appName' | 'siteName'>[]>(`
    select p.app_id as "appId", p.site_id as "siteId", count(*)::int as "gatesFaulty"
    from device d join placement p on p.app_id = d.app_id and p.device_no = d.device_no and p.removed_at is null
    where d.status <> 1 and d.online_status <> 1 and not exists (
      select 1 from placement q where q.app_id = p.app_id and q.site_id = p.site_id and q.lasts
        -- Within, so that the planner does not begin with all devices that are online.
        and exists (
          select 1 from device o where o.app_id = q.app_id and o.bound_at = q.bound_at and o.device_no = q.device_no
            and o.online_status = 1))
    group by p.app_id, p.site_id order by "gatesFaulty" desc, p.app_id, p.site_id limit ${mostShown}`)
  const names = await nameApplications(tx, found)
  const sites = await tx`
    select id, site_name from site where app_id = any(${textArray(found.map(({ appId }) => appId))}::text[])
      and id = any(${textArray(found.map(({ siteId }) => String(siteId)))}::bigint[])`
  const siteNames = new Map(sites.map((row) => [row.id, row.site_name]))
  return found.map((site) => ({
    ...site,
    appName: names.get(site.appId) ?? '',
    siteName: siteNames.get(site.siteId) ?? '',
  }))
}

async function nameApplications(
  tx: Statements,
  of: readonly { appId: string | null }[],
): Promise<Map<string | null, string>> {
  const appIds = of.flatMap(({ appId }) => (appId === null ? [] : [appId]))
  const rows = await tx`select app_id, app_name from application where app_id = any(${textArray(appIds)}::text[])`
  return new Map(rows.map((row) => [row.app_id, row.app_name]))
}

async function findFailedJobs(tx: Statements): Promise<FailedJob[]> {
  const jobs = await tx<(Omit<FailedJob, 'appName' | 'failure'> & { failure: string | null })[]>`
    select id, app_id as "appId", act, kind, finished_at as "finishedAt", error, failure from import
    where status = ${jobStatus.failed} and finished_at > now() - interval '1 day' order by id desc limit ${mostShown}`
  const names = await nameApplications(tx, jobs)
  return jobs.map(({ failure, ...job }) => ({
    ...job,
    appName: names.get(job.appId) ?? null,
    failure: failure === null ? null : JSON.parse(failure),
  }))
}

/** Of one process since its last call. The refusal log counts its refusals itself. */
export async function addToMinute(sql: Statements, creates: number, siteCreates: number): Promise<void> {
  await sql`
    insert into minute_figures (minute, creates, site_creates, refusals)
    values (date_trunc('minute', now()), ${creates}, ${siteCreates}, 0)
    on conflict (minute) do update set creates = minute_figures.creates + excluded.creates,
      site_creates = minute_figures.site_creates + excluded.site_creates`
}

export async function lastDay(sql: Sql) {
  const rows = await sql`
    select minute, creates, site_creates as "siteCreates", refusals from minute_figures
    where minute > now() - interval '24 hours' and (creates > 0 or refusals > 0) order by minute`
  return rows.map(({ minute, creates, siteCreates, refusals }) => ({
    time: showMoment(minute),
    creates,
    siteCreates,
    refusals,
  }))
}

export const oldMinutes: Pruned = {
  table: 'minute_figures',
  key: 'minute',
  isOld: "minute < now() - interval '48 hours'",
}
