import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Client, stopTarget, target } from '../kit/client.ts'
import { codeOf, earlyInStep, newGenerator, newPerson, signIn } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'

// Passwords and codes as keyboards and input methods write them.

let client: Client
beforeAll(async () => {
  client = await target()
}, 120_000)
afterAll(() => stopTarget(), 60_000)

const fullWidth = (text: string) =>
  [...text].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)).join('')

test('a password is the same composed, decomposed and full width', async () => {
  const name = newSerial('typed')
  const password = 'Żółwie-Grünspecht-9k'
  const made = await client.operate('createOperator', { name, role: 'viewer', password: password.normalize('NFD') })
  expect(made.code).toBe(0)
  const enter = (typed: string) => client.call('createSession', { name, password: typed })
  expect((await enter(password.normalize('NFC'))).code).toBe(0)
  expect((await enter(password.replace('9k', fullWidth('9k')))).code).toBe(0)
  expect((await enter(password.replace('ó', 'o'))).code).toBe(10031)
})

test('a password has twelve characters as people count them, and a new form of the old one is no other', async () => {
  const letters = 'ąćęłńó'.normalize('NFD')
  const short = await client.operate('createOperator', { name: newSerial('typed'), role: 'viewer', password: letters })
  expect(short.data as unknown).toMatchObject({ errors: [{ field: 'password' }] })
  const person = await newPerson(client, 'viewer')
  const headers = await signIn(client, person)
  const change = { password: person.password, newPassword: fullWidth(person.password) }
  expect((await client.call('changePassword', change, { headers })).code).toBe(10001)
})

test('full-width digits of an input method are a code', async () => {
  const person = await newPerson(client, 'viewer')
  const headers = await signIn(client, person)
  await earlyInStep()
  const { secret } = await newGenerator(client, headers)
  const { password } = person
  const shown = { password, code: fullWidth(codeOf(secret)) }
  expect((await client.call('confirmSession', shown, { headers })).code).toBe(0)
})
