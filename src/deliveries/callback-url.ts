import { BlockList, isIP } from 'node:net'
import type { Reason } from '../vocabulary/refusals.ts'

const privateAddresses = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's agent and metadata address, although it lies in a public range.
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
/** In IPv6 only global unicast is public, and these networks in it are reserved or embed IPv4 addresses. */
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

/** Whether callbacks must not reach an IP address: private, loopback, link-local, metadata or reserved. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return privateAddresses.check(address, 'ipv4')
  return !globalUnicast.check(address, 'ipv6') || unsafeGlobalUnicast.check(address, 'ipv6')
}

const privateNames =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|test|invalid|example|arpa)$/i

function isPrivateHost(hostname: string): boolean {
  // The parser has turned every spelling of an IPv4 address (decimal, octal, hexadecimal) into dotted decimal.
  const host = hostname.replace(/^\[|\]$|\.+$/g, '')
  return isIP(host) === 0 ? privateNames.test(host) || !host.includes('.') : isPrivateAddress(host)
}

const localIpv6 = new BlockList()
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  localIpv6.addSubnet(network, prefix, 'ipv6')
}

/** Unlike `isPrivateHost`, judges an IPv6 address that holds an IPv4 address by the latter: packets go there. */
export function staysPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 6) return isPrivateHost(hostname)
  return localIpv6.check(host, 'ipv6') || privateAddresses.check(ipv4Inside(host) ?? '', 'ipv4')
}

/** Mapped, compatible, translated (NAT64) or tunnelled (6to4). */
function ipv4Inside(address: string): string | undefined {
  const groups = groupsOf(address)
  const begins = (...first: number[]) => first.every((group, index) => groups[index] === group)
  const at = begins(0x2002)
    ? 1
    : begins(0, 0, 0, 0, 0, 0) || begins(0, 0, 0, 0, 0, 0xffff) || begins(0, 0, 0, 0, 0xffff, 0)
      ? 6
      : begins(0x64, 0xff9b, 0, 0, 0, 0) || begins(0x64, 0xff9b, 1)
        ? 6
        : undefined
  if (at === undefined) return undefined
  return groups
    .slice(at, at + 2)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

function groupsOf(address: string): number[] {
  // The parser turns an IPv4 address at the end into groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [read(head), read(tail ?? '')]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/** Undefined for a valid URL. Its host is looked up and checked at each connection. */
export function callbackUrlFault(url: string, privateCallbacks: 'refuse' | 'allow'): Reason | undefined {
  if (!URL.canParse(url) || /^\s|\s$/u.test(url)) return { en: 'must be an absolute URL', zh: '必须是绝对 URL' }
  const { protocol, hostname, username, password, hash } = new URL(url)
  const allowed = privateCallbacks === 'allow'
  if (protocol !== 'https:' && !(allowed && protocol === 'http:')) {
    return { en: 'must begin with https://', zh: '必须以 https:// 开头' }
  }
  if (username !== '' || password !== '') {
    return { en: 'must not contain a user name or password', zh: '不得包含用户名或密码' }
  }
  if (hash !== '') return { en: 'must not contain a fragment', zh: '不得包含片段（#）' }
  if (!allowed && isPrivateHost(hostname)) {
    return { en: 'must not point to a private, local or reserved address', zh: '不得指向私有、本地或保留地址' }
  }
  return undefined
}

/** Shown in place of a hidden query. A client that sends it back with the same address keeps the stored query. */
export const hiddenQuery = '?…'

/** The query (with `?`; null for none) is sealed, because it may hold a key. */
export function splitQuery(url: string): { address: string; query: string | null } {
  const mark = url.indexOf('?')
  return mark === -1 ? { address: url, query: null } : { address: url.slice(0, mark), query: url.slice(mark) }
}
