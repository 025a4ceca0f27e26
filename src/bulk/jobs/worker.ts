import type { Logger } from 'pino'
import { databaseRefusal } from '../../database/failures.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { startRounds } from '../../runtime/actor.ts'
import { yielder } from '../../runtime/event-loop.ts'
import { Rests } from '../../runtime/rests.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { RefusalName } from '../../vocabulary/refusals.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import { TryAgain } from '../../writes/kind.ts'
import { findAccessLoss, lockApplicationsOf } from './access/store.ts'
import { accessLost, attemptsFailed, rowsRefused, type ToldFailure } from './failure/rules.ts'
import * as store from './store.ts'

// The worker of jobs, imports and acts alike: it takes a job that waits, or whose process is gone, and processes it in
// portions. A portion is one transaction: under the applications' locks the worker checks that the caller who began the
// job still has access, writes the rows, and stores their outcomes and the job's position.
//
// Never: a row that is done twice or left out, whenever a process ends; a job that two processes write for; a row that
// is written after its caller has lost the access; other writers kept waiting for long.

const lookEveryMs = 1_000
/** How long a job rests after a failed attempt, before the next attempt. */
const againAfterMs = 500
/** A lease outlasts some renewals that fail. */
const renewEveryMs = 1_500
/** How often the worker checks whether others write. */
const busyMs = 300
/**
 * How long a job rests between portions while others write, as a share of the time that the portion took: the other
 * writers keep over half of the time.
 */
const restShare = 1.75
/** The longest rest after a portion, however long the portion took. */
const mostRestMs = 1_000
/**
 * How long the rows of a portion should take while others write. At this length the fixed cost of a portion matters
 * little.
 */
const busyPortionMs = 40

/** Rows that a job decides next. */
interface Stretch {
  rows: number
  /**
   * Decides the rows from one place up to another in one transaction, and stores their outcomes. Without rows it stores
   * only the job's position. Returns the number of the job's refused rows.
   */
  decide(from: number, to: number): Promise<number>
}

/** How jobs of one family find, decide and end their rows. */
export interface Steps {
  /** What a job is called in messages. */
  noun: 'import' | 'act'
  /** Finds the rows that are next; undefined when none are left. */
  findRows(job: store.Job): Promise<Stretch | undefined>
  /** Ends a job whose rows are all decided. Returns the reason if the job has failed. */
  finish(job: store.Job): Promise<ToldFailure | undefined>
}

/** How fast a job may run while others write. */
interface Pace {
  /** Says whether others write. */
  isBusy(): Promise<boolean>
  /** How many rows a portion has while others write. */
  busyRows: number
}

/** The caller who began a job has lost the access that the job needs. */
class AccessLost extends Error {
  readonly loss: RefusalName

  constructor(loss: RefusalName) {
    super(`access is lost: ${loss}`)
    this.loss = loss
  }
}

/**
 * Locks the job's applications. Throws if the caller who began the job may no longer do to one row what the job does to
 * many.
 */
export async function requireAccessOf(tx: Statements, job: store.Job, admission: Admission): Promise<void> {
  const askedAt = performance.now()
  await lockApplicationsOf(tx, job)
  job.waitedMs = performance.now() - askedAt
  const loss = await findAccessLoss(tx, job, admission)
  if (loss !== undefined) throw new AccessLost(loss)
}

interface Parts {
  sql: Sql
  log: Logger
  stepsOf(job: store.Job): Steps
}

/** Runs jobs for as long as the service runs, whichever process received them. */
export class JobWorker {
  private readonly parts: Parts
  private isStopping = false
  private running: Promise<unknown> = Promise.resolve()
  private readonly rests = new Rests()

  constructor(parts: Parts) {
    this.parts = parts
  }

  start(): void {
    this.running = Promise.all(Array.from({ length: limits.importsOfProcess }, () => this.run()))
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.rests.stop()
    await this.running
  }

  /** Looks for work at once. */
  wake(): void {
    this.rests.wake()
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const job = await store.takeJob(this.parts.sql).catch((error: unknown) => {
        this.parts.log.debug({ err: error }, 'search for waiting jobs failed; will retry')
        return undefined
      })
      if (job === undefined) await this.rests.rest(lookEveryMs)
      else await this.workOff(job)
    }
  }

  /** Runs one job until its end or until this process loses its lease. */
  private async workOff(job: store.Job): Promise<void> {
    const { sql } = this.parts
    const steps = this.parts.stepsOf(job)
    // A portion may wait for several locks in turn, for longer than a lease. Then another process would take over the
    // job, although this one decides its rows.
    // A renewal that hangs on a lost connection does not hold up the next.
    const renewing = startRounds(() => void store.renewJobLease(sql, job).catch(() => {}), renewEveryMs)
    try {
      if (await this.decideAll(job, steps)) return
    } finally {
      void renewing.stop()
    }
    await store.releaseJob(sql, job).catch(() => {})
  }

  /** Decides the rows of a job until its end, or until this process stops. Returns whether the job is ended or lost. */
  private async decideAll(job: store.Job, steps: Steps): Promise<boolean> {
    const { log } = this.parts
    const pace: Pace = { isBusy: this.lookout(job), busyRows: limits.importBusyPortionRows }
    const keepStatistics = this.statistician(job)
    let failures = 0
    let hasFailed = false
    while (!this.isStopping) {
      try {
        if (await this.attempt(job, steps, pace, hasFailed)) return true
        await keepStatistics()
        failures = 0
        hasFailed = false
      } catch (error) {
        if (error instanceof store.JobLost) return true
        if (error instanceof TryAgain) continue
        hasFailed = true
        log.warn({ err: error, ...named(job, steps) }, `${steps.noun} attempt failed; will retry`)
        if (databaseRefusal(error) === undefined && ++failures === limits.importFailures) {
          await this.giveUp(job, steps, error, attemptsFailed(failedJob(job, steps), error))
          return true
        }
        await this.rests.rest(againAfterMs, false)
      }
    }
    return false
  }

  private async giveUp(job: store.Job, steps: Steps, error: unknown, told: ToldFailure): Promise<void> {
    const { sql, log } = this.parts
    log.error({ err: error, ...named(job, steps), at: job.place }, `${steps.noun} failed`)
    // If this fails too, the job is taken again and fails again.
    await store.failJob(sql, job, told).catch(() => {})
  }

  /** Runs one step. After a failure it continues from the stored progress: the lost answer may have been a success. */
  private async attempt(job: store.Job, steps: Steps, pace: Pace, hasFailed: boolean) {
    if (hasFailed) await store.readPosition(this.parts.sql, job)
    try {
      return await this.step(job, steps, pace, hasFailed)
    } catch (error) {
      if (!(error instanceof AccessLost)) throw error
      await this.giveUp(job, steps, error, accessLost(failedJob(job, steps), error.loss))
      return true
    }
  }

  /** Decides the rows that are next, after a failure one by one to find the faulty row. Returns whether the job ended. */
  private async step(job: store.Job, steps: Steps, pace: Pace, isCareful: boolean): Promise<boolean> {
    const stretch = await steps.findRows(job)
    if (stretch === undefined) {
      const failure = await steps.finish(job)
      if (failure !== undefined)
        await this.giveUp(job, steps, new Error('rows of the stored file are missing'), failure)
      return true
    }
    const giveTurn = yielder()
    let from = 0
    do {
      await giveTurn()
      const givesWay = await pace.isBusy()
      const beganAt = performance.now()
      const most = isCareful ? 1 : givesWay ? pace.busyRows : limits.importPortionRows
      const to = from + evenPart(stretch.rows - from, most)
      const refused = await stretch.decide(from, to)
      if (refused >= limits.importRefusedRows) {
        await this.giveUp(job, steps, new Error(`${refused} rows are refused`), rowsRefused(failedJob(job, steps)))
        return true
      }
      // A portion that waits for a lock holds up no other request, so its rest does not grow by that time.
      const tookMs = performance.now() - beganAt - job.waitedMs
      pace.busyRows = busyRowsAfter(to - from, tookMs)
      from = to
      if (givesWay) await this.rests.rest(Math.min(tookMs * restShare, mostRestMs), false)
    } while (from < stretch.rows && !this.isStopping)
    return false
  }

  /** Says whether others write beside a job. */
  private lookout(job: store.Job): () => Promise<boolean> {
    let [lookAt, isBusy] = [Number.NEGATIVE_INFINITY, false]
    return async () => {
      const now = performance.now()
      if (now < lookAt) return isBusy
      lookAt = now + busyMs
      isBusy = await store.areOthersWriting(this.parts.sql, job, busyMs)
      return isBusy
    }
  }

  /** Analyzes a job's tables after the first portions, and then whenever the rows have doubled. */
  private statistician(job: store.Job): () => Promise<void> {
    const { sql, log } = this.parts
    let next = limits.importPortionRows
    return async () => {
      if (job.isDryRun || job.unanalyzed < next) return
      await store
        .analyzeFilled(sql, job.kind, job.unanalyzed)
        .catch((error: unknown) =>
          log.debug({ err: error, jobId: job.id }, 'ANALYZE of the job’s tables failed; the job continues'),
        )
      job.unanalyzed = 0
      next *= 2
    }
  }
}

/** The number of rows in each of the fewest possible portions, all of about the same size. */
const evenPart = (rows: number, most: number) => Math.ceil(rows / Math.max(1, Math.ceil(rows / most)))

/** How many rows a portion should have while others write, by what the last one took. */
function busyRowsAfter(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * busyPortionMs) / tookMs)
  return Math.min(Math.max(fitting, limits.importBusyPortionRows), limits.importPortionRows)
}

const named = ({ id }: store.Job, { noun }: Steps) => ({ [`${noun}Id`]: id })

const failedJob = ({ id, place }: store.Job, { noun }: Steps) => ({ noun, id, place })
