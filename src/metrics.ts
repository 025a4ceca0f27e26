import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client'

const batchSizeBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** By the status of the delivery, from 1 on. */
const attemptOutcomes = ['retry', 'delivered', 'dead']

/** All metrics of a process as they are at a moment. */
export type MetricsSnapshot = readonly { name: string; type: unknown }[]

/** Metrics of several processes as those of one: counts are summed, and so are gauges of a process. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots])
}

/** What stays true of a process that is not there any more. */
export function withoutGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

/** A gauge's value is one process's, and the service's is their sum; or each tells the same of the service. */
type GaugeOf = 'process' | 'service'
const aggregators = { process: 'sum', service: 'first' } as const

/** What `/metrics` shows. Children are looked up once per label set, so that a request costs two additions. */
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
    help: 'Time from a request’s head to its answer, by operation.',
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
    help: 'Time from a callback’s beginning to its answer, by what became of its delivery.',
    labelNames: ['outcome'],
    buckets: latencyBuckets,
    registers: [this.registry],
  })
  private readonly attemptChildren = attemptOutcomes.map((outcome) => this.attempts.labels(outcome))
  private readonly requestChildren = new Map<string, Map<number, Counter.Internal>>()
  private readonly latencyChildren = new Map<string, Histogram.Internal<string>>()

  /** Records made and requests refused since the start. */
  readonly totals = { creates: 0, refusals: 0 }

  /** Counts records that one request has made. */
  countCreates(records: number): void {
    this.totals.creates += records
  }

  observe(operation: string, code: number, seconds: number): void {
    let codes = this.requestChildren.get(operation)
    if (codes === undefined) {
      codes = new Map()
      this.requestChildren.set(operation, codes)
      this.latencyChildren.set(operation, this.latency.labels(operation))
    }
    let child = codes.get(code)
    if (child === undefined) {
      child = this.requests.labels(operation, String(code))
      codes.set(code, child)
    }
    child.inc()
    if (code !== 0) this.totals.refusals++
    this.latencyChildren.get(operation)?.observe(seconds)
  }

  observeBatch(lane: string, size: number): void {
    this.batches.labels(lane).observe(size)
  }

  /** An attempt of a callback, with the status that its delivery has since. */
  observeAttempt(status: number, seconds: number): void {
    this.attemptChildren[status - 1]?.observe(seconds)
  }

  /** A value that is read when it is asked for. */
  gauge(name: string, help: string, read: () => number | Promise<number>, of: GaugeOf = 'process'): void {
    new Gauge({
      name,
      help,
      aggregator: aggregators[of],
      registers: [this.registry],
      async collect() {
        this.set(await read())
      },
    })
  }

  /** Counts by state that are read when they are asked for. */
  gaugeByState(
    name: string,
    help: string,
    read: () => Promise<{ state: string; count: number }[]>,
    of: GaugeOf = 'process',
  ): void {
    new Gauge({
      name,
      help,
      aggregator: aggregators[of],
      labelNames: ['state'],
      registers: [this.registry],
      async collect() {
        this.reset()
        for (const { state, count } of await read()) this.set({ state }, count)
      },
    })
  }
}
