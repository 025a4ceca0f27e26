import { expect, test } from 'bun:test'
import { randomBytes, scryptSync } from 'node:crypto'
import { newKey, SecretBox } from './box.ts'
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

test('a text says at what cost its key was derived, and one without that is of the first version', () => {
  const long = 'x'.repeat(40)
  expect(lockKey('key', 'short')).toMatch(/^scrypt\$131072:/)
  for (const password of ['', long]) expect(lockKey('key', password)).toMatch(/^scrypt\$2:/)
  const salt = randomBytes(16)
  for (const [password, N] of [
    ['', 16_384],
    ['short', 16_384],
    [long, 2],
  ] as const) {
    const sealed = new SecretBox([scryptSync(password, salt, 32, { N })]).seal('the key for secrets', 'key')
    expect(unlockKey(`${salt.toString('base64')}:${sealed}`, password)).toBe('key')
    expect(unlockKey(`scrypt$${N}:${salt.toString('base64')}:${sealed}`, password)).toBe('key')
  }
  for (const wrong of ['', ':', 'scrypt$2', `scrypt$${2 ** 40}:AAAA:x`, 'scrypt$3:AAAA:x']) {
    expect(unlockKey(wrong, 'short')).toBeUndefined()
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
