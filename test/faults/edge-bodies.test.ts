import { afterAll, expect, test } from 'bun:test'
import { importDeviceInventory } from '../../src/device-inventory/contract.ts'
import { getHealth } from '../../src/service/contract.ts'
import { Client } from '../harness.ts'
import { tell, Workplace } from './support.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

const bytes = 8 * 1024 * 1024 - 64
const fill = (piece: string) => piece.repeat(Math.floor(bytes / piece.length))
const hostile: [what: string, text: string][] = [
  ['zeros', `{"entries":[${fill('0,')}0]}`],
  ['arrays', `{"entries":[${fill('[],')}[]]}`],
  ['empty objects', `{"entries":[${fill('{},')}{}]}`],
  ['arrays 400,000 deep', '['.repeat(400_000)],
  ['escaped quotes', `{"entries":["${fill('\\"')}"]}`],
  ['one number', `{"entries":[${fill('1')}]}`],
  ['names', `{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":0`).join(',')}}`],
]

/** One look at the clock of the service's event loop takes milliseconds; what held it up was seconds. */
const heldAtMostMs = 1000

test('a body of 8 MiB holds nobody up, whatever is in it', async () => {
  const service = await place.startService()
  const client = new Client(service)
  for (const [what, text] of hostile) {
    let isAnswered = false
    const sent = client.operate(importDeviceInventory, text).then((answer) => {
      isAnswered = true
      return answer
    })
    let longest = 0
    while (!isAnswered) {
      const began = performance.now()
      await client.call(getHealth, {})
      longest = Math.max(longest, performance.now() - began)
    }
    const { status } = await sent
    tell(`${what}: ${status}, others waited ${longest.toFixed(0)} ms at most`)
    expect([what, status]).toEqual([what, 400])
    expect(longest).toBeLessThan(heldAtMostMs)
  }
  expect(await service.stop()).toBe(0)
}, 120_000)
