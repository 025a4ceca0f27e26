import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { prepareDatabase } from './database.ts'
import { newDataDir, projectFolder } from './folders.ts'

const bun = join(projectFolder, 'node_modules', '.bin', 'bun')

export interface ServiceOptions {
  /**
   * `bun` runs the source, or the bundle that scripts/test.ts has built of it (FORECOURT_TEST_BUNDLE); `node` runs
   * dist/. Default: FORECOURT_TEST_RUNTIME, else bun.
   */
  runtime?: 'bun' | 'node'
  /** How many files the service may open. Default: the limit of this process. */
  openFiles?: number
  /** Environment variables besides the port, the data folder and the operator key. */
  env?: Record<string, string>
  /** Runs the source on Bun, even where a build exists. */
  isFromSource?: boolean
  /** Path of another checkout, to compare with this one. */
  checkout?: string
  /** An existing data folder. Default: a new folder that is removed at the end. */
  dataDir?: string
  /** Called with everything that the service writes to standard error, also before it is ready. */
  onStderr?: (words: string) => void
}

export interface Service {
  url: string
  operatorKey: string
  dataDir: string
  process: ChildProcess
  /** Everything written to standard output so far. */
  stdout(): string
  stderr(): string
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends a signal to the service's own process and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<void>
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts a real service on a free port; rejects with its output when it ends before it is ready. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const started = spawnService(options)
  const { child, dataDir, operatorKey, output } = started
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const ready = /^Forecourt is ready at (\S+)$/m.exec(output.stdout)
      if (ready?.[1] !== undefined) resolve(ready[1])
    }
    child.stdout?.on('data', look)
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${output.stderr}`)))
    setTimeout(() => reject(new Error(`the service is not ready: ${output.stderr}`)), 60_000).unref()
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const removeFolder = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
  return {
    url,
    operatorKey,
    dataDir,
    process: child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      removeFolder()
      return code
    },
    async kill(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Runs a service that is expected to end by itself. */
export async function runServiceToItsEnd(options: ServiceOptions = {}): Promise<Ended> {
  const { child, output } = spawnService(options)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, ...output }
}

function spawnService(options: ServiceOptions) {
  const runtime = options.runtime ?? (process.env.FORECOURT_TEST_RUNTIME === 'node' ? 'node' : 'bun')
  const dataDir = options.dataDir ?? newDataDir()
  const checkout = options.checkout ?? projectFolder
  if (options.dataDir === undefined && options.env?.DATABASE_URL === undefined) prepareDatabase(dataDir)
  const operatorKey = options.env?.FORECOURT_OPERATOR_KEY ?? randomBytes(24).toString('hex')
  const source = join(checkout, 'src', 'main.ts')
  const bundle = checkout === projectFolder && options.isFromSource !== true && process.env.FORECOURT_TEST_BUNDLE
  const [command, ...args] = runtime === 'node' ? ['node', join(checkout, 'dist', 'main.js')] : [bun, bundle || source]
  const environment: Record<string, string | undefined> = {
    ...process.env,
    // The same value as `npm start` sets.
    BUN_JSC_forceRAMSize: '536870912',
    FORECOURT_HOST: '127.0.0.1',
    FORECOURT_PORT: '0',
    FORECOURT_DATA_DIR: dataDir,
    FORECOURT_OPERATOR_KEY: operatorKey,
    FORECOURT_LOG_LEVEL: 'warn',
    FORECOURT_WORKERS: process.env.FORECOURT_TEST_WORKERS,
    DATABASE_URL: undefined,
    // Services that share a database need the same key for its secrets: the caller passes it in `env`.
    ...options.env,
  }
  const limited = ['-c', `ulimit -n ${options.openFiles} && exec "$@"`, 'sh', command as string, ...args]
  const [program, rest] = options.openFiles === undefined ? [command as string, args] : ['sh', limited]
  const child = spawn(program, rest, {
    env: environment as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (piece) => {
    output.stdout += piece
  })
  child.stderr?.on('data', (piece) => {
    output.stderr += piece
    options.onStderr?.(output.stderr)
  })
  return { child, dataDir, operatorKey, output }
}
