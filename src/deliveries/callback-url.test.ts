import { expect, test } from 'bun:test'
import { callbackUrlFault, staysPrivate } from './callback-url.ts'

const hostOf = (host: string) => new URL(`http://${host}/`).hostname

test('plain text stays private only where the address that packets go to is private', () => {
  for (const host of [
    ...['localhost', 'LOCALHOST.', 'box', 'box.local', '127.0.0.1', '2130706433', '0x7f.1', '017700000001', '10.1.2.3'],
    ...['172.31.0.1', '192.168.0.1', '169.254.1.1', '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[::ffff:10.0.0.1]'],
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::10.0.0.1]',
      '[64:ff9b::10.0.0.1]',
      '[64:ff9b:1::c0a8:1]',
      '[2002:a00:1::]',
    ],
  ]) {
    expect([host, staysPrivate(hostOf(host))]).toEqual([host, true])
  }
  for (const host of [
    ...['example.com', 'localhost.example.com', '8.8.8.8', '134744072', '0x8.8.8.8', '010.8.8.8', '8.8.8.8.'],
    ...[
      '[::ffff:8.8.8.8]',
      '[::ffff:808:808]',
      '[::8.8.8.8]',
      '[::ffff:0:8.8.8.8]',
      '[64:ff9b::8.8.8.8]',
      '[64:ff9b:1::808:808]',
    ],
    ...['[2002:808:808::1]', '[2001:0:808:808::1]', '[2606:4700::1]', '[fec0::1]', '172.32.0.1'],
  ]) {
    expect([host, staysPrivate(hostOf(host))]).toEqual([host, false])
  }
})

test('callbacks go to no address that only holds another, private or not', () => {
  for (const inside of ['10.0.0.1', '127.0.0.1', '169.254.169.254', '8.8.8.8']) {
    const [a, b, c, d] = inside.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
    for (const host of [
      ...[
        `[::ffff:${inside}]`,
        `[::${inside}]`,
        `[::ffff:0:${inside}]`,
        `[64:ff9b::${inside}]`,
        `[64:ff9b:1::${inside}]`,
      ],
      ...[`[2002:${a}${b}:${c}${d}::1]`, `[2001:0:${a}${b}:${c}${d}::1]`],
    ]) {
      expect([host, callbackUrlFault(`https://${host}/`, 'refuse')?.en]).toEqual([
        host,
        expect.stringContaining('private'),
      ])
    }
  }
})
