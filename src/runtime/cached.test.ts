import { expect, test } from 'bun:test'
import { cached, lately } from './cached.ts'

test('callers share a run and its answer; anew, they take no answer of before', async () => {
  let runs = 0
  const read = cached(async () => ++runs, 60_000)
  expect(await Promise.all([read(), read(), read.anew()])).toEqual([1, 1, 1])
  expect(await read()).toBe(1)
  expect(await Promise.all([read.anew(), read()])).toEqual([2, 1])
  expect(await read()).toBe(2)
})

test('a failure reaches those who waited, and is not kept', async () => {
  let runs = 0
  const read = cached(async () => {
    if (++runs === 1) throw new Error('away')
    return runs
  }, 60_000)
  expect((await Promise.allSettled([read(), read()])).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await read()).toBe(2)
})

test('nobody waits longer than said, and a late answer serves the next', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const read = lately(() => promise, { freshMs: 60_000, timeoutMs: 10 })
  expect(await read()).toBeUndefined()
  resolve('late')
  await promise
  expect(await read()).toBe('late')
})
