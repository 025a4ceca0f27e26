import { expect, test } from 'bun:test'
import { nextTurn } from './event-loop.ts'
import { Loop } from './loop.ts'

const long = 3_600_000

/** Returns the loop, how many of its rounds have begun, and the end of the one under way. */
function loopOf(restMs: number) {
  const state = { begun: 0, end: () => {} }
  const loop = new Loop(async () => {
    state.begun++
    await new Promise<void>((resolve) => {
      state.end = resolve
    })
    return restMs
  })
  return { loop, state }
}

test('work announced during a round gets the next one at once', async () => {
  const { loop, state } = loopOf(long)
  loop.start()
  await nextTurn()
  loop.wake()
  state.end()
  await nextTurn()
  expect(state.begun).toBe(2)
  // The second round has seen it.
  state.end()
  await nextTurn()
  expect(state.begun).toBe(2)
  loop.wake()
  await nextTurn()
  expect(state.begun).toBe(3)
  state.end()
  await loop.stop()
})

test('a stop ends a rest, waits for the round under way, and no other begins', async () => {
  const { loop, state } = loopOf(0)
  loop.start({ times: 2 })
  await nextTurn()
  expect(state.begun).toBe(2)
  let isStopped = false
  void loop.rest(long, false).then(() => {
    isStopped = true
  })
  const resting = new Loop(async () => long)
  resting.start({ afterMs: long })
  await resting.stop()
  const stopped = loop.stop()
  await nextTurn()
  expect(isStopped).toBe(true)
  expect(await Promise.race([stopped.then(() => 'stopped'), nextTurn().then(() => 'waits')])).toBe('waits')
  expect(state.begun).toBe(2)
})
