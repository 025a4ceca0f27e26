import { expect, test } from 'bun:test'
import { Share } from './share.ts'

test('attempts begin at once unless creates queue, and then one for four of them', async () => {
  const share = new Share()
  expect(share.take()).toBeUndefined()
  share.onBatch(8)
  expect(share.take()).toBeUndefined()
  let begun = 0
  // What small batches had saved up is used first.
  share.onBatch(400)
  const taken = Array.from({ length: 150 }, () => share.take()?.then(() => begun++))
  expect(taken).not.toContain(undefined)
  await Promise.resolve()
  expect(begun).toBe(102)
  share.stop()
  await Promise.all(taken)
  expect(begun).toBe(150)
})

test('attempts that creates keep waiting begin by and by, and all of them once creates are quiet', async () => {
  const share = new Share()
  share.onBatch(9)
  const taken = Array.from({ length: 1_000 }, () => share.take())
  await Promise.all(taken)
  expect(share.take()).toBeUndefined()
  share.stop()
})
