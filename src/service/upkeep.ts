import type { Logger } from 'pino'
import { expiredTokens } from '../applications/tokens/store.ts'
import { deleteOldJobs } from '../bulk/jobs/store.ts'
import type { Config } from '../config.ts'
import { tryLock } from '../database/advisory-lock.ts'
import { oldIdempotencyKeys } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { type Pruned, prune } from '../database/prune.ts'
import { keepRoutines, type Routine } from '../database/routine.ts'
import { transaction } from '../database/transaction.ts'
import { oldUsage } from '../database/usage.ts'
import { oldStops } from '../deliveries/stops/store.ts'
import { oldDeliveries } from '../deliveries/store.ts'
import { type KeptPartition, keepHistory } from '../events/history/store.ts'
import { oldRefusals } from '../events/refusal-log/store.ts'
import { expiredSetUps } from '../people/operators/store.ts'
import { oldDrafts } from '../people/second-factor/store.ts'
import { endedSessions, forgottenBrowsers } from '../people/sessions/store.ts'
import { clearAttempts } from '../people/sign-in-attempts/store.ts'
import { usedTickets } from '../people/tickets/store.ts'
import { startRounds } from '../runtime/loop.ts'
import { cancelledPriceChanges } from '../sites/price-changes/store.ts'
import { oldMinutes, refreshCount } from './overview/store.ts'
import { noteDatabaseSize } from './store.ts'

const everyMs = 60_000
/** Counting ten million devices takes some seconds. */
const countEveryMs = 5 * 60_000
/** Few enough rows that no step blocks creates. */
const stepRows = 2000
/** A backlog of one actor must not hold up the others. */
const turnMs = 1_000
/** So that a round has ended when the next one begins. */
const roundMs = 0.9 * everyMs

/** For a pruner that found nothing. */
const restMs = 3_600_000

type Step = (tx: Statements, limit: number) => Promise<number>

/** Time of the next round, by actor. */
export type Rests = Map<string, number>

type Settings = Pick<Config, 'deliveryDays' | 'eventDays' | 'refusalDays'>

interface UpkeepActor {
  /** The name in log lines, such as `event-pruner`. */
  name: string
  /** Returns true if work is left for the next turn. */
  round(): Promise<boolean>
}

export function startUpkeep(sql: Sql, log: Logger, config: Settings, routines: readonly Routine[]): { stop(): void } {
  const rests: Rests = new Map()
  return startRounds(() => runUpkeep(sql, log, config, routines, rests), everyMs)
}

/** Actors with work left take further turns. A failed actor does not stop the others, and runs again next time. */
export async function runUpkeep(
  sql: Sql,
  log: Logger,
  config: Settings,
  routines: readonly Routine[],
  rests: Rests = new Map(),
): Promise<void> {
  const until = performance.now() + roundMs
  let busy = actors(sql, log, config, routines, rests)
  do {
    const left: UpkeepActor[] = []
    for (const actor of busy) {
      const isLeft = await actor.round().catch((error: unknown) => {
        log.warn({ err: error, actor: actor.name }, 'maintenance task failed; will retry')
        return false
      })
      if (isLeft) left.push(actor)
    }
    busy = left
  } while (busy.length > 0 && performance.now() < until)
}

/** The size comes last, because it also records that upkeep runs. */
function actors(
  sql: Sql,
  log: Logger,
  { deliveryDays, eventDays, refusalDays }: Settings,
  routines: readonly Routine[],
  rests: Rests,
): UpkeepActor[] {
  /** One process at a time does a step; the others skip it. */
  const cleaner = (name: string, step: Step): UpkeepActor => {
    const stepAlone = () => transaction(sql, async (tx) => ((await tryLock(tx, name)) ? step(tx, stepRows) : 0))
    return {
      name,
      async round() {
        const until = performance.now() + turnMs
        while ((await stepAlone()) === stepRows) if (performance.now() > until) return true
        return false
      },
    }
  }
  const pruner = (pruned: Pruned): UpkeepActor => {
    const { name, round } = cleaner(`${pruned.table}-pruner`, (tx, limit) => prune(tx, pruned, limit))
    return {
      name,
      async round() {
        if (performance.now() < (rests.get(name) ?? 0)) return false
        const isLeft = await round()
        if (pruned.rests && !isLeft) rests.set(name, performance.now() + restMs)
        return isLeft
      },
    }
  }
  const single = (name: string, run: () => Promise<unknown>): UpkeepActor => ({
    name,
    async round() {
      await run()
      return false
    },
  })
  return [
    single('routine-keeper', () => keepRoutines(sql, routines)),
    ...[expiredTokens, oldIdempotencyKeys, endedSessions, forgottenBrowsers, expiredSetUps, oldDrafts].map(pruner),
    ...[usedTickets, oldMinutes, oldUsage, cancelledPriceChanges(eventDays)].map(pruner),
    ...[oldDeliveries(deliveryDays), oldStops(deliveryDays), oldRefusals(refusalDays)].map(pruner),
    cleaner('sign-in-attempt-cleaner', clearAttempts),
    cleaner('import-cleaner', deleteOldJobs),
    single('history-keeper', () => keepAndTellHistory(sql, log)),
    single('device-counter', () => transaction(sql, (tx) => refreshCount(tx, countEveryMs))),
    single('size-recorder', () => noteDatabaseSize(sql)),
  ]
}

/** A dropped partition is not logged, and a busy one is tried again in a minute. */
const historyLines: Partial<Record<KeptPartition['outcome'], string>> = {
  held: 'events kept past their retention period: some callbacks haven’t been delivered yet',
  'dropped although needed':
    'events deleted a week after their retention period, although some callbacks were never delivered',
}

async function keepAndTellHistory(sql: Sql, log: Logger): Promise<void> {
  for (const { name, outcome } of await keepHistory(sql)) {
    const line = historyLines[outcome]
    if (line !== undefined) log.warn({ partition: name }, line)
  }
}
