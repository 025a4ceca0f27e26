import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type MetricsSnapshot, mergeMetrics, withoutGauges } from '../runtime/metrics.ts'
import { Claims, type Topic, type WorkerStatus } from '../runtime/peer-processes.ts'
import { UserError } from '../runtime/user-error.ts'
import type { Question, Request, ServeOrder, ToParent, ToWorker } from './messages.ts'

/** A stopped process does not respond. */
const answerWithinMs: Record<Topic, number> = { rate: 250, access: 900, regions: 900, metrics: 3_000 }
/** A worker that lived this long was healthy; after a shorter life its replacement waits, longer each time. */
const inOrderMs = 10_000
const longestPauseMs = 10_000

interface Member {
  worker: Worker
  pid: number | undefined
  bornAt: number
  isServing: boolean
  metrics: MetricsSnapshot
  ended: Promise<void>
}

interface Asked {
  waiting: Set<Member>
  answers: Map<Member, unknown>
  settle: () => void
}

/** The parent serves no requests itself; it holds the state that must be in one place. */
export class Workers {
  private readonly order: ServeOrder
  private readonly log: Logger
  private readonly members = new Set<Member>()
  private readonly claims = new Claims<Member>()
  private readonly asked = new Map<number, Asked>()
  private questions = 0
  private isStarted = false
  private readonly stopping = new AbortController()
  private failures = 0
  /** The counters of ended workers: without them the sums would fall, which looks like a restart of the service. */
  private counted: MetricsSnapshot = []

  constructor(order: ServeOrder, log: Logger) {
    this.order = order
    this.log = log
  }

  /** Resolves when all workers serve. Rejects with the reason why one of them cannot. */
  async start(): Promise<void> {
    const file = import.meta.filename.replace(/[^/\\]+(\.\w+)$/, 'worker$1')
    // On Node all workers accept from the shared socket: a connection handed to a worker that has just died would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ exec: file, serialization: 'advanced' })
    // For any end of this process, also one that does not wait for the workers.
    process.on('exit', () => {
      for (const { worker } of this.members) worker.process.kill('SIGKILL')
    })
    await Promise.all(Array.from({ length: this.order.config.workers }, () => this.launch()))
    this.isStarted = true
    this.tellStatus()
  }

  /** Resolves when the workers have answered what they accepted, and ended. */
  async stop(): Promise<void> {
    this.stopping.abort()
    for (const { worker } of this.members) worker.process.kill('SIGTERM')
    await Promise.all([...this.members].map(({ ended }) => ended))
  }

  private launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = cluster.fork()
      const member: Member = {
        worker,
        pid: worker.process.pid,
        bornAt: performance.now(),
        isServing: false,
        metrics: [],
        ended: new Promise((end) => worker.once('exit', () => end())),
      }
      this.members.add(member)
      worker.on('message', (message: ToParent) => {
        if (message.kind === 'hearing') this.send(member, { kind: 'serve', order: this.order, workers: this.status })
        else if (message.kind === 'serving') {
          member.isServing = true
          this.tellStatus()
          resolve()
        } else if (message.kind === 'failed') reject(new UserError(message.reason))
        else void this.hear(member, message)
      })
      worker.on('error', (error) => this.log.warn({ err: error, pid: member.pid }, 'worker process unreachable'))
      worker.once('exit', (code, signal) => {
        this.lose(member, code, signal)
        reject(new UserError(`A worker exited with ${signal || code} before it was ready.`))
      })
    })
  }

  private lose(member: Member, code: number, signal: string): void {
    this.members.delete(member)
    this.claims.releaseAllOf(member)
    for (const asked of this.asked.values()) if (asked.waiting.delete(member)) asked.settle()
    this.counted = mergeMetrics([this.counted, withoutGauges(member.metrics)]).getMetricsAsArray()
    this.tellStatus()
    if (!this.isStarted || this.stopping.signal.aborted) return
    const wasInOrder = performance.now() - member.bornAt > inOrderMs
    this.failures = wasInOrder ? 0 : this.failures + 1
    const pauseMs = wasInOrder ? 0 : Math.min(longestPauseMs, 100 * 2 ** this.failures)
    this.log.warn({ pid: member.pid, code, signal, pauseMs }, 'worker exited; starting a replacement')
    void this.replace(pauseMs)
  }

  private async replace(pauseMs: number): Promise<void> {
    const { signal } = this.stopping
    await pause(pauseMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    // The replacement's own end starts the next one.
    await this.launch().catch((error: Error) => this.log.error(`worker failed to start: ${error.message}`))
  }

  private get serving(): Member[] {
    return [...this.members].filter(({ isServing }) => isServing)
  }

  private get status(): WorkerStatus {
    return { serving: this.serving.length, wanted: this.order.config.workers, isStarted: this.isStarted }
  }

  private tellStatus(): void {
    const { status } = this
    for (const member of this.members) this.send(member, { kind: 'workers', workers: status })
  }

  private send({ worker }: Member, message: ToWorker): void {
    // A worker that is about to end takes no messages; its exit event follows.
    if (worker.isConnected()) worker.send(message, () => {})
  }

  private async hear(
    member: Member,
    message: Exclude<ToParent, { kind: 'hearing' | 'serving' | 'failed' }>,
  ): Promise<void> {
    if (message.kind === 'answer') {
      const asked = this.asked.get(message.id)
      if (asked === undefined || !asked.waiting.delete(member)) return
      if (message.answer !== undefined) asked.answers.set(member, message.answer)
      asked.settle()
    } else if (message.kind === 'release') this.claims.release(message.key, member)
    else this.send(member, { kind: 'reply', id: message.id, reply: await this.replyTo(member, message.request) })
  }

  private async replyTo(member: Member, request: Request): Promise<unknown> {
    if (request.what === 'claim') return this.claims.claim(request.key, member, request.most)
    if (request.what === 'metrics') return this.metrics()
    const others = this.serving.filter((other) => other !== member)
    return [...(await this.gather(request.asked, others)).values()]
  }

  private gather(question: Question, members: Member[]): Promise<Map<Member, unknown>> {
    return new Promise((resolve) => {
      const id = this.questions++
      const waiting = new Set(members)
      const answers = new Map<Member, unknown>()
      const end = () => {
        clearTimeout(late)
        this.asked.delete(id)
        resolve(answers)
      }
      const late = setTimeout(end, answerWithinMs[question.topic])
      const settle = () => {
        if (waiting.size === 0) end()
      }
      this.asked.set(id, { waiting, answers, settle })
      for (const member of members) this.send(member, { kind: 'question', id, asked: question })
      settle()
    })
  }

  /** Includes the counters of ended workers. A worker that does not respond counts with its last figures. */
  private async metrics(): Promise<string> {
    const answers = await this.gather({ topic: 'metrics', question: null }, this.serving)
    for (const [member, answer] of answers) member.metrics = answer as MetricsSnapshot
    const told = this.serving.map((member) => (answers.has(member) ? member.metrics : withoutGauges(member.metrics)))
    return mergeMetrics([...told, this.counted]).metrics()
  }
}
