import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from './service.ts'
import { becomesTrue } from './waits.ts'

/** The limit of processor time in milliseconds; other processes on a busy machine do not add to it. */
export const heldAtMostMs = 50

/**
 * Runs inside the service's process. At SIGUSR2 it prints the longest time that the event loop was blocked since the
 * last signal, measured as the thread's processor time between two ticks of a timer that is always due.
 */
const probe = `
import { readFileSync } from 'node:fs'
const used = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
let last = used()
let longest = 0
setInterval(() => {
  const now = used()
  longest = Math.max(longest, now - last)
  last = now
}, 1).unref()
process.on('SIGUSR2', () => {
  process.stderr.write('held ' + longest.toFixed(1) + '\\n')
  longest = 0
})
`

/** The environment variables that load the measurement into a service; its file is written to `folder`. */
export function watchedEnvironment(folder: string, runtime: 'bun' | 'node'): Record<string, string> {
  const file = join(folder, 'held.mjs')
  writeFileSync(file, probe)
  return runtime === 'node' ? { NODE_OPTIONS: `--import ${file}` } : { BUN_OPTIONS: `--preload ${file}` }
}

/** The longest time in milliseconds that the event loop was blocked since the last call. */
export async function heldMs(service: Service): Promise<number> {
  const from = service.stderr().length
  service.process.kill('SIGUSR2')
  const told = () => /held ([\d.]+)/.exec(service.stderr().slice(from))
  await becomesTrue(() => told() !== null)
  return Number(told()?.[1])
}
