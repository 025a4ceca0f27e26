import { expect, test } from 'bun:test'
import { BlockList } from 'node:net'
import { sourceAddress, sourceNetwork } from './source-address.ts'

const proxies = new BlockList()
proxies.addSubnet('10.0.0.0', 8, 'ipv4')
proxies.addAddress('fd00::1', 'ipv6')

function from(peer: string, forwarded: string | null, trusted: BlockList | undefined = proxies): string {
  return sourceAddress(
    { peerAddress: () => peer, header: (name) => (name === 'x-forwarded-for' ? forwarded : null) },
    trusted,
  )
}

test('without trusted proxies, and from a peer that is none, the peer is the source', () => {
  expect(sourceAddress({ peerAddress: () => '10.0.0.1', header: () => '1.2.3.4' }, undefined)).toBe('10.0.0.1')
  expect(from('192.0.2.1', '1.2.3.4')).toBe('192.0.2.1')
  expect(from('::ffff:192.0.2.1', null)).toBe('192.0.2.1')
})

test('behind trusted proxies the nearest address that is not one of theirs is the source', () => {
  expect(from('10.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
  expect(from('10.0.0.1', '198.51.100.7, 10.0.0.2')).toBe('198.51.100.7')
  expect(from('::ffff:10.0.0.1', '203.0.113.9 , 10.9.9.9')).toBe('203.0.113.9')
  expect(from('fd00::1', '2001:db8::7')).toBe('2001:db8::7')
})

test('what the caller wrote before that address proves nothing', () => {
  expect(from('10.0.0.1', '1.1.1.1, 198.51.100.7')).toBe('198.51.100.7')
  expect(from('10.0.0.1', '10.0.0.9, 1.1.1.1, 198.51.100.7, 10.0.0.2')).toBe('198.51.100.7')
})

test('brackets and ports are left out, and what is no address ends the walk', () => {
  expect(from('10.0.0.1', '[2001:db8::7]:4711')).toBe('2001:db8::7')
  expect(from('10.0.0.1', '198.51.100.7:4711')).toBe('198.51.100.7')
  expect(from('10.0.0.1', '198.51.100.7, unknown')).toBe('10.0.0.1')
  expect(from('10.0.0.1', '')).toBe('10.0.0.1')
  expect(from('10.0.0.1', null)).toBe('10.0.0.1')
})

test('a source is an IPv4 address, or the IPv6 network of 64 bits that its customer has', () => {
  expect(sourceNetwork('192.0.2.1')).toBe('192.0.2.1')
  const same = ['2001:db8:0:7::1', '2001:DB8::7:ffff:1:2:3', '2001:0db8:0000:0007:1:2:3:4', '2001:db8:0:7:1::192.0.2.1']
  for (const address of same) expect(sourceNetwork(address)).toBe('2001:db8:0:7::/64')
  expect(sourceNetwork('2001:db8:0:8::1')).toBe('2001:db8:0:8::/64')
  expect(sourceNetwork('::1')).toBe('0:0:0:0::/64')
  expect(sourceNetwork('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(sourceNetwork('')).toBe('')
})
