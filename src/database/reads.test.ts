import { expect, test } from 'bun:test'
import { Audience } from './reads.ts'

test('a read is ended once, though its caller hangs up and is out of time', () => {
  const audience = new Audience()
  let ended = 0
  audience.onLeave = () => ended++
  audience.leave()
  audience.leave()
  expect(ended).toBe(1)
})
