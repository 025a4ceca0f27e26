// What a command of the command line takes, run as an operator runs it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { projectFolder } from '../test/kit/folders.ts'
import { databaseCpu, processCpu, residentMegabytes } from './cpu.ts'

const lookEveryMs = 50

export interface CommandFigure {
  seconds: number
  /** Processor time of the command and of the database. */
  ownSeconds: number
  databaseSeconds: number
  peakMegabytes: number
}

/** Runs a command on a database of this postmaster, to its end. */
export async function measureCommand(
  runtime: 'bun' | 'node',
  args: string[],
  url: string,
  postmaster: number,
): Promise<CommandFigure> {
  const [command, main] = runtime === 'node' ? ['node', 'dist/cli/main.js'] : [process.execPath, 'src/cli/main.ts']
  const databaseBefore = databaseCpu(postmaster)
  const began = performance.now()
  const child: ChildProcess = spawn(command, [join(projectFolder, main), ...args], {
    cwd: projectFolder,
    env: { ...process.env, DATABASE_URL: url, BUN_JSC_forceRAMSize: '536870912' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let [peak, own] = [0, 0]
  const timer = setInterval(() => {
    try {
      own = processCpu(child.pid as number)
      // A process that has ended but was not waited for shows no memory.
      peak = residentMegabytes(child.pid as number).peak || peak
    } catch {
      // It has just ended.
    }
  }, lookEveryMs)
  const [code] = await once(child, 'exit')
  clearInterval(timer)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return {
    seconds: (performance.now() - began) / 1000,
    ownSeconds: own / 1e6,
    databaseSeconds: (databaseCpu(postmaster) - databaseBefore) / 1e6,
    peakMegabytes: peak,
  }
}
