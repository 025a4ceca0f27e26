import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { keyIdOf, newKey, readKey, SecretBox } from './box.ts'

const [older, newer] = [randomBytes(32), randomBytes(32)]
const secret = `whsec_${randomBytes(32).toString('base64')}`

test('what is sealed is opened for its application, and for no other', () => {
  const box = new SecretBox([newer])
  const sealed = box.seal('app-1', secret)
  expect(sealed).toMatch(/^[0-9a-f]{16}:aes-256-gcm:[A-Za-z0-9+/]+=*$/)
  expect(sealed).not.toContain(secret.slice(6))
  expect([box.open('app-1', sealed), box.open('app-1', sealed)]).toEqual([secret, secret])
  expect(() => box.open('app-2', sealed)).toThrow()
})

test('the same secret is sealed differently each time', () => {
  const box = new SecretBox([newer])
  expect(new Set(Array.from({ length: 1000 }, () => box.seal('app-1', secret))).size).toBe(1000)
})

test('a sealed secret that was changed or cut anywhere is not opened', () => {
  const box = new SecretBox([newer])
  const sealed = box.seal('app-1', secret)
  const [keyId = '', algorithm, text = ''] = sealed.split(':')
  expect(box.open('app-1', `${keyId}:${text}`)).toBe(secret)
  expect(() => new SecretBox([newer]).open('app-1', `${keyId}:aes-128-gcm:${text}`)).toThrow('aes-128-gcm is not known')
  const bytes = Buffer.from(text, 'base64')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    expect(() => box.open('app-1', `${keyId}:${algorithm}:${changed.toString('base64')}`)).toThrow()
    expect(() => box.open('app-1', `${keyId}:${algorithm}:${bytes.subarray(0, at).toString('base64')}`)).toThrow()
  }
  for (const wrong of ['', ':', keyId, `${keyId}:`, secret]) expect(() => box.open('app-1', wrong)).toThrow()
})

test('the first key seals, all open, and one that is not held is named', () => {
  const before = new SecretBox([older]).seal('app-1', secret)
  const both = new SecretBox([newer, older])
  expect(both.open('app-1', before)).toBe(secret)
  const after = both.seal('app-1', secret)
  expect([keyIdOf(after), both.keyIds]).toEqual([both.keyId, [both.keyId, keyIdOf(before)]])
  const alone = new SecretBox([newer])
  expect(alone.open('app-1', after)).toBe(secret)
  expect(() => alone.open('app-1', before)).toThrow(`the key ${keyIdOf(before)} is not held`)
})

test('a key is 32 bytes, as base64 or as hexadecimal', () => {
  expect(readKey(older.toString('hex'))).toEqual(older)
  expect(readKey(older.toString('hex').toUpperCase())).toEqual(older)
  expect(readKey(older.toString('base64'))).toEqual(older)
  expect(readKey(newKey())).toHaveLength(32)
  const others = ['', 'secret', randomBytes(31).toString('hex'), randomBytes(31).toString('base64')]
  others.push(randomBytes(33).toString('base64'), `${older.toString('hex')}0`, `${older.toString('base64')} `)
  for (const wrong of others) expect(readKey(wrong)).toBeUndefined()
})
