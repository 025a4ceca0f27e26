import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ISql } from 'postgres'
import { refusals } from '../../src/vocabulary/refusals.ts'
import type { Answer, Client } from './client.ts'

export interface Person {
  id: number
  name: string
  password: string
}

export const newPassword = () => randomBytes(12).toString('hex')

/** Creates an account for one test, with a password. */
export async function newPerson(client: Client, role: string, appIds: string[] = []): Promise<Person> {
  const person = { name: `${role}-${randomBytes(6).toString('hex')}`, password: newPassword() }
  const created = await client.operate('createOperator', { ...person, role, appIds })
  if (created.code !== 0) throw new Error(`no account: ${created.text}`)
  return { ...person, id: created.data.id }
}

/** The session's cookie from a response, as a browser sends it back. */
export function cookieOf(answer: Answer<unknown>): string {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return pair
}

/** Sends the name and the password, and a code if there is one. */
export const enter = (client: Client, { name, password }: Person, code?: string, headers = {}) =>
  client.call('createSession', { name, password, code }, { headers })

/** Signs a person in; returns the headers that identify the session. */
export async function signIn(client: Client, { name, password }: Person): Promise<{ cookie: string }> {
  const answer = await client.call('createSession', { name, password })
  if (answer.code !== 0) throw new Error(`not signed in: ${answer.text}`)
  return { cookie: cookieOf(answer) }
}

/** The time step of a code generator, in milliseconds. */
const stepMs = 30_000

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The bytes of a text in base32. */
function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/**
 * Waits until the present time step of generators lasts for some seconds more, so that a test and the service read their
 * clocks in the same step.
 */
export async function earlyInStep(): Promise<void> {
  const left = stepMs - (Date.now() % stepMs)
  if (left < 4_000) await sleep(left)
}

/** The code of a generator (RFC 6238), now or some steps of 30 s away. Not by the library that the service uses. */
export function codeOf(secret: string, steps = 0): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / stepMs) + steps))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Stores a passkey that nobody has for an account, bypassing the service. */
export async function insertPasskey(sql: ISql, operatorId: number): Promise<void> {
  await sql`
    insert into operator_passkey (operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
    values (${operatorId}, ${`nobody’s ${operatorId}`}, 'none', 0, false, 'Nobody’s', now())`
}

/** Begins a code generator in a session; returns its secret. */
export async function startedSecret(client: Client, headers: { cookie: string }): Promise<string> {
  const started = await client.call('startTotp', {}, { headers })
  if (started.code !== 0) throw new Error(`no generator: ${started.text}`)
  return started.data.secret
}

/** Sets up a code generator in a session, by the code of the step before, so that now's is still to be used. */
export async function newGenerator(
  client: Client,
  headers: { cookie: string },
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const secret = await startedSecret(client, headers)
  const save = () => client.call('saveTotp', { code: codeOf(secret, -1) }, { headers })
  let saved = await save()
  // A step that ends before the request is read leaves a code that is two steps old.
  if (saved.code === refusals.codeInvalid.code) saved = await save()
  if (saved.code !== 0) throw new Error(`no generator: ${saved.text}`)
  return { secret, recoveryCodes: saved.data.recoveryCodes ?? [] }
}
