import { expect, test } from 'bun:test'
import { Refusal } from '../../vocabulary/refusals.ts'
import { farewellBlocks, openingBlocks } from './blocks.ts'

test('of 5,000 readers that heed `retry`, at most 600 come again in any second', () => {
  const unavailable = new Refusal('unavailable')
  for (const blocks of [() => openingBlocks(0), () => farewellBlocks(unavailable, 'en')]) {
    const retries = Array.from({ length: 5_000 }, () => Number(/^retry: (\d+)\n\n/.exec(blocks().toString())?.[1]))
    retries.sort((a, b) => a - b)
    expect(retries[0]).toBeGreaterThanOrEqual(1_000)
    expect(retries.at(-1)).toBeLessThanOrEqual(15_000)
    // The 600th after each comes a second later, or more.
    const spans = retries.flatMap((from, index) => (retries[index + 600] ?? from + 1_000) - from)
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(1_000)
  }
})
