import { expect, test } from 'bun:test'
import { Throttle } from './throttle.ts'

test('attempts begin at once unless creates queue, and then one for four of them', async () => {
  const throttle = new Throttle()
  expect(throttle.take()).toBeUndefined()
  throttle.onBatch(8)
  expect(throttle.take()).toBeUndefined()
  let begun = 0
  // Attempts that small batches saved up are used first.
  throttle.onBatch(400)
  const taken = Array.from({ length: 150 }, () => throttle.take()?.then(() => begun++))
  expect(taken).not.toContain(undefined)
  await Promise.resolve()
  expect(begun).toBe(102)
  throttle.stop()
  await Promise.all(taken)
  expect(begun).toBe(150)
})

test('attempts that creates keep waiting begin by and by, and all of them once creates are quiet', async () => {
  const throttle = new Throttle()
  throttle.onBatch(9)
  const taken = Array.from({ length: 1_000 }, () => throttle.take())
  await Promise.all(taken)
  expect(throttle.take()).toBeUndefined()
  throttle.stop()
})
