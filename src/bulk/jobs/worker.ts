import type { Context } from '../../context.ts'
import { databaseRefusal } from '../../database/failures.ts'
import type { Statements } from '../../database/open.ts'
import { yielder } from '../../runtime/event-loop.ts'
import { Loop, startRounds } from '../../runtime/loop.ts'
import { faultKind } from '../../vocabulary/faults.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { RefusalName } from '../../vocabulary/refusals.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import { tryAgain } from '../../writes/kind.ts'
import { findAccessLoss, lockApplicationsOf } from './access/store.ts'
import { accessLost, attemptsFailed, rowsRefused, type ToldFailure } from './failure/rules.ts'
import * as store from './store.ts'

// Takes a job that waits or whose process is gone, and processes it in portions. A portion is one transaction: under
// the applications' locks it checks that the caller still has access, writes rows, and stores results and position. So
// no row is done twice or left out, and other writers never wait long.

const lookEveryMs = 1_000
const againAfterMs = 500
/** A lease outlasts a few failed renewals. */
const renewEveryMs = 1_500
const busyMs = 300
/** While others write, a job rests this share of its portion's time, so that they keep over half. */
const restShare = 1.75
const mostRestMs = 1_000
/** A portion's length while others write, long enough that its fixed cost matters little. */
const busyPortionMs = 40

interface Stretch {
  rows: number
  /** Decides rows in one transaction, or stores only the position. Returns the job's number of refused rows. */
  decide(from: number, to: number): Promise<number>
}

export interface Steps {
  noun: 'import' | 'act'
  findRows(job: store.Job): Promise<Stretch | undefined>
  /** Finishes a job whose rows are all decided. Returns a reason if it failed. */
  finish(job: store.Job): Promise<ToldFailure | undefined>
}

interface Pace {
  isBusy(): Promise<boolean>
  busyRows: number
}

const accessIsLost = faultKind<RefusalName>('accessIsLost', (loss) => `access is lost: ${loss}`)

/** Locks the job's applications. Throws if its caller may no longer do `admission` to one row. */
export async function requireAccessOf(tx: Statements, job: store.Job, admission: Admission): Promise<void> {
  const askedAt = performance.now()
  await lockApplicationsOf(tx, job)
  job.waitedMs = performance.now() - askedAt
  const loss = await findAccessLoss(tx, job, admission)
  if (loss !== undefined) throw accessIsLost(loss)
}

/** Runs jobs, whichever process received them. */
export class JobWorker {
  private readonly context: Pick<Context, 'sql' | 'log'>
  private readonly stepsOf: (job: store.Job) => Steps
  private readonly loop = new Loop(() => this.round())

  constructor(context: Pick<Context, 'sql' | 'log'>, stepsOf: (job: store.Job) => Steps) {
    this.context = context
    this.stepsOf = stepsOf
  }

  start(): void {
    this.loop.start({ times: 2 * limits.importsAtOnce })
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  wake(): void {
    this.loop.wake()
  }

  private async round(): Promise<number> {
    const job = await store.takeJob(this.context.sql).catch((error: unknown) => {
      this.context.log.debug({ err: error }, 'search for waiting jobs failed; will retry')
      return undefined
    })
    if (job === undefined) return lookEveryMs
    await this.workOff(job)
    return 0
  }

  /** Runs a job until it ends or this process loses its lease. */
  private async workOff(job: store.Job): Promise<void> {
    const { sql } = this.context
    const steps = this.stepsOf(job)
    // A portion may wait for locks longer than a lease lasts, and another process would take over. Renewals don't wait
    // for each other, as one may hang on a lost connection.
    const renewing = startRounds(() => void store.renewJobLease(sql, job).catch(() => {}), renewEveryMs)
    try {
      if (await this.decideAll(job, steps)) return
    } finally {
      void renewing.stop()
    }
    await store.releaseJob(sql, job).catch(() => {})
  }

  /** Decides a job's rows until it ends or this process stops. Returns whether the job has ended or was lost. */
  private async decideAll(job: store.Job, steps: Steps): Promise<boolean> {
    const { log } = this.context
    const pace: Pace = { isBusy: this.lookout(job), busyRows: limits.importBusyPortionRows }
    const keepStatistics = this.statistician(job)
    let failures = 0
    let hasFailed = false
    while (!this.loop.isStopping) {
      try {
        if (await this.attempt(job, steps, pace, hasFailed)) return true
        await keepStatistics()
        failures = 0
        hasFailed = false
      } catch (error) {
        if (store.jobLost.is(error)) return true
        if (tryAgain.is(error)) continue
        hasFailed = true
        log.warn({ err: error, ...named(job, steps) }, `${steps.noun} attempt failed; will retry`)
        if (databaseRefusal(error) === undefined && ++failures === limits.importFailures) {
          await this.giveUp(job, steps, error, attemptsFailed(failedJob(job, steps), error))
          return true
        }
        await this.loop.rest(againAfterMs, false)
      }
    }
    return false
  }

  private async giveUp(job: store.Job, steps: Steps, error: unknown, told: ToldFailure): Promise<void> {
    const { sql, log } = this.context
    log.error({ err: error, ...named(job, steps), at: job.place }, `${steps.noun} failed`)
    // If this fails too, the job is taken again and fails again.
    await store.failJob(sql, job, told).catch(() => {})
  }

  /** Runs one step. After a failure it reads the stored progress, as the lost response may have been a success. */
  private async attempt(job: store.Job, steps: Steps, pace: Pace, hasFailed: boolean) {
    if (hasFailed) await store.readPosition(this.context.sql, job)
    try {
      return await this.step(job, steps, pace, hasFailed)
    } catch (error) {
      if (!accessIsLost.is(error)) throw error
      await this.giveUp(job, steps, error, accessLost(failedJob(job, steps), error.detail))
      return true
    }
  }

  /** Decides the next rows; after a failure one by one, to find the faulty row. Returns whether the job ended. */
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
      // While it waits for a lock, a portion holds up nobody.
      const tookMs = performance.now() - beganAt - job.waitedMs
      pace.busyRows = busyRowsAfter(to - from, tookMs)
      from = to
      if (givesWay) await this.loop.rest(Math.min(tookMs * restShare, mostRestMs), false)
    } while (from < stretch.rows && !this.loop.isStopping)
    return false
  }

  /** Returns a function that tells whether others write. */
  private lookout(job: store.Job): () => Promise<boolean> {
    let [lookAt, isBusy] = [Number.NEGATIVE_INFINITY, false]
    return async () => {
      const now = performance.now()
      if (now < lookAt) return isBusy
      lookAt = now + busyMs
      isBusy = await store.areOthersWriting(this.context.sql, job, busyMs)
      return isBusy
    }
  }

  /** Analyzes the tables after the first portions, and whenever the rows have doubled. */
  private statistician(job: store.Job): () => Promise<void> {
    const { sql, log } = this.context
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

/** Returns the portion size for the fewest, nearly equal portions. */
const evenPart = (rows: number, most: number) => Math.ceil(rows / Math.max(1, Math.ceil(rows / most)))

function busyRowsAfter(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * busyPortionMs) / tookMs)
  return Math.min(Math.max(fitting, limits.importBusyPortionRows), limits.importPortionRows)
}

const named = ({ id }: store.Job, { noun }: Steps) => ({ [`${noun}Id`]: id })

const failedJob = ({ id, place }: store.Job, { noun }: Steps) => ({ noun, id, place })
