import { once } from 'node:events'
import { randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, standStill } from '../kit/waits.ts'

/** Longer than a lease: when the process continues, another process has its job. */
const stillMs = 8_000
const random = randomNumbers(seed)

/** Kills these processes at a random moment; returns those that were still running. */
export async function killAtAnyMoment(pids: readonly number[], withinMs: number): Promise<number[]> {
  await anyMoment(random, withinMs)
  return pids.filter((pid) => {
    try {
      return process.kill(pid, 'SIGKILL')
    } catch {
      return false
    }
  })
}

/** Kills a service at any moment, or stops it for longer than a lease and then lets it continue. */
export async function strike(service: Service, isStill = false): Promise<void> {
  const { process: child } = service
  if (isStill) return standStill((name) => child.kill(name), stillMs)
  await killAtAnyMoment([child.pid as number], 400)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
