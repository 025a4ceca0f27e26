import type { Logger } from 'pino'
import { once, type RequestKey } from '../../database/idempotency.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { Loop } from '../../runtime/loop.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { lockEndpoint } from '../store.ts'
import { beginRange, isReplaying, type ReplayRange, replayOne, stepAnyReplay } from './store.ts'

const lookEveryMs = 1_000
const leastRestMs = 50

const busy = () => new Refusal('tooManyRequests', { headers: { 'retry-after': '5' } })

export interface ActorAndAddress {
  actor: string
  address: string
}

/**
 * Makes one delivery due, or the first events of a range; the rest follows in the background. Returns how many, or for
 * a used idempotency key the stored response. Throws 10007 while a range is under way, 10008, 10042, 60003, and 10001
 * for too many events.
 */
export async function replay(
  tx: Statements,
  appId: string,
  selection: number | ReplayRange,
  by: ActorAndAddress,
  idempotency: RequestKey | undefined,
): Promise<{ replayed: number }> {
  const endpoint = await lockEndpoint(tx, appId)
  return once(tx, idempotency, appId, async () => {
    // A disabled endpoint would not be sent what the response promises.
    if (endpoint === undefined || endpoint.isStopped) throw new Refusal('callbackMissing')
    if (endpoint.isReplaying) throw busy()
    const replayed =
      typeof selection === 'number'
        ? await replayOne(tx, appId, selection)
        : // Events after `through` are sent anyway.
          await beginRange(tx, appId, { ...selection, lastId: Math.min(selection.lastId, endpoint.through) })
    const requested =
      typeof selection === 'number'
        ? { id: selection }
        : {
            timeFrom: showMoment(selection.from),
            timeTo: showMoment(lastMillisecondOf(selection)),
            ...statusOf(selection),
          }
    const data = { appId, ...requested, replayed }
    await insertPlatformEvent(tx, { type: 'delivery.replayed', subject: appId, ...by, data })
    return { replayed }
  })
}

function statusOf({ statuses: asked }: ReplayRange) {
  const [status = null, ...others] = asked ?? []
  return others.length > 0 ? { status: null, isDelivered: false } : { status }
}

const lastMillisecondOf = ({ before }: ReplayRange) => new Date(before.getTime() - 1)

/** A cheap check before `replay`, which repeats it under a lock. Throws 10007 while a range is under way. */
export async function requireNoReplay(sql: Statements, appId: string): Promise<void> {
  if (await isReplaying(sql, appId)) throw busy()
}

/** Also continues replays that other processes accepted. */
export class ReplayWorker {
  private readonly sql: Sql
  private readonly log: Logger
  private readonly loop = new Loop(() => this.round())

  constructor(sql: Sql, log: Logger) {
    this.sql = sql
    this.log = log
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  private async round(): Promise<number> {
    const startedAt = performance.now()
    const isUnderWay = await transaction(this.sql, stepAnyReplay).catch((error: unknown) => {
      this.log.debug({ err: error }, 'replay step failed; will retry')
      return false
    })
    // Twice as long as the step took, so that replays use at most a third of one connection's time.
    return isUnderWay ? Math.max(leastRestMs, 2 * (performance.now() - startedAt)) : lookEveryMs
  }
}
