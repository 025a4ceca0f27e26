import { BlockList, isIP } from 'node:net'
import type { Reason } from '../vocabulary/refusals.ts'

const privateAddresses = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // A cloud's own agent and metadata address, although it lies among public ones.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4')
}
/** Of IPv6, only global unicast is public; these lie inside it and embed or reserve what is not. */
const unsafeGlobalUnicast = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  unsafeGlobalUnicast.addSubnet(network, prefix, 'ipv6')
}
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is one that a callback may never reach: private, loopback, link-local, metadata, reserved. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return privateAddresses.check(address, 'ipv4')
  return !globalUnicast.check(address, 'ipv6') || unsafeGlobalUnicast.check(address, 'ipv6')
}

const privateNames =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|test|invalid|example|arpa)$/i

/** Why a callback URL cannot be taken; undefined for one that can. Names are resolved and checked when it is called. */
export function callbackUrlFault(url: string, privateCallbacks: 'refuse' | 'allow'): Reason | undefined {
  if (!URL.canParse(url) || /^\s|\s$/u.test(url)) return { en: 'must be an absolute URL', zh: '必须是绝对 URL' }
  const { protocol, hostname, username, password, hash } = new URL(url)
  const allowed = privateCallbacks === 'allow'
  if (protocol !== 'https:' && !(allowed && protocol === 'http:')) {
    return { en: 'must begin with https://', zh: '必须以 https:// 开头' }
  }
  if (username !== '' || password !== '') {
    return { en: 'must not hold a user name or password', zh: '不得包含用户名或密码' }
  }
  if (hash !== '') return { en: 'must not hold a fragment', zh: '不得包含片段（#）' }
  // The parser has turned every spelling of an IPv4 address (decimal, octal, hexadecimal) into the dotted one.
  const host = hostname.replace(/^\[|\]$|\.+$/g, '')
  const isPrivate = isIP(host) === 0 ? privateNames.test(host) || !host.includes('.') : isPrivateAddress(host)
  if (isPrivate && !allowed) {
    return { en: 'must not point to a private, local or reserved address', zh: '不得指向私有、本地或保留地址' }
  }
  return undefined
}

/** What stands for a query that is not shown. Sent back with its address, it leaves the query as it is. */
export const hiddenQuery = '?…'

/**
 * A URL without its query, and the query with its question mark; null where there is none. Many receivers take a key in
 * it, so that it is kept sealed.
 */
export function splitQuery(url: string): { address: string; query: string | null } {
  const mark = url.indexOf('?')
  return mark === -1 ? { address: url, query: null } : { address: url.slice(0, mark), query: url.slice(mark) }
}
