import type { Logger } from 'pino'
import { deleteExpiredTokens } from '../applications/tokens/store.ts'
import { deleteOldJobs } from '../bulk/jobs/store.ts'
import type { Config } from '../config.ts'
import { tryLock } from '../database/advisory-lock.ts'
import { deleteOldIdempotencyKeys } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { keepRoutines, type Routine } from '../database/routine.ts'
import { transaction } from '../database/transaction.ts'
import { deleteOldDeliveries } from '../deliveries/store.ts'
import { type KeptPartition, keepHistory } from '../events/history/store.ts'
import { deleteOldRefusals } from '../events/refusal-log/store.ts'
import { deleteExpiredSetUps } from '../people/operators/store.ts'
import { deleteOldDrafts } from '../people/second-factor/store.ts'
import { deleteEndedSessions } from '../people/sessions/store.ts'
import { clearAttempts } from '../people/sign-in-attempts/store.ts'
import { deleteUsedTickets } from '../people/tickets/store.ts'
import { type Actor, startRounds } from '../runtime/actor.ts'
import { deleteOldMinutes, refreshCount } from './overview/store.ts'
import { noteDatabaseSize } from './store.ts'

const everyMs = 60_000
/** Counting ten million devices takes some seconds. */
const countEveryMs = 5 * 60_000
/** Few enough rows that no step blocks creates. */
const stepRows = 2000

/**
 * How long an actor that prunes application by application rests after a round that found nothing: an idle service must
 * not cost more because it has more applications.
 */
const restMs = 3_600_000

/** Removes at most `limit` rows in one transaction, and returns how many it removed. */
type Step = (tx: Statements, limit: number) => Promise<number>

/** When an actor that looks into every application has its next round, by its name. */
export type Rests = Map<string, number>

type Settings = Pick<Config, 'deliveryDays' | 'refusalDays'> & { isDistributed: boolean }

/** Runs upkeep once a minute. */
export function startUpkeep(sql: Sql, log: Logger, config: Settings, routines: readonly Routine[]): { stop(): void } {
  const rests: Rests = new Map()
  return startRounds(() => runUpkeep(sql, log, config, routines, rests), everyMs)
}

/** Runs one round of every actor. A failed one does not stop the others, and runs again in the next round. */
export async function runUpkeep(
  sql: Sql,
  log: Logger,
  config: Settings,
  routines: readonly Routine[],
  rests: Rests = new Map(),
): Promise<void> {
  for (const { name, round } of actors(sql, log, config, routines, rests)) {
    await round().catch((error: unknown) =>
      log.warn({ err: error, actor: name }, 'a maintenance task failed: it will be retried'),
    )
  }
}

/** The actors in their order. The size of the database comes last, which also records that upkeep runs. */
function actors(
  sql: Sql,
  log: Logger,
  { deliveryDays, refusalDays, isDistributed }: Settings,
  routines: readonly Routine[],
  rests: Rests,
) {
  /** Removes expired rows in steps. One process at a time does a step; the others skip it. */
  const cleaner = (name: string, step: Step): Actor => {
    const stepAlone = () => transaction(sql, async (tx) => ((await tryLock(tx, name)) ? step(tx, stepRows) : 0))
    return {
      name,
      async round() {
        while ((await stepAlone()) === stepRows);
      },
    }
  }
  const pruner = (name: string, step: Step): Actor => {
    const { round } = cleaner(name, step)
    return {
      name,
      async round() {
        if (performance.now() < (rests.get(name) ?? 0)) return
        await round()
        rests.set(name, performance.now() + restMs)
      },
    }
  }
  return [
    { name: 'routine-keeper', round: () => keepRoutines(sql, routines) },
    cleaner('token-cleaner', deleteExpiredTokens),
    cleaner('idempotency-key-cleaner', deleteOldIdempotencyKeys),
    cleaner('session-cleaner', deleteEndedSessions),
    cleaner('sign-in-attempt-cleaner', clearAttempts),
    cleaner('set-up-cleaner', deleteExpiredSetUps),
    cleaner('generator-draft-cleaner', deleteOldDrafts),
    cleaner('ticket-cleaner', deleteUsedTickets),
    cleaner('overview-cleaner', deleteOldMinutes),
    cleaner('import-cleaner', deleteOldJobs),
    pruner('delivery-pruner', (tx, limit) => deleteOldDeliveries(tx, limit, deliveryDays)),
    { name: 'history-keeper', round: () => keepAndTellHistory(sql, log) },
    pruner('refusal-pruner', (tx, limit) => deleteOldRefusals(tx, limit, refusalDays)),
    {
      name: 'device-counter',
      async round() {
        await transaction(sql, (tx) => refreshCount(tx, countEveryMs))
      },
    },
    { name: 'size-recorder', round: () => noteDatabaseSize(sql, isDistributed) },
  ] satisfies Actor[]
}

/** How a partition's outcome is logged. A dropped one is not logged, and a busy one is tried again in a minute. */
const historyLines: Partial<Record<KeptPartition['outcome'], string>> = {
  held: 'old events are kept longer than configured: a callback has not received them yet',
  'dropped although needed':
    'old events were deleted a week after their configured days, although a callback had not received all of them',
}

async function keepAndTellHistory(sql: Sql, log: Logger): Promise<void> {
  for (const { name, outcome } of await keepHistory(sql)) {
    const line = historyLines[outcome]
    if (line !== undefined) log.warn({ partition: name }, line)
  }
}
