import type { Logger } from 'pino'
import { deleteExpiredTokens } from '../applications/tokens/store.ts'
import { deleteOldImports } from '../bulk/store.ts'
import type { Config } from '../config.ts'
import { tryLock } from '../database/advisory-lock.ts'
import { deleteOldIdempotencyKeys } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { keepRoutines, type Routine } from '../database/routine.ts'
import { transaction } from '../database/transaction.ts'
import { deleteOldDeliveries } from '../deliveries/store.ts'
import { deleteOldRefusals } from '../events/refusal-log/store.ts'
import { deleteOldEvents } from '../events/store.ts'
import { deleteExpiredSetUps } from '../people/operators/store.ts'
import { deleteEndedSessions } from '../people/sessions/store.ts'
import { clearAttempts } from '../people/sign-in-attempts/store.ts'
import { deleteOldMinutes, refreshCount } from './overview/store.ts'
import { noteDatabaseSize } from './store.ts'

const everyMs = 60_000
/** Counting ten million devices takes some seconds. */
const countEveryMinutes = 5
/** Few enough that no step holds up creates. */
const stepRows = 2000

/**
 * Steps that look into every application, for what has had its days, rest so long after a round that found nothing more:
 * an idle service must not cost the more, the more applications there are.
 */
const restMs = 3_600_000

type Step = (tx: Statements, limit: number) => Promise<number>

/** When a step that looks into every application is to be made again. */
export type Rests = Map<number, number>

type Settings = Pick<Config, 'deliveryDays' | 'refusalDays'> & { isDistributed: boolean }

/** Runs upkeep once a minute, one round at a time. */
export function startUpkeep(sql: Sql, log: Logger, config: Settings, routines: readonly Routine[]): { stop(): void } {
  let isRunning = false
  const rests: Rests = new Map()
  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    await runUpkeep(sql, log, config, routines, rests)
    isRunning = false
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * Removes, in small steps, what has expired: idempotency keys after 24 hours, tokens, sessions, deliveries, events and
 * refusals by their settings; says which routines are in use; counts what the overview and the metrics show; and notes the
 * database's size, last. One process at a time does a step; the others leave it to that
 * one. Those that look into every application rest for an hour (`rests`). What fails keeps nothing else from its turn: it is tried again in the next round.
 */
export async function runUpkeep(
  sql: Sql,
  log: Logger,
  { deliveryDays, refusalDays, isDistributed }: Settings,
  routines: readonly Routine[],
  rests: Rests = new Map(),
): Promise<void> {
  const steps: Step[] = [
    deleteExpiredTokens,
    deleteOldIdempotencyKeys,
    deleteEndedSessions,
    clearAttempts,
    deleteExpiredSetUps,
    deleteOldMinutes,
    deleteOldImports,
  ]
  const stepsOfEachApplication: Step[] = [
    (tx, limit) => deleteOldDeliveries(tx, limit, deliveryDays),
    deleteOldEvents,
    (tx, limit) => deleteOldRefusals(tx, limit, refusalDays),
  ]
  const runAlone = (step: Step, index: number) =>
    transaction(sql, async (tx) => ((await tryLock(tx, `upkeep ${index}`)) ? step(tx, stepRows) : 0))
  const all = [...steps, ...stepsOfEachApplication].map((step, index) => async () => {
    if (performance.now() < (rests.get(index) ?? 0)) return
    while ((await runAlone(step, index)) === stepRows);
    if (index >= steps.length) rests.set(index, performance.now() + restMs)
  })
  const parts = [
    () => keepRoutines(sql, routines),
    ...all,
    () => transaction(sql, (tx) => refreshCount(tx, countEveryMinutes)),
    () => noteDatabaseSize(sql, isDistributed),
  ]
  for (const part of parts) {
    await part().catch((error: unknown) => log.warn({ err: error }, 'a part of upkeep failed; it is tried again'))
  }
}
