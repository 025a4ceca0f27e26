/**
 * The outside hand: a process of its own that kills others with SIGKILL at random moments. Each line of its standard
 * input is an order, and is answered by a line once it is carried out. Ends with its standard input.
 */
import { createInterface } from 'node:readline'
import { randomNumbers, sleep } from './support.ts'

export interface KillOrder {
  pids: number[]
  /** The moment is somewhere between now and this many milliseconds from now. */
  withinMs: number
}

export interface Killed {
  /** Those that were there to be killed. */
  pids: number[]
  afterMs: number
}

const random = randomNumbers(Number(process.argv[2]))

for await (const line of createInterface(process.stdin)) {
  const { pids, withinMs } = JSON.parse(line) as KillOrder
  const afterMs = Math.round(random() * withinMs)
  await sleep(afterMs)
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
