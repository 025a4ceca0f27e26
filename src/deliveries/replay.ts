import type { Logger } from 'pino'
import type { Caller } from '../callers/caller.ts'
import { requirePower } from '../callers/store.ts'
import { findKeptAnswer, type KeyedCreate, keepAnswer } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { invalidRequest, Refusal } from '../refusals.ts'
import { maxReplayed } from './contract.ts'
import { statuses } from './rules.ts'
import { pause } from './turn.ts'

/** Events that one transaction sets waiting: so few that neither its endpoint nor the database is kept from the others. */
const stepEvents = 200
/** Replays under way that are tried until one is found that no process is at. */
const mostTried = 10
const lookEveryMs = 1_000
const leastRestMs = 50
const retryAfter = { 'retry-after': '5' }

/** Who asks, and from where. */
export interface By {
  actor: string
  address: string
}

/** Of an application: every event of a time range, or only those whose delivery has a status. */
export interface ReplayRange {
  from: Date
  to: Date
  /** Ids around the range. */
  firstId: number
  lastId: number
  status: number | null
}

/** SQL: what is set of a delivery that is to be sent at the moment. */
const dueAt = (moment: string) =>
  `status = ${statuses.waiting}, attempts = 0, next_attempt_at = ${moment}, finished_at = null`

/**
 * Sets one delivery waiting, or the first events of a range; a long range goes on in steps beside the requests. Answers
 * how many will be sent again, as JSON text, and for a key that was used before what was answered then.
 * Throws 10007 while a range is under way, 10008, 10042, 60003, and 10001 for a range that holds too many; 10002 and
 * 10005 when the caller lost its power while it waited.
 */
export async function replay(
  tx: Statements,
  caller: Caller,
  appId: string,
  wish: number | ReplayRange,
  by: By,
  keyed: KeyedCreate | undefined,
): Promise<string> {
  // Locked, so that replays come one after the other, and the worker writes no outcome meanwhile.
  const [endpoint] = await tx`
    select through_event_id, stopped_at, replay_next_id from callback_endpoint where app_id = ${appId} for update`
  await requirePower(tx, caller)
  const kept = keyed && (await findKeptAnswer(tx, keyed))
  if (kept !== undefined) return kept
  // What is set due for an endpoint that has stopped would only wait, and look as if it had been sent.
  if (endpoint === undefined || endpoint.stopped_at !== null) throw new Refusal('callbackMissing')
  if (endpoint.replay_next_id !== null) throw new Refusal('tooManyRequests', { headers: retryAfter })
  const replayed =
    typeof wish === 'number'
      ? await replayOne(tx, appId, wish)
      : // Events that are not taken yet are sent anyway.
        await beginRange(tx, appId, { ...wish, lastId: Math.min(wish.lastId, endpoint.through_event_id) })
  const answer = JSON.stringify({ replayed })
  const meant = typeof wish === 'number' ? { id: wish } : { from: wish.from, to: wish.to, status: wish.status }
  const data = { appId, ...meant, replayed }
  await insertPlatformEvent(tx, { type: 'delivery.replayed', time: new Date(), subject: appId, ...by, data })
  if (keyed !== undefined) await keepAnswer(tx, keyed, answer)
  return answer
}

/** Says at little cost what `replay` would say of a range after more. Throws 10007 while one is under way. */
export async function requireNoReplay(sql: Statements, appId: string): Promise<void> {
  const [busy] = await sql`
    select from callback_endpoint where app_id = ${appId} and replay_next_id is not null`
  if (busy !== undefined) throw new Refusal('tooManyRequests', { headers: retryAfter })
}

async function replayOne(tx: Statements, appId: string, id: number): Promise<number> {
  const replayed = await tx`update delivery set ${tx.unsafe(dueAt('now()'))} where app_id = ${appId} and id = ${id}`
  if (replayed.count === 0) throw new Refusal('deliveryNotFound')
  return 1
}

async function beginRange(tx: Statements, appId: string, range: ReplayRange): Promise<number> {
  const [counted] = await tx<[{ count: number }]>`
    select count(*)::int as count from (${eventsOf(tx, appId, range)} limit ${maxReplayed + 1}) w`
  if (counted.count > maxReplayed) {
    const reason = {
      en: `holds more than ${maxReplayed} events; replay a shorter range`,
      zh: `包含超过 ${maxReplayed} 个事件；请缩短时间范围`,
    }
    throw invalidRequest([{ field: 'timeTo', reason }])
  }
  await stepOn(tx, appId, range)
  return counted.count
}

/** The events of a range that the callback asks for now. */
function eventsOf(tx: Statements, appId: string, { from, to, firstId, lastId, status }: ReplayRange) {
  // As a literal, so that every plan can use the index of deliveries that are not delivered.
  const delivered = tx`
    join delivery d on d.app_id = ${appId} and d.id = v.id and d.status = ${tx.unsafe(String(status))}`
  return tx`
    select c.app_id, v.id, v.type from third_party_config c join event v using (app_id) ${status === null ? tx`` : delivered}
    where c.app_id = ${appId} and v.app_id = ${appId} and v.type = any(c.callback_events)
      and v.id between ${firstId} and ${lastId} and v.time between ${from} and ${to}`
}

/** Sets the next events of a range waiting, and notes where to go on. The endpoint must be locked. */
async function stepOn(tx: Statements, appId: string, range: ReplayRange): Promise<void> {
  const step = await tx<{ id: number }[]>`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, created_at, attempt_log)
    select app_id, id, type, ${statuses.waiting}, 0, now(), now(), '[]'
    from (${eventsOf(tx, appId, range)} order by v.id limit ${stepEvents}) as step
    on conflict (app_id, id) do update set ${tx.unsafe(dueAt('excluded.next_attempt_at'))}
    returning id`
  const nextId = step.length < stepEvents ? null : Math.max(...step.map(({ id }) => id)) + 1
  const { from, to, lastId, status } = range
  await tx`
    update callback_endpoint set replay_next_id = ${nextId},
      replay_last_id = ${lastId}, replay_from = ${from}, replay_to = ${to}, replay_status = ${status}
    where app_id = ${appId}`
}

/** One step of any replay that no process is at. Answers whether there was one. */
async function stepOfAny(tx: Statements): Promise<boolean> {
  const underWay = await tx<{ app_id: string }[]>`
    select app_id from callback_endpoint where replay_next_id is not null order by random() limit ${mostTried}`
  for (const { app_id: appId } of underWay) if (await tryStep(tx, appId)) return true
  return false
}

/** False when another process is at it, or has just come to its end. */
async function tryStep(tx: Statements, appId: string): Promise<boolean> {
  const [row] = await tx`
    select replay_next_id, replay_last_id, replay_from, replay_to, replay_status from callback_endpoint
    where app_id = ${appId} and replay_next_id is not null for update skip locked`
  if (row === undefined) return false
  await stepOn(tx, appId, {
    firstId: row.replay_next_id,
    lastId: row.replay_last_id,
    from: row.replay_from,
    to: row.replay_to,
    status: row.replay_status,
  })
  return true
}

/** Carries long replays on, whoever took their requests, for as long as the service runs. */
export class Replays {
  private readonly sql: Sql
  private readonly log: Logger
  private isStopping = false
  private running: Promise<void> = Promise.resolve()
  /** Ends the rest between two steps. */
  private wake: () => void = () => {}

  constructor(sql: Sql, log: Logger) {
    this.sql = sql
    this.log = log
  }

  start(): void {
    this.running = this.run()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.wake()
    await this.running
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const startedAt = performance.now()
      const isUnderWay = await transaction(this.sql, stepOfAny).catch((error: unknown) => {
        this.log.debug({ err: error }, 'a step of a replay is tried again')
        return false
      })
      // Twice as long as the step took, so that replays have a third of the time of one connection at most.
      const restMs = isUnderWay ? Math.max(leastRestMs, 2 * (performance.now() - startedAt)) : lookEveryMs
      await Promise.race([pause(restMs), new Promise<void>((resolve) => (this.wake = resolve))])
    }
  }
}
