import { expect, test } from 'bun:test'
import type { EventRecord } from '../contract.ts'
import { EventStream } from './event-stream.ts'
import { Feed } from './feed.ts'

const event = {
  type: 'site.created',
  appId: 'app',
  time: '2026-12-01 08:00:00',
  occurredAt: '2026-12-01T00:00:00.000Z',
  actor: 'application',
}

/** Reads a log of events with this many characters to its end. Returns what was received, and what each read returned. */
async function catchUp(sizes: readonly number[]): Promise<{ ids: number[]; rows: number[] }> {
  const log = sizes.map((size, index): EventRecord => ({ ...event, id: index + 1, data: 'x'.repeat(size) }))
  const rows: number[] = []
  const stream = new EventStream({
    feed: new Feed('app', log.length),
    filter: { types: null, subject: null },
    position: 0,
    async readBehind(afterId, throughId, most) {
      const read = log.filter(({ id }) => id > afterId && id <= throughId).slice(0, most)
      rows.push(read.length)
      return read
    },
    onSent() {},
    onClose() {},
  })
  let received = ''
  while (stream.position < log.length) {
    const piece = await new Promise<Uint8Array | null>((resolve) => stream.pull(resolve))
    received += Buffer.from(piece ?? []).toString()
  }
  stream.close()
  return { ids: [...received.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)), rows }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const each = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('a reader behind is sent long events without most of what is read being read again', async () => {
  const { ids, rows } = await catchUp(Array(400).fill(10_000))
  expect(ids).toEqual(each(400))
  expect(sum(rows)).toBeLessThan(1.5 * 400)
})

test('a reader behind is sent short events by 40, also after long ones', async () => {
  const { ids, rows } = await catchUp([...Array(100).fill(10_000), 100_000, ...Array(400).fill(100)])
  expect(ids).toEqual(each(501))
  expect(sum(rows)).toBeLessThan(1.5 * 501)
  expect(rows.filter((count) => count === 40).length).toBeGreaterThanOrEqual(8)
})
