import { test } from 'bun:test'
import { randomInt } from 'node:crypto'

/** FORECOURT_TEST_SEED repeats a run's random choices, though not the machine's timing; the runner of tests prints it. */
export const seed = Number(process.env.FORECOURT_TEST_SEED ?? randomInt(2 ** 31))

/** Whether this is the long run, `npm run test:long`, where tests may take any time. */
export const isLong = process.env.FORECOURT_TEST_LONG !== undefined

/** Chooses between a value for the short run, which checks every change, and one for the long run. */
export function atScale<T>(inGate: T, full: T): T {
  return isLong ? full : inGate
}

/** Random numbers from 0 to 1 that the seed determines (mulberry32). */
export function randomNumbers(start: number): () => number {
  let state = start | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Prints a measured result. */
export function tell(line: string): void {
  process.stdout.write(`    ${line}\n`)
}

/** The median, p99 and maximum of some durations, as text. */
export function distribution(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

/** For the long run only; in the short one the report shows it as skipped. */
export const longTest = test.skipIf(!isLong)
