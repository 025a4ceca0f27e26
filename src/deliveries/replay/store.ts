import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { historySql } from '../../events/history/store.ts'
import { limits } from '../../vocabulary/limits.ts'
import { invalidField, Refusal } from '../../vocabulary/refusals.ts'
import { statuses } from '../rules.ts'
import { eventsOfStops, trimStops } from '../stops/store.ts'

export async function isReplaying(sql: Statements, appId: string): Promise<boolean> {
  const [row] = await sql`
    select 1 from callback_endpoint where app_id = ${appId} and replay_next_id is not null`
  return row !== undefined
}

export interface ReplayRange {
  from: Date
  /** Exclusive. */
  before: Date
  firstId: number
  lastId: number
  statuses: readonly number[] | null
}

const setDueSql = (moment: string) =>
  `status = ${statuses.waiting}, attempts = 0, next_attempt_at = ${moment}, finished_at = null`

export async function replayOne(tx: Statements, appId: string, id: number): Promise<number> {
  const replayed = await tx`update delivery set ${tx.unsafe(setDueSql('now()'))} where app_id = ${appId} and id = ${id}`
  if (replayed.count === 0) throw new Refusal('deliveryNotFound')
  await tx`update callback_endpoint set due_at = '-infinity' where app_id = ${appId}`
  noteEvents(tx, [appId])
  return 1
}

/** Returns how many events the range holds. Throws 10001 for too many. */
export async function beginRange(tx: Statements, appId: string, range: ReplayRange): Promise<number> {
  const [counted] = await tx<[{ count: number }]>`
    select count(*)::int as count from (${eventsOf(tx, appId, range)} limit ${limits.replayedAtOnce + 1}) w`
  if (counted.count > limits.replayedAtOnce) {
    throw invalidField(
      'timeTo',
      `has more than ${limits.replayedAtOnce} events; replay a shorter range`,
      `包含超过 ${limits.replayedAtOnce} 个事件；请缩短时间范围`,
    )
  }
  await replayStep(tx, appId, range)
  return counted.count
}

/** Missed events have no delivery, so a range of some statuses would leave them out. */
const hasMissed = ({ statuses: asked }: ReplayRange) =>
  asked?.includes(statuses.delivered) === false && asked.length > 1

function eventsOf(tx: Statements, appId: string, range: ReplayRange) {
  const { from, before, firstId, lastId, statuses: asked } = range
  // Literals, so that even a generic plan can use the partial index of undelivered rows.
  const inStatus = asked?.map((status) => `d.status = ${status}`).join(' or ') || 'false'
  const delivered = tx`
    join delivery d on d.app_id = ${appId} and d.id = v.id and (${tx.unsafe(inStatus)})`
  const missed = tx`
    union all
    select * from (${eventsOfStops(tx, appId, firstId, lastId)}) missed where time >= ${from} and time < ${before}`
  return tx`
    select c.app_id, v.id, v.type, v.time from third_party_config c join (select * from ${tx.unsafe(historySql)}) v using (app_id) ${asked === null ? tx`` : delivered}
    where c.app_id = ${appId} and v.app_id = ${appId} and v.type = any(c.callback_events)
      and v.id between ${firstId} and ${lastId} and v.time >= ${from} and v.time < ${before}
    ${hasMissed(range) ? missed : tx``}`
}

/** Few in one transaction, so that neither the endpoint's row nor the database is blocked for long. */
const stepEvents = 200
/** How many replays a step tries, to find one that no other process has locked. */
const mostTried = 10
const undelivered = 0

/** Also stores where the next step begins. The endpoint must be locked. */
async function replayStep(tx: Statements, appId: string, range: ReplayRange): Promise<void> {
  const step = await tx<{ id: number }[]>`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, attempt_log)
    select app_id, id, type, ${statuses.waiting}, 0, now(), time, now(), '[]'
    from (select * from (${eventsOf(tx, appId, range)}) of_range order by id limit ${stepEvents}) as step
    on conflict (app_id, id) do update set ${tx.unsafe(setDueSql('excluded.next_attempt_at'))}
    returning id`
  const nextId = step.length < stepEvents ? null : Math.max(...step.map(({ id }) => id)) + 1
  const { from, before, lastId, statuses: asked } = range
  const [status = undelivered, ...others] = asked ?? [null]
  await tx`
    update callback_endpoint set due_at = '-infinity', replay_next_id = ${nextId},
      replay_last_id = ${lastId}, replay_from = ${from}, replay_before = ${before}, replay_status = ${others.length > 0 ? undelivered : status}
    where app_id = ${appId}`
  await trimStops(tx, appId)
  noteEvents(tx, [appId])
}

export async function stepAnyReplay(tx: Statements): Promise<boolean> {
  const underWay = await tx<{ app_id: string }[]>`
    select app_id from callback_endpoint where replay_next_id is not null order by random() limit ${mostTried}`
  for (const { app_id: appId } of underWay) if (await tryStep(tx, appId)) return true
  return false
}

function statusesOf(stored: number | null): number[] | null {
  if (stored === null) return null
  return stored === undelivered ? [statuses.waiting, statuses.dead] : [stored]
}

/** False if another process has locked the replay, or has just ended it. */
async function tryStep(tx: Statements, appId: string): Promise<boolean> {
  const [row] = await tx`
    select replay_next_id, replay_last_id, replay_from, replay_before, replay_status from callback_endpoint
    where app_id = ${appId} and replay_next_id is not null for update skip locked`
  if (row === undefined) return false
  await replayStep(tx, appId, {
    firstId: row.replay_next_id,
    lastId: row.replay_last_id,
    from: row.replay_from,
    before: row.replay_before,
    statuses: statusesOf(row.replay_status),
  })
  return true
}
