import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { startRounds } from './loop.ts'

const batchSizeBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A longer block of the event loop is always seen. */
const loopLookMs = 100

/** The outcome of an attempt, by the delivery's status, from 1 on. */
const attemptOutcomes = ['retry', 'delivered', 'dead']

const signInOutcomes = ['succeeded', 'refused', 'locked'] as const

/** Classes of SQLSTATE, and `connection`. */
const databaseFailures = ['connection', '08', '40', '53', '57', '58']

/** Other applications are counted together, so that the metrics stay small. */
const mostNamed = 50

/** Standard names, which both runtimes have. */
const processMetrics = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
]

export type MetricsSnapshot = readonly { name: string; type: unknown }[]

/** Sums counts, and merges gauges as they say. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots])
}

/** After a process has ended only its counters still mean something. */
export function withoutGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

type Merged = 'sum' | 'first' | 'min' | 'max'

export interface GaugeOptions {
  name: string
  help: string
  merged: Merged
}

/** Values by the text of their labels; undefined while they are not known. */
export type Readings = Record<string, number> | undefined

/** Children are looked up once per label set, so that a request costs two additions. */
export class Metrics {
  readonly registry = new Registry()
  private readonly requests = new Counter({
    name: 'forecourt_requests_total',
    help: 'Requests answered, by operation and result code (0 is success).',
    labelNames: ['operation', 'code'],
    registers: [this.registry],
  })
  private readonly latency = new Histogram({
    name: 'forecourt_request_duration_seconds',
    help: 'Request duration, by operation.',
    labelNames: ['operation'],
    buckets: latencyBuckets,
    registers: [this.registry],
  })
  private readonly batches = new Histogram({
    name: 'forecourt_batch_size',
    help: 'Creates in one group commit, by lane.',
    labelNames: ['lane'],
    buckets: batchSizeBuckets,
    registers: [this.registry],
  })
  private readonly attempts = new Histogram({
    name: 'forecourt_callback_attempt_duration_seconds',
    help: 'Time from the start of a callback to its response, by the outcome of its delivery.',
    labelNames: ['outcome'],
    buckets: latencyBuckets,
    registers: [this.registry],
  })
  private readonly rateLimited = new Counter({
    name: 'forecourt_rate_limited_total',
    help: `Requests over an application’s rate limit. Each process names its first ${mostNamed} applications; the others count as "other".`,
    labelNames: ['app_id'],
    registers: [this.registry],
  })
  private readonly limitedApplications = new Set<string>()
  private readonly signIns = new Counter({
    name: 'forecourt_sign_ins_total',
    help: 'Sign-ins of operators: succeeded, refused (wrong password or key), locked (too many wrong attempts).',
    labelNames: ['outcome'],
    registers: [this.registry],
  })
  private readonly databaseErrors = new Counter({
    name: 'forecourt_database_errors_total',
    help: 'Requests that failed because of the database, by the class of the SQLSTATE, or "connection".',
    labelNames: ['class'],
    registers: [this.registry],
  })
  private readonly loopDelay = new Histogram({
    name: 'forecourt_event_loop_delay_seconds',
    help: `How late the event loop was, measured every ${loopLookMs} ms.`,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [this.registry],
  })
  private readonly attemptChildren = attemptOutcomes.map((outcome) => this.attempts.labels(outcome))
  private readonly requestChildren = new Map<string, Map<number, Counter.Internal>>()
  private readonly latencyChildren = new Map<string, Histogram.Internal<string>>()

  readonly totals = { creates: 0, siteCreates: 0 }

  /** Counters with known labels begin at 0: for `increase()`, a first value of 1 would be no increase. */
  constructor() {
    this.rateLimited.inc({ app_id: 'other' }, 0)
    for (const outcome of signInOutcomes) this.signIns.inc({ outcome }, 0)
    for (const kind of databaseFailures) this.databaseErrors.inc({ class: kind }, 0)
    for (const outcome of attemptOutcomes) this.attempts.zero({ outcome })
  }

  watchProcess(about: { version: string; runtime: string }): () => void {
    const { registry } = this
    new Gauge({
      name: 'forecourt_build_info',
      help: 'The version of the program and its runtime; always 1.',
      aggregator: 'first',
      labelNames: ['version', 'runtime'],
      registers: [registry],
    }).set(about, 1)
    const standard = new Registry()
    // `forecourt_event_loop_delay_seconds` instead: it is the same on both runtimes, and can be summed.
    collectDefaultMetrics({ register: standard, eventLoopMonitoringPrecision: 60_000 })
    for (const name of processMetrics) {
      const metric = standard.getSingleMetric(name)
      if (metric !== undefined) registry.registerMetric(metric)
    }
    const startedAt = Math.round(Date.now() / 1000 - process.uptime())
    const help = 'When the process started, in Unix time; with several processes, the newest one.'
    this.gauge({ name: 'process_start_time_seconds', help, merged: 'max' }, () => startedAt)
    let dueAt = performance.now() + loopLookMs
    const rounds = startRounds(() => {
      const now = performance.now()
      this.loopDelay.observe(Math.max(0, now - dueAt) / 1000)
      dueAt = now + loopLookMs
    }, loopLookMs)
    return () => void rounds.stop()
  }

  /** Counts begin at 0, for success and for each refusal that the operation can give. */
  expect(operation: string, codes: Iterable<number>): void {
    for (const code of codes) this.childOf(operation, code)
  }

  countRateLimited(appId: string): void {
    const { limitedApplications: named } = this
    if (named.size < mostNamed) named.add(appId)
    this.rateLimited.inc({ app_id: named.has(appId) ? appId : 'other' })
  }

  countSignIn(outcome: (typeof signInOutcomes)[number]): void {
    this.signIns.inc({ outcome })
  }

  countDatabaseError(kind: string): void {
    this.databaseErrors.inc({ class: kind })
  }

  countCreates(records: number, kind: 'devices' | 'sites'): void {
    this.totals.creates += records
    if (kind === 'sites') this.totals.siteCreates += records
  }

  observe(operation: string, code: number, seconds: number): void {
    this.childOf(operation, code).inc()
    let latency = this.latencyChildren.get(operation)
    if (latency === undefined) {
      latency = this.latency.labels(operation)
      this.latencyChildren.set(operation, latency)
    }
    latency.observe(seconds)
  }

  private childOf(operation: string, code: number): Counter.Internal {
    let codes = this.requestChildren.get(operation)
    if (codes === undefined) {
      codes = new Map()
      this.requestChildren.set(operation, codes)
    }
    let child = codes.get(code)
    if (child === undefined) {
      child = this.requests.labels(operation, String(code))
      child.inc(0)
      codes.set(code, child)
    }
    return child
  }

  observeBatch(lane: string, size: number): void {
    this.batches.labels(lane).observe(size)
  }

  /** `status` is the delivery's after the attempt. */
  observeAttempt(status: number, seconds: number): void {
    this.attemptChildren[status - 1]?.observe(seconds)
  }

  /** Read at each scrape; absent while it is unknown. */
  gauge({ name, help, merged }: GaugeOptions, read: () => number | undefined | Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      aggregator: merged,
      registers: [this.registry],
      async collect() {
        const value = await read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }

  /** Kept elsewhere, and read at each scrape. */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  /** Read at each scrape; absent while they are unknown. */
  gaugeBy(label: string, { name, help, merged }: GaugeOptions, read: () => Readings | Promise<Readings>): void {
    new Gauge({
      name,
      help,
      aggregator: merged,
      labelNames: [label],
      registers: [this.registry],
      async collect() {
        this.reset()
        for (const [value, reading] of Object.entries((await read()) ?? {})) this.set({ [label]: value }, reading)
      },
    })
  }
}
