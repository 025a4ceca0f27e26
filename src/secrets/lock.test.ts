import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newKey } from './box.ts'
import { lockKey, unlockKey } from './lock.ts'

test('a key is had by its password alone, whether a person or the embedded database has made it', () => {
  const key = newKey()
  for (const password of ['a password', randomBytes(32).toString('base64url')]) {
    const locked = lockKey(key, password)
    expect(unlockKey(locked, password)).toBe(key)
    expect(unlockKey(locked, `${password}.`)).toBeUndefined()
    expect(lockKey(key, password)).not.toBe(locked)
  }
})

test('a guess is dear where guesses could succeed', () => {
  const fastest = (password: string) => {
    const took = [1, 2, 3].map(() => {
      const began = performance.now()
      lockKey('key', password)
      return performance.now() - began
    })
    return Math.min(...took)
  }
  expect(fastest('x'.repeat(39))).toBeGreaterThan(10 * fastest('x'.repeat(40)))
})
