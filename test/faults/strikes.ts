import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { standStill } from '../kit/waits.ts'
import type { Killed, KillOrder } from './killer.ts'

/** Longer than a lease: when the process continues, another process has its job. */
const stillMs = 8_000

/** Strikes processes: kills them at any moment, or stops them for longer than a lease and then lets them continue. */
export class Striker {
  private readonly killer: ChildProcess
  private readonly lines: AsyncIterator<string>

  constructor() {
    this.killer = spawn(process.execPath, [join(import.meta.dirname, 'killer.ts'), String(seed)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.lines = createInterface(this.killer.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  }

  async strike(victim: Service, isStill: boolean): Promise<void> {
    const pid = victim.process.pid as number
    if (isStill) {
      await standStill((name) => process.kill(pid, name), stillMs)
      return
    }
    await this.kill([pid], 400)
    if (victim.process.exitCode === null && victim.process.signalCode === null) await once(victim.process, 'exit')
  }

  /** Kills these processes at a random moment; returns those that were still running. */
  async kill(pids: number[], withinMs: number): Promise<number[]> {
    const order: KillOrder = { pids, withinMs }
    this.killer.stdin?.write(`${JSON.stringify(order)}\n`)
    const { value } = await this.lines.next()
    return (JSON.parse(value) as Killed).pids
  }

  async end(): Promise<void> {
    this.killer.stdin?.end()
    await once(this.killer, 'exit')
  }
}
