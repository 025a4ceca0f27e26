// How long requests take, one after the other.

/** The number of requests of each kind, or fewer if the time is over. */
export const requests = 200
export const mostMs = 4_000
/** Requests of each kind before the measurement. */
const warmUps = 5

export interface Timing {
  p50: number
  p99: number
  max: number
  /** Milliseconds of processor time a request, the database's included. */
  cpu: number
}

/** Sends these queries in turn. `cpu` reads the processor time of service and database, in microseconds. */
export async function timeRequests<Query extends object>(
  queries: readonly Query[],
  cpu: () => number,
  ask: (query: Query | Record<string, never>) => Promise<void>,
): Promise<Timing> {
  const took: number[] = []
  const unmeasured = Math.max(warmUps, queries.length)
  let endsAt = Number.POSITIVE_INFINITY
  let cpuBefore = 0
  for (let index = 0; index < requests + unmeasured && performance.now() < endsAt; index++) {
    const began = performance.now()
    await ask(queries[index % queries.length] ?? {})
    // The first requests do not count: they may read pages that are not in memory, and the engine compiles the code.
    if (index >= unmeasured) took.push(performance.now() - began)
    else [endsAt, cpuBefore] = [performance.now() + mostMs, cpu()]
  }
  return { ...timingOf(took), cpu: (cpu() - cpuBefore) / 1000 / took.length }
}

export function timingOf(took: number[]): Pick<Timing, 'p50' | 'p99' | 'max'> {
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

export function shown({ p50, p99, max }: Pick<Timing, 'p50' | 'p99' | 'max'>): string[] {
  return [p50, p99, max].map((value) => value.toFixed(1))
}
