import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export type PortUse =
  | { kind: 'free' | 'forbidden' | 'unusable'; reason?: string }
  | { kind: 'service'; isReady: boolean; failing: string[]; workers?: { serving: number; wanted: number } }
  | { kind: 'other'; program: string | undefined }

interface Readiness {
  data?: {
    ready: boolean
    checks: { name: string; ok: boolean }[]
    workers?: { serving: number; wanted: number }
  } | null
}

const answersWithinMs = 3_000

export async function findPortUse(host: string, port: number): Promise<PortUse> {
  const reason = await tryToListen(host, port)
  if (reason === undefined) return { kind: 'free' }
  if (reason === 'EACCES') return { kind: 'forbidden' }
  if (reason !== 'EADDRINUSE') return { kind: 'unusable', reason }
  return (await askService(host, port)) ?? { kind: 'other', program: findProgram(port) }
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}

async function askService(host: string, port: number): Promise<PortUse | undefined> {
  const asked = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  const late = new AbortController()
  // Not AbortSignal.timeout, which lets Node end while nothing else is awaited.
  const timer = setTimeout(() => late.abort(), answersWithinMs)
  try {
    const answer = await fetch(`http://${asked}:${port}/readyz`, { signal: late.signal })
    if (!answer.headers.has('x-request-id')) return undefined
    const { data } = (await answer.json()) as Readiness
    const failing = data?.checks.filter(({ ok }) => !ok).map(({ name }) => name) ?? []
    return { kind: 'service', isReady: answer.ok, failing, ...(data?.workers && { workers: data.workers }) }
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Undefined if the system does not show it to this user. */
function findProgram(port: number): string | undefined {
  try {
    const sockets = new Set(['tcp', 'tcp6'].flatMap((name) => socketsAt(port, join('/proc/net', name))))
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holdsOne(name, sockets))
    return pid === undefined ? undefined : `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} (process ${pid})`
  } catch {
    return undefined
  }
}

function socketsAt(port: number, path: string): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1)
  const fields = lines.map((line) => line.trim().split(/\s+/))
  return fields
    .filter(([, local, , state]) => local?.endsWith(wanted) && state === '0A')
    .map((columns) => `socket:[${columns[9]}]`)
}

function holdsOne(pid: string, sockets: Set<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((name) => sockets.has(linkOf(join(folder, name))))
  } catch {
    // The process belongs to another user, or has just ended.
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
