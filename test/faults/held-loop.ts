import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../harness.ts'
import { sleep } from './support.ts'

/** Processor time: other processes' use of a busy machine does not count. */
export const heldAtMostMs = 50

/**
 * Runs in the service's own process. At SIGUSR2 it prints the longest time that the event loop was held since the last
 * signal: the processor time that its thread used between two ticks of a timer that is always due.
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

/** The environment in which a service of a runtime is watched; the probe's file is put into a folder. */
export function watchedEnvironment(folder: string, runtime: 'bun' | 'node'): Record<string, string> {
  const file = join(folder, 'held.mjs')
  writeFileSync(file, probe)
  return runtime === 'node' ? { NODE_OPTIONS: `--import ${file}` } : { BUN_OPTIONS: `--preload ${file}` }
}

/** How long the event loop of a watched service was held at most since the last time that this was asked. */
export async function heldMs(service: Service): Promise<number> {
  const from = service.stderr().length
  service.process.kill('SIGUSR2')
  for (;;) {
    const told = /held ([\d.]+)/.exec(service.stderr().slice(from))
    if (told !== null) return Number(told[1])
    await sleep(5)
  }
}
