import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Caller } from '../callers/caller.ts'
import { requireAccess } from '../callers/store.ts'
import { once, type RequestKey } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { beginRange, isReplaying, lockEndpoint, type ReplayRange, replayOne, stepOfAny } from './store.ts'

const lookEveryMs = 1_000
const leastRestMs = 50

const busy = () => new Refusal('tooManyRequests', { headers: { 'retry-after': '5' } })

/** Who asks, and from where. */
export interface By {
  actor: string
  address: string
}

/**
 * Sets one delivery waiting, or the first events of a range; a long range goes on in steps beside the requests. Answers
 * how many will be sent again, and for a key that was used before what was answered then.
 * Throws 10007 while a range is under way, 10008, 10042, 60003, and 10001 for a range that holds too many; 10002 and
 * 10005 when the caller lost its access while it waited.
 */
export async function replay(
  tx: Statements,
  caller: Caller,
  appId: string,
  selection: number | ReplayRange,
  by: By,
  idempotency: RequestKey | undefined,
): Promise<{ replayed: number }> {
  const endpoint = await lockEndpoint(tx, appId)
  await requireAccess(tx, caller)
  return once(tx, idempotency, appId, async () => {
    // What is set due for an endpoint that has stopped would only wait, and look as if it had been sent.
    if (endpoint === undefined || endpoint.isStopped) throw new Refusal('callbackMissing')
    if (endpoint.isReplaying) throw busy()
    const replayed =
      typeof selection === 'number'
        ? await replayOne(tx, appId, selection)
        : // Events that are not taken yet are sent anyway.
          await beginRange(tx, appId, { ...selection, lastId: Math.min(selection.lastId, endpoint.through) })
    const meant =
      typeof selection === 'number'
        ? { id: selection }
        : { timeFrom: selection.from, timeTo: lastOf(selection), status: selection.status }
    const data = { appId, ...meant, replayed }
    await insertPlatformEvent(tx, { type: 'delivery.replayed', subject: appId, ...by, data })
    return { replayed }
  })
}

const lastOf = ({ before }: ReplayRange) => new Date(before.getTime() - 1)

/** Says at little cost what `replay` would say of a range after more. Throws 10007 while one is under way. */
export async function requireNoReplay(sql: Statements, appId: string): Promise<void> {
  if (await isReplaying(sql, appId)) throw busy()
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
