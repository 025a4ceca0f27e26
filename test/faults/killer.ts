/**
 * A separate process that kills others with SIGKILL at random moments. Each line of its standard input is an order; it
 * prints a line once the order is carried out. It ends when its standard input is closed.
 */
import { createInterface } from 'node:readline'
import { randomNumbers } from '../kit/scale.ts'
import { anyMoment } from '../kit/waits.ts'

export interface KillOrder {
  pids: number[]
  /** The kill happens at a random moment within this many milliseconds. */
  withinMs: number
}

export interface Killed {
  /** The processes that were still running. */
  pids: number[]
  afterMs: number
}

const random = randomNumbers(Number(process.argv[2]))

for await (const line of createInterface(process.stdin)) {
  const { pids, withinMs } = JSON.parse(line) as KillOrder
  const afterMs = Math.round(await anyMoment(random, withinMs))
  const killed: Killed = { pids: pids.filter(kill), afterMs }
  process.stdout.write(`${JSON.stringify(killed)}\n`)
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
