import { inTime } from './event-loop.ts'

export interface Cached<Value> {
  (): Promise<Value>
  /** Joins a run under way, but takes no answer of before. */
  anew(): Promise<Value>
}

/** Callers share one run, and its answer for `freshMs` after its end. A failure is only told to those who waited for it. */
export function cached<Value>(run: () => Promise<Value>, freshMs: number): Cached<Value> {
  let underWay: Promise<Value> | undefined
  let answer: { value: Value; until: number } | undefined
  const anew = () => {
    underWay ??= run()
      .then((value) => {
        answer = { value, until: performance.now() + freshMs }
        return value
      })
      .finally(() => {
        underWay = undefined
      })
    return underWay
  }
  const read = () => (answer !== undefined && performance.now() < answer.until ? Promise.resolve(answer.value) : anew())
  return Object.assign(read, { anew })
}

/** Undefined if it fails or takes too long. */
export function lately<Value>(
  ask: () => Promise<Value>,
  { freshMs, timeoutMs }: { freshMs: number; timeoutMs: number },
): () => Promise<Value | undefined> {
  const read = cached(ask, freshMs)
  return () => inTime(read(), undefined, timeoutMs)
}
