import { expect, test } from 'bun:test'
import { Turns } from './turns.ts'

test('work whose caller has hung up by the time that it would wait is refused at once, and never begins', async () => {
  const turns = new Turns({ ofOne: 1, full: () => new Error('full') })
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>()
  const running = turns.run('one', undefined, () => first)
  let hasBegun = false
  const gone = { isAborted: false, signal: AbortSignal.abort() }
  const refused = turns.run('one', gone, async () => {
    hasBegun = true
  })
  expect(await refused.catch((error) => error)).toMatchObject({ refusal: 'unavailable' })
  endFirst()
  await running
  expect(hasBegun).toBe(false)
  // It has left nothing behind.
  expect(await turns.run('one', undefined, async () => 'next')).toBe('next')
})
