import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageAudit } from '../../src/events/contract.ts'
import { createOperatorKey, resetOperator, updateOperator } from '../../src/people/operators/contract.ts'
import {
  deletePasskey,
  getSecondFactors,
  resetSecondFactors,
  savePasskey,
  startPasskey,
} from '../../src/people/second-factor/contract.ts'
import { confirmSession, createSession, getSession, startPasskeySession } from '../../src/people/sessions/contract.ts'
import { openTicket, sealTicket } from '../../src/people/tickets/tickets.ts'
import { readKey, SecretBox } from '../../src/secrets/box.ts'
import { Authenticator, type Lies } from '../authenticator.ts'
import { Client, type Service } from '../harness.ts'
import { cookieOf, newPerson, type Person, signIn } from '../people.ts'
import { becomes, type OwnDatabase, rememberedMs, Workplace } from './support.ts'

const place = new Workplace()
const origin = 'https://forecourt.example'
let database: OwnDatabase
let service: Service
let client: Client
/** A service on the same database, whose address has no host name. */
let nameless: Client
afterAll(() => place.clear(), 60_000)

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url() }
  service = await place.startService({ env: { ...env, FORECOURT_PUBLIC_URL: origin, FORECOURT_WORKERS: '3' } })
  client = new Client(service)
  nameless = new Client(await place.startService({ env: { ...env, FORECOURT_PUBLIC_URL: 'http://127.0.0.1:8080' } }))
}, 120_000)

async function begun(headers: { cookie: string }) {
  const { code, data, text } = await client.call(startPasskey, {}, { headers })
  if (code !== 0) throw new Error(text)
  return data
}

async function added(headers: { cookie: string }, authenticator = new Authenticator(origin)) {
  const { options, ticket } = await begun(headers)
  const input = { ticket, credential: authenticator.create(options), name: 'My laptop' }
  return { authenticator, saved: await client.call(savePasskey, input, { headers }) }
}

async function personWithPasskey(role = 'viewer') {
  const person = await newPerson(client, role)
  const headers = await signIn(client, person)
  const { authenticator, saved } = await added(headers)
  if (saved.code !== 0) throw new Error(saved.text)
  return { person, headers, authenticator, factors: saved.data }
}

async function enter(authenticator: Authenticator, lies: Lies = {}) {
  const { options, ticket } = (await client.call(startPasskeySession, {})).data
  return client.call(createSession, { ticket, credential: authenticator.get(options, lies) })
}

const byPassword = ({ name, password }: Person) => client.call(createSession, { name, password })

describe('a passkey', () => {
  test('is added with recovery codes, and signs in by itself', async () => {
    const { person, factors, authenticator, headers } = await personWithPasskey()
    expect(factors.passkeys).toMatchObject([{ name: 'My laptop', lastUseTime: null, isSynced: false }])
    expect(factors.recoveryCodes).toHaveLength(10)
    const entered = await enter(authenticator)
    expect(entered.data).toMatchObject({ operatorId: person.id, method: 'passkey', isLimited: false })
    expect((await client.call(getSession, {}, { headers: { cookie: cookieOf(entered) } })).data.id).toBe(
      entered.data.id,
    )
    expect((await client.call(getSecondFactors, {}, { headers })).data.passkeys[0]?.lastUseTime).not.toBeNull()
    // The password alone is not enough any more.
    expect((await byPassword(person)).code).toBe(10032)
    const [code] = factors.recoveryCodes ?? []
    const { name, password } = person
    expect((await client.call(createSession, { name, password, code })).data.method).toBe('password+code')
  })

  test('is asked to be discoverable, to verify its person, and not to attest', async () => {
    const person = await newPerson(client, 'viewer')
    const options = (await begun(await signIn(client, person))).options
    expect(options).toMatchObject({
      rp: { id: 'forecourt.example' },
      user: { name: person.name },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    // Whatever a request calls the service.
    const lies = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' }
    const { data } = await client.call(startPasskeySession, {}, { headers: lies })
    expect(data.options).toMatchObject({ rpId: 'forecourt.example', userVerification: 'required' })
    expect(data.options).not.toHaveProperty('allowCredentials', expect.arrayContaining([expect.anything()]))
  })

  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://forecourt.example.evil' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
    ['another ceremony', { type: 'webauthn.create' }],
    ['no verified person', { isVerified: false }],
    ['another signature', { signature: 'MEUCIQ' }],
    ['a frame of another site', { crossOrigin: true }],
    ['another page above it', { topOrigin: 'https://evil.example' }],
    ['another account', { userHandle: Buffer.from('1').toString('base64url') }],
  ])('with %s is refused', async (_, lies) => {
    const { authenticator } = await personWithPasskey()
    expect((await enter(authenticator, lies)).code).toBe(10031)
    expect((await enter(authenticator)).code).toBe(0)
  })

  test('that nobody has, or of a disabled or reset account, is refused alike', async () => {
    const stranger = new Authenticator(origin)
    const refused = await enter(stranger)
    const { person, authenticator } = await personWithPasskey()
    await client.operate(updateOperator, { id: person.id, status: 2 })
    const disabled = await enter(authenticator)
    expect([disabled.status, disabled.text]).toEqual([refused.status, refused.text])
    expect(refused.code).toBe(10031)
    await client.operate(updateOperator, { id: person.id, status: 1 })
    expect((await enter(authenticator)).code).toBe(0)
    await client.operate(resetOperator, { id: person.id })
    expect((await enter(authenticator)).code).toBe(10031)
  })

  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://elsewhere.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
    ['no verified person', { isVerified: false }],
  ])('with %s is not added', async (_, lies) => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const { options, ticket } = await begun(headers)
    const credential = new Authenticator(origin).create(options, lies)
    expect((await client.call(savePasskey, { ticket, credential, name: 'x' }, { headers })).code).toBe(10033)
    expect((await client.call(getSecondFactors, {}, { headers })).data.passkeys).toEqual([])
  })

  test('whose counter goes back is refused and told', async () => {
    const { person, authenticator } = await personWithPasskey()
    expect((await enter(authenticator)).code).toBe(0)
    expect((await enter(authenticator, { counter: 1 })).code).toBe(10031)
    const { list } = (await client.operate(pageAudit, { type: 'secondFactor.suspected' })).data
    expect(list[0]?.data).toMatchObject({ operatorId: person.id, factor: 'passkey', counter: 1 })
    expect((await enter(authenticator)).code).toBe(0)
  })

  test('whose counter stays 0 is accepted, as those that are synced', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const { options, ticket } = await begun(headers)
    const authenticator = new Authenticator(origin)
    const input = { ticket, credential: authenticator.create(options, { isSynced: true }), name: 'Of my phone' }
    const saved = await client.call(savePasskey, input, { headers })
    expect(saved.data.passkeys).toMatchObject([{ name: 'Of my phone', isSynced: true }])
    for (let time = 0; time < 2; time++) {
      expect((await enter(authenticator, { counter: 0, isSynced: true })).code).toBe(0)
    }
  })

  test('is removed, and only one’s own', async () => {
    const { person, headers, authenticator, factors } = await personWithPasskey()
    const other = await personWithPasskey()
    const [passkey] = factors.passkeys
    const foreign = await client.call(deletePasskey, { id: other.factors.passkeys[0]?.id }, { headers })
    expect(foreign.code).toBe(10056)
    const left = await client.call(deletePasskey, { id: passkey?.id }, { headers })
    expect(left.data).toMatchObject({ passkeys: [], recoveryCodesLeft: 0 })
    expect((await enter(authenticator)).code).toBe(10031)
    expect((await byPassword(person)).code).toBe(0)
  })

  test('is taken away by an admin’s reset', async () => {
    const { person, authenticator } = await personWithPasskey()
    expect((await client.operate(resetSecondFactors, { id: person.id, reason: 'lost' })).code).toBe(0)
    expect((await enter(authenticator)).code).toBe(10031)
  })

  test('is one of 20 at most', async () => {
    const { person, headers } = await personWithPasskey()
    const { ticket, options } = await begun(headers)
    await database.run(
      (sql) => sql`
        insert into operator_passkey (operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
        select ${person.id}, ${person.name} || n, 'x', 0, false, 'x', now() from generate_series(1, 19) as n`,
    )
    const credential = new Authenticator(origin).create(options)
    expect((await client.call(savePasskey, { ticket, credential, name: 'x' }, { headers })).code).toBe(10001)
    expect((await client.call(startPasskey, {}, { headers })).code).toBe(10001)
  })
})

describe('a ticket', () => {
  test('works once, among many requests on several processes', async () => {
    const { authenticator } = await personWithPasskey()
    const { options, ticket } = (await client.call(startPasskeySession, {})).data
    const credential = authenticator.get(options, { counter: 0 })
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => client.call(createSession, { ticket, credential })),
    )
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1)
    // Another spelling of the same bytes is not accepted either.
    expect((await client.call(createSession, { ticket: `${ticket}==`, credential })).code).toBe(10031)
  })

  test('is for its purpose and its account alone, and nothing is stored until it is used', async () => {
    const count = () => database.run(async (sql) => (await sql`select count(*)::int as n from used_ticket`)[0]?.n)
    const before = await count()
    const { person: _, headers } = await personWithPasskey()
    const [own, foreign] = [await begun(headers), await begun(await signIn(client, await newPerson(client, 'viewer')))]
    for (let time = 0; time < 5; time++) await client.call(startPasskeySession, {})
    expect((await count()) - before).toBe(1)
    const authenticator = new Authenticator(origin)
    const credential = authenticator.create(foreign.options)
    const input = { ticket: foreign.ticket, credential, name: 'x' }
    expect((await client.call(savePasskey, input, { headers })).code).toBe(10033)
    expect(
      (await client.call(createSession, { ticket: own.ticket, credential: authenticator.get(own.options) })).code,
    ).toBe(10031)
    for (const ticket of ['x', own.ticket.slice(0, -4), `${own.ticket.slice(0, -4)}AAAA`]) {
      expect((await client.call(createSession, { ticket, credential: {} })).code).toBe(10031)
    }
  })

  test('works for 5 minutes', async () => {
    const { authenticator } = await personWithPasskey()
    const [key = ''] = readFileSync(join(service.dataDir, 'secrets.key'), 'utf8').trim().split('\n')
    const box = new SecretBox([readKey(key) ?? Buffer.alloc(0)])
    const { options, ticket: text } = (await client.call(startPasskeySession, {})).data
    const ticket = openTicket<object>(box, 'passkey', text)
    const seconds = Math.round(((ticket?.until.getTime() ?? 0) - Date.now()) / 1000)
    expect([seconds > 290, seconds <= 300]).toEqual([true, true])
    // The same ticket as it is when its time is over, and a second before.
    const enterWith = (left: number) => {
      const ticketOfThen = sealTicket(box, 'passkey', ticket?.content ?? {}, left)
      return client.call(createSession, { ticket: ticketOfThen, credential: authenticator.get(options) })
    }
    expect((await enterWith(-1)).code).toBe(10031)
    expect((await enterWith(1)).code).toBe(0)
  })

  test('names what is missing beside it', async () => {
    const { ticket } = (await client.call(startPasskeySession, {})).data
    expect((await client.call(createSession, { ticket })).text).toContain('"credential"')
    expect((await client.call(createSession, { credential: {} })).text).toContain('"ticket"')
  })
})

test('a passkey gives a session a new proof, if it is of the same account', async () => {
  const { headers, authenticator } = await personWithPasskey('admin')
  const other = await personWithPasskey()
  await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
  const act = async () => (await client.call(createOperatorKey, {}, { headers })).code
  expect(await becomes(10035, act, rememberedMs)).toBe(10035)
  const confirm = async (by: Authenticator) => {
    const { options, ticket } = (await client.call(startPasskeySession, {})).data
    return client.call(confirmSession, { ticket, credential: by.get(options) }, { headers })
  }
  const lastUse = async () => (await client.call(getSecondFactors, {}, { headers: other.headers })).data.passkeys
  const before = await lastUse()
  expect((await confirm(other.authenticator)).code).toBe(10031)
  // It counts as a failure of its source, and as no use of the other account’s passkey.
  expect(await lastUse()).toEqual(before)
  const failures = () =>
    database.run(
      async (sql) => (await sql`select failures from sign_in_attempt where key like 'source %'`)[0]?.failures,
    )
  const counted = await failures()
  expect((await confirm(other.authenticator)).code).toBe(10031)
  expect(await failures()).toBe(counted + 1)
  expect(await act()).toBe(10035)
  expect((await confirm(authenticator)).code).toBe(0)
  expect(await act()).toBe(10001)
})

test('an address without a name has no passkeys, and says so', async () => {
  const headers = await signIn(nameless, await newPerson(nameless, 'viewer'))
  for (const answer of [
    await nameless.call(startPasskeySession, {}),
    await nameless.call(startPasskey, {}, { headers }),
    await nameless.call(createSession, { ticket: 'x', credential: {} }),
  ]) {
    expect([answer.code, answer.text]).toEqual([10001, expect.stringContaining('FORECOURT_PUBLIC_URL')])
  }
})
