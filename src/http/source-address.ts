import { BlockList, isIP } from 'node:net'
import type { Logger } from 'pino'
import type { Network } from '../runtime/setting-values.ts'
import type { HttpRequest } from './message.ts'

export function listOf(networks: readonly Network[]): BlockList {
  const list = new BlockList()
  for (const { address, bits, family } of networks) list.addSubnet(address, bits, family)
  return list
}

/** Behind trusted proxies, the last forwarded address that is not theirs: the client may have written earlier ones. */
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

/** Warns once if requests come through a proxy that is not trusted. */
export function sourceFinder(
  trustedProxies: BlockList | undefined,
  log: Pick<Logger, 'warn'>,
): (request: HttpRequest) => string {
  let isTold = false
  return (request) => {
    const address = sourceAddress(request, trustedProxies)
    if (isTold || request.header('x-forwarded-for') === null) return address
    const peer = plainAddress(request.peerAddress())
    if (trustedProxies === undefined || !isTrusted(peer, trustedProxies)) {
      isTold = true
      log.warn(
        { peer },
        'X-Forwarded-For from an untrusted address; all callers behind it count as one. If this is your proxy, add it to FORECOURT_TRUSTED_PROXIES',
      )
    }
    return address
  }
}

export function isTrusted(address: string, trustedProxies: BlockList): boolean {
  const version = isIP(address)
  return version !== 0 && trustedProxies.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** Removes the brackets and the port that some proxies write, and IPv6's form of an IPv4 address. */
export function plainAddress(written: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(written)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(written)?.[1] ?? written
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** By which failures are counted: an IPv4 address, or the 64 bits of IPv6 that one customer has. */
export function sourceNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  // An IPv4 address at the end takes the place of two groups.
  const after = tail === undefined || tail === '' ? [] : tail.replace(/(\d+\.){3}\d+$/, '0:0').split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
