import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createDevice } from '../src/devices/contract.ts'
import { Client } from '../test/kit/client.ts'
import { newApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import type { Database } from './cluster.ts'

/** A server under load, and what a request to it needs. */
export interface Server {
  name: string
  pid: number
  url: string
  appId: string
  token: string
  /** The database of the devices; the floor has none. */
  database?: Database
  stop(): Promise<unknown>
}

/** A server that stores what it responds to. */
export type Registry = Server & { database: Database }

export const createDevicePath = createDevice.path

/** Forecourt, with a client that acts as an operator. */
export type Service = Registry & { client: Client }

/** Starts Forecourt on a database of its own, with one application that has no rate limit. */
export async function startForecourt(
  name: string,
  runtime: 'bun' | 'node',
  database: Database,
  env: Record<string, string> = {},
  checkout?: string,
): Promise<Service> {
  const from = checkout === undefined ? {} : { checkout }
  const service = await startService({ runtime, env: { DATABASE_URL: database.url, ...env }, ...from })
  const client = new Client(service)
  const { appId, token } = await newApplication(client)
  const { pid } = service.process
  return {
    name,
    pid: pid as number,
    url: service.url + createDevicePath,
    appId,
    token,
    database,
    client,
    stop: () => service.stop(),
  }
}

/** The servers that Forecourt is compared with: files of this folder, with their arguments. */
export const baselines = {
  plain: ['baseline.mjs'],
  prepared: ['baseline.mjs', 'prepared'],
  nest: ['nest/dist/main.js'],
}

/** Starts a baseline with a database of its own, and an application that has a token. */
export async function startBaseline(name: string, database: Database, args: string[]): Promise<Registry> {
  const { child, url } = await startServer('node', args, database.env)
  const appId = randomBytes(10).toString('hex')
  const token = randomBytes(32).toString('base64url')
  const hash = createHash('sha256').update(token).digest('base64')
  await database.sql`insert into application (app_id) values (${appId})`
  await database.sql`insert into access_token (token_hash, app_id) values (${hash}, ${appId})`
  return { name, pid: child.pid as number, url: url + createDevicePath, appId, token, database, stop: () => end(child) }
}

export async function startEcho(name: string): Promise<Server> {
  const { child, url } = await startServer(process.execPath, ['echo.ts'], {})
  // The ids have the same lengths as real ones.
  const appId = randomBytes(10).toString('hex')
  const token = randomBytes(32).toString('base64url')
  return { name, pid: child.pid as number, url: url + createDevicePath, appId, token, stop: () => end(child) }
}

/** Starts a server that passes each body that it gets to all readers of its streams. */
export async function startStreamFloor() {
  const { child, url } = await startServer(process.execPath, ['stream-floor.ts'], {})
  return { url, pid: child.pid as number, stop: () => end(child) }
}

/** Starts a receiver of callbacks. Returns its address. */
export async function startReceiver(delayMs: number) {
  const { child, url } = await startServer(process.execPath, ['receiver.ts', String(delayMs)], {})
  return { url, pid: child.pid as number, stop: () => end(child) }
}

/** Starts one of the servers of this folder; each prints its address. */
async function startServer(command: string, args: string[], env: Record<string, string>) {
  const child = spawn(command, args, {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (piece) => {
      output += piece
      const ready = /^ready at (\S+)$/m.exec(output)
      if (ready?.[1] !== undefined) resolve(ready[1])
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`bench/${args[0]} ended with ${code} before it was ready.`)))
  })
  return { child, url }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
