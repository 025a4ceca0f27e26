import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { newKey, readKey, SecretBox } from '../../secrets/box.ts'
import { openTicket, sealTicket } from './tickets.ts'

afterEach(() => void setSystemTime())

const box = () => new SecretBox([readKey(newKey()) ?? Buffer.alloc(32)])
const opened = (secrets: SecretBox, text: string) => openTicket<object>(secrets, 'x', text)?.content

test('a ticket is sealed under a key of its day, and not under the one for secrets', () => {
  const secrets = box()
  const idOf = (text: string) => Buffer.from(text, 'base64url').toString().split(':')[0]
  const first = sealTicket(secrets, 'x', { one: 1 }, 600)
  expect(idOf(first)).not.toBe(secrets.keyId)
  setSystemTime(Date.now() + 86_400_000)
  expect(idOf(sealTicket(secrets, 'x', { one: 1 }, 600))).not.toBe(idOf(first))
})

test('a ticket lasts past midnight, also in a process whose clock is behind, and not longer than its time', () => {
  const secrets = box()
  setSystemTime(new Date('2026-11-29T23:59:00Z'))
  const late = sealTicket(secrets, 'x', { one: 1 }, 600)
  setSystemTime(new Date('2026-11-30T00:05:00Z'))
  expect(opened(secrets, late)).toEqual({ one: 1 })
  const early = sealTicket(secrets, 'x', { two: 2 }, 600)
  setSystemTime(new Date('2026-11-29T23:59:50Z'))
  expect(opened(secrets, early)).toEqual({ two: 2 })
  setSystemTime(new Date('2026-11-30T00:10:00Z'))
  expect(opened(secrets, late)).toBeUndefined()
})
