import type { BlockList } from 'node:net'
import { isIP } from 'node:net'
import type { HttpRequest } from './message.ts'

/**
 * Where a request came from: the peer, or, behind proxies that are trusted, the nearest address of `X-Forwarded-For`
 * that is not one of theirs. What stands before that one was written by the caller and proves nothing.
 */
export function sourceAddress(
  request: Pick<HttpRequest, 'header' | 'peerAddress'>,
  trustedProxies: BlockList | undefined,
): string {
  let address = plainAddress(request.peerAddress())
  if (trustedProxies === undefined) return address
  const forwarded = request.header('x-forwarded-for')?.split(',') ?? []
  while (isTrusted(address, trustedProxies)) {
    const before = plainAddress(forwarded.pop()?.trim() ?? '')
    if (isIP(before) === 0) break
    address = before
  }
  return address
}

function isTrusted(address: string, trustedProxies: BlockList): boolean {
  const version = isIP(address)
  return version !== 0 && trustedProxies.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** Without the brackets and the port that some proxies write, and without IPv6's form of an IPv4 address. */
function plainAddress(written: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(written)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(written)?.[1] ?? written
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}
