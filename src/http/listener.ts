import type { BlockList } from 'node:net'
import { isTrusted, plainAddress } from './source-address.ts'

export interface Listener {
  /** For example http://127.0.0.1:8080. */
  url: string
  /** Stops accepting connections, answers all accepted requests, then closes the rest. */
  stop(): Promise<void>
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

export const forwardedScheme = 'x-forwarded-proto'

/** Null unless the peer is a trusted proxy. In a chain each proxy adds its scheme; the first is the client's. */
export function trustedScheme(value: string, peer: string, proxies: BlockList | undefined): string | null {
  if (proxies === undefined || !isTrusted(plainAddress(peer), proxies)) return null
  return (value.split(',', 1)[0] as string).trim().toLowerCase()
}

/** A path, or, as proxies may send it and as Bun shows it, a whole URL. */
export function splitTarget(target: string): { path: string; query: string } {
  const from = target.startsWith('/') ? 0 : Math.max(0, target.indexOf('/', target.indexOf('://') + 3))
  const mark = target.indexOf('?', from)
  return mark === -1
    ? { path: target.slice(from), query: '' }
    : { path: target.slice(from, mark), query: target.slice(mark + 1) }
}
