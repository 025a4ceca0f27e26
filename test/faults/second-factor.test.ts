import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTicket, sealTicket } from '../../src/people/tickets/tickets.ts'
import { operations } from '../../src/reference/operations.ts'
import { readKey, SecretBox } from '../../src/secrets/box.ts'
import { Authenticator, type Lies } from '../kit/authenticator.ts'
import { rememberedMs } from '../kit/client.ts'
import { EventReader } from '../kit/event-reader.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { codeOf, cookieOf, enter, newGenerator, newPassword, newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { untyped } from '../kit/untyped.ts'
import { becomes, waitUntil } from '../kit/waits.ts'

// What a role that asks for a second factor requires of sessions, in several processes; codes and passkeys.

const place = ownWorkplace()
const origin = 'https://forecourt.example'

const database = await place.findDatabase()
const env = {
  DATABASE_URL: database.url(),
  FORECOURT_PUBLIC_URL: origin,
  FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
  FORECOURT_REQUIRE_SECOND_FACTOR: 'admin,operator',
  FORECOURT_WORKERS: '3',
}
const { service, client } = await place.start({ env })

describe('a role that asks for a second factor', () => {
  test('limits a session by password until a factor is set', async () => {
    const { headers, ...person } = await newSignedIn(client, 'admin')
    const limited = await client.call('getSession', {}, { headers })
    expect(limited.data).toMatchObject({ isLimited: true, method: 'password' })
    // All that it may call; whatever else there is, is refused before anything is looked at.
    const mayCall = /\/(secondFactor\/(?!reset$)\w+|session\/\w+|operator\/changePassword)$/
    const others = operations.filter(({ callers, path }) => callers.includes('operator') && !mayCall.test(path))
    expect(others.length).toBeGreaterThan(60)
    for (const { id } of others) {
      const { status, code, data } = await client.call(untyped({ id }), {}, { headers })
      expect([id, status, code, data]).toEqual([id, 403, 10034, null])
    }
    for (const [id, input] of [
      ['getSettings', {}],
      ['pageSessions', {}],
      ['getSecondFactors', {}],
      ['confirmSession', { password: person.password }],
    ] as const)
      expect((await client.call(untyped({ id }), input, { headers })).code).toBe(0)
    const password = newPassword()
    const changed = await client.call(
      'changePassword',
      { password: person.password, newPassword: password },
      { headers },
    )
    expect(changed.code).toBe(0)
    expect((await client.call('getSecondFactors', {}, { headers })).data.isRequired).toBe(true)
    expect((await client.call('deleteTotp', {}, { headers })).code).toBe(10056)
    await newGenerator(client, headers)
    // The change applies in each process at once, although they have the limited session in memory.
    const asks = Array.from({ length: 30 }, () => client.call('pageApplications', {}, { headers }))
    expect((await Promise.all(asks)).map(({ code }) => code)).toEqual(Array(30).fill(0))
    expect((await client.call('getSession', {}, { headers })).data.isLimited).toBe(false)
    expect((await client.call('deleteTotp', {}, { headers })).code).toBe(10057)
    expect((await client.call('getSecondFactors', {}, { headers })).data.totp).not.toBeNull()
  })

  test('is asked for after a set-up link too', async () => {
    const made = (await client.operate('createOperator', { name: newSerial('person'), role: 'operator' })).data
    const setUp = { setUpToken: made.setUpPath?.split('#')[1], password: newPassword() }
    const entered = await client.call('setUpOperator', setUp)
    expect(entered.data).toMatchObject({ method: 'password', isLimited: true })
    const headers = { cookie: cookieOf(entered) }
    expect((await client.call('pageApplications', {}, { headers })).code).toBe(10034)
    await newGenerator(client, headers)
    expect((await client.call('pageApplications', {}, { headers })).code).toBe(0)
  })

  test('leaves a session limited that has not shown the factor, until it does', async () => {
    const person = await newPerson(client, 'admin')
    const [headers, other] = [await signIn(client, person), await signIn(client, person)]
    const { secret } = await newGenerator(client, headers)
    expect((await client.call('getSession', {}, { headers })).data.isLimited).toBe(false)
    // Somebody who knows only the password could have begun the other session, so it may neither set up a factor nor
    // act as an admin.
    const newer = { password: person.password, newPassword: newPassword() }
    const refused = [
      await client.call('pageOperators', {}, { headers: other }),
      await client.call('startTotp', {}, { headers: other }),
      await client.call('saveTotp', { code: codeOf(secret) }, { headers: other }),
      await client.call('renewRecoveryCodes', {}, { headers: other }),
      await client.call('changePassword', newer, { headers: other }),
    ]
    expect(refused.map(({ code }) => code)).toEqual(Array(5).fill(10034))
    const { list } = (await client.call('pageSessions', {}, { headers: other })).data
    expect(new Set(list.map(({ operatorId }) => operatorId))).toEqual(new Set([person.id]))
    const stranger = (await enter(client, await newPerson(client, 'viewer'))).data.id
    expect((await client.call('deleteSession', { id: stranger }, { headers: other })).code).toBe(10053)

    const { password } = person
    expect((await client.call('confirmSession', { password }, { headers: other })).code).toBe(10032)
    const shown = await client.call('confirmSession', { password, code: codeOf(secret) }, { headers: other })
    expect(shown.data.isLimited).toBe(false)
    expect((await client.call('pageOperators', {}, { headers: other })).code).toBe(0)
  })

  test('is told within a second of a change of role', async () => {
    const { headers, ...person } = await newSignedIn(client, 'viewer')
    expect((await client.call('getSession', {}, { headers })).data.isLimited).toBe(false)
    const { appId } = await newApplication(client)
    const stream = await EventReader.open(client.url, { headers, query: { appId } })
    await stream.until(() => stream.blocks.length === 2)
    expect((await client.operate('updateOperator', { id: person.id, role: 'operator' })).code).toBe(0)
    expect(await becomes(10034, () => stream.closed?.code, rememberedMs)).toBe(10034)
    const page = async () => (await client.call('pageApplications', {}, { headers })).code
    expect(await becomes(10034, page, rememberedMs)).toBe(10034)
    expect((await client.operate('updateOperator', { id: person.id, role: 'viewer' })).code).toBe(0)
    expect(await becomes(0, page, rememberedMs)).toBe(0)
  })

  test('takes no session by an operator key of such a role, but for the key of the settings', async () => {
    const make = async (role: string) =>
      (await client.operate('createOperatorKey', { name: newSerial('key'), role })).data.operatorKey ?? ''
    const [admin, viewer] = [await make('admin'), await make('viewer')]
    expect((await client.call('createSession', { operatorKey: admin })).code).toBe(10034)
    expect((await client.call('createSession', { operatorKey: viewer })).code).toBe(0)
    const own = await client.call('createSession', { operatorKey: client.operatorKey })
    expect([own.code, own.data.isLimited]).toEqual([0, false])
    expect((await client.call('pageApplications', {}, { headers: { cookie: cookieOf(own) } })).code).toBe(0)
    // Programs need none.
    expect((await client.call('pageApplications', {}, { token: admin })).code).toBe(0)
  })

  test('lets a session go that only may set one up', async () => {
    const headers = await signIn(client, await newPerson(client, 'operator'))
    expect((await client.call('deleteSession', {}, { headers })).code).toBe(0)
  })
})

describe('codes', () => {
  test('work once under many tries on several processes', async () => {
    const person = await newPerson(client, 'viewer')
    const { secret, recoveryCodes } = await newGenerator(client, await signIn(client, person))
    // The code is that of the next time step, so that it is valid for as long as the crowd may take.
    for (const code of [codeOf(secret, 1), recoveryCodes[0]]) {
      const tries = Array.from({ length: atScale(30, 500) }, () => enter(client, person, code))
      const answers = await Promise.all(tries)
      // On a busy machine the first may be told 50003 before it has used the code; then one that comes again uses it.
      const isUsed = async () => {
        await database.sql`delete from sign_in_attempt`
        const answer = await enter(client, person, code)
        answers.push(answer)
        return answer.code === 10033
      }
      await waitUntil(isUsed)
      expect(answers.filter((answer) => answer.code === 0).length).toBeLessThanOrEqual(1)
      for (const answer of answers) expect([0, 10033, 10007, 50003]).toContain(answer.code)
    }
  })

  test('are guessed ten times from everywhere together', async () => {
    const person = await newPerson(client, 'viewer')
    const { secret, recoveryCodes } = await newGenerator(client, await signIn(client, person))
    const from = (index: number) => ({ 'x-forwarded-for': `198.51.100.${index}` })
    for (let index = 0; index < 10; index++) {
      expect((await enter(client, person, '000000', from(index))).code).toBe(10033)
    }
    expect((await enter(client, person, codeOf(secret), from(20))).code).toBe(10007)
    expect((await enter(client, person, recoveryCodes[0], from(21))).code).toBe(10007)
    await database.sql`update sign_in_attempt set since = now() - interval '16 minutes'`
    expect((await enter(client, person, codeOf(secret, 1), from(22))).code).toBe(0)
  })

  test('that are wrong count like wrong passwords too', async () => {
    const person = await newPerson(client, 'viewer')
    const { secret } = await newGenerator(client, await signIn(client, person))
    const address = '198.51.100.88'
    const headers = { 'x-forwarded-for': address }
    const counts = () =>
      database.run(async (sql) => {
        const keys = [`source ${address}`, `${address} account ${person.id}`, `account ${person.id}`]
        const rows = await sql`select key, failures from sign_in_attempt`
        return keys.map((key) => rows.find((row) => row.key === key)?.failures ?? 0)
      })
    for (let time = 0; time < 2; time++) expect((await enter(client, person, '000000', headers)).code).toBe(10033)
    expect(await counts()).toEqual([2, 2, 2])
    // A password that is right says nothing yet.
    expect((await enter(client, person, undefined, headers)).code).toBe(10032)
    expect((await enter(client, person, codeOf(secret), headers)).code).toBe(0)
    expect(await counts()).toEqual([0, 0, 0])
  })

  test('of a generator that was begun more than 10 minutes ago set nothing up', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const { secret } = (await client.call('startTotp', {}, { headers })).data
    await database.sql`update operator_totp_draft set expires_at = now()`
    expect((await client.call('saveTotp', { code: codeOf(secret) }, { headers })).code).toBe(10033)
  })

  test('are kept sealed and as hashes alone', async () => {
    const { secret, recoveryCodes } = await newGenerator(
      client,
      await signIn(client, await newPerson(client, 'viewer')),
    )
    const stored = JSON.stringify(
      await database.run(async (sql) => [
        await sql`select * from operator_totp`,
        await sql`select * from operator_recovery_code`,
        await sql`select type, data from event where app_id = ''`,
      ]),
    )
    for (const word of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
      expect(stored.toUpperCase()).not.toContain(word.toUpperCase())
    }
  })
})

describe('the audit trail', () => {
  test('tells of factors that were added, removed and reset, and no secret', async () => {
    const { headers, ...person } = await newSignedIn(client, 'viewer')
    const { secret, recoveryCodes } = await newGenerator(client, headers)
    const renewed = (await client.call('renewRecoveryCodes', {}, { headers })).data.recoveryCodes
    expect((await client.call('deleteTotp', {}, { headers })).code).toBe(0)
    await newGenerator(client, headers)
    const browsers = () => database.sql`select 1 from operator_browser where operator_id = ${person.id}`
    expect(await browsers()).toHaveLength(1)
    await client.operate('resetSecondFactors', { id: person.id, reason: 'the phone is lost' })
    // Its browsers are strangers again.
    expect(await browsers()).toHaveLength(0)
    const trail = await client.operate('pageAudit', { subject: String(person.id) })
    const told = trail.data.list.filter(({ type }) => type.startsWith('secondFactor.'))
    expect(told.map(({ type, actor, data }) => [type, actor, data])).toEqual(
      [
        ['added', 'totp'],
        ['added', 'recoveryCodes'],
        ['removed', 'totp'],
        ['added', 'totp'],
        ['reset', undefined],
      ]
        .map(([what, factor]) => [
          `secondFactor.${what}`,
          what === 'reset' ? 'operator:operator' : `operator:${person.name}`,
          expect.objectContaining({
            operatorId: person.id,
            name: person.name,
            ...(factor ? { factor } : { reason: 'the phone is lost' }),
          }),
        ])
        .reverse(),
    )
    for (const word of [secret, ...recoveryCodes, ...(renewed ?? [])]) expect(trail.text).not.toContain(word)
  })
})

async function begun(headers: { cookie: string }) {
  const { code, data, text } = await client.call('startPasskey', {}, { headers })
  if (code !== 0) throw new Error(text)
  return data
}

async function added(headers: { cookie: string }, authenticator = new Authenticator(origin)) {
  const { options, ticket } = await begun(headers)
  const input = { ticket, credential: authenticator.create(options), name: 'My laptop' }
  return { authenticator, saved: await client.call('savePasskey', input, { headers }) }
}

async function personWithPasskey(role = 'viewer') {
  const { headers, ...person } = await newSignedIn(client, role)
  const { authenticator, saved } = await added(headers)
  if (saved.code !== 0) throw new Error(saved.text)
  return { person, headers, authenticator, factors: saved.data }
}

async function enterBy(authenticator: Authenticator, lies: Lies = {}) {
  const { options, ticket } = (await client.call('startPasskeySession', {})).data
  return client.call('createSession', { ticket, credential: authenticator.get(options, lies) })
}

describe('a passkey', () => {
  test('is added with recovery codes, and signs in by itself', async () => {
    const { person, factors, authenticator, headers } = await personWithPasskey()
    expect(factors.passkeys).toMatchObject([{ name: 'My laptop', lastUseTime: null, isSynced: false }])
    expect(factors.recoveryCodes).toHaveLength(10)
    const entered = await enterBy(authenticator)
    expect(entered.data).toMatchObject({ operatorId: person.id, method: 'passkey', isLimited: false })
    expect((await client.call('getSession', {}, { headers: { cookie: cookieOf(entered) } })).data.id).toBe(
      entered.data.id,
    )
    expect((await client.call('getSecondFactors', {}, { headers })).data.passkeys[0]?.lastUseTime).not.toBeNull()
    // The password alone is not enough any more.
    expect((await enter(client, person)).code).toBe(10032)
    const [code] = factors.recoveryCodes ?? []
    expect((await enter(client, person, code)).data.method).toBe('password+code')
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
    const { data } = await client.call('startPasskeySession', {}, { headers: lies })
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
    expect((await enterBy(authenticator, lies)).code).toBe(10031)
    expect((await enterBy(authenticator)).code).toBe(0)
  })

  test('that nobody has, or of a disabled or reset account, is refused alike', async () => {
    const stranger = new Authenticator(origin)
    const refused = await enterBy(stranger)
    const { person, authenticator } = await personWithPasskey()
    await client.operate('updateOperator', { id: person.id, status: 2 })
    const disabled = await enterBy(authenticator)
    expect([disabled.status, disabled.text]).toEqual([refused.status, refused.text])
    expect(refused.code).toBe(10031)
    await client.operate('updateOperator', { id: person.id, status: 1 })
    expect((await enterBy(authenticator)).code).toBe(0)
    await client.operate('resetOperator', { id: person.id })
    expect((await enterBy(authenticator)).code).toBe(10031)
    const other = await personWithPasskey()
    expect((await client.operate('resetSecondFactors', { id: other.person.id, reason: 'lost' })).code).toBe(0)
    expect((await enterBy(other.authenticator)).code).toBe(10031)
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
    expect((await client.call('savePasskey', { ticket, credential, name: 'x' }, { headers })).code).toBe(10033)
    expect((await client.call('getSecondFactors', {}, { headers })).data.passkeys).toEqual([])
  })

  test('whose counter goes back is refused and told', async () => {
    const { person, authenticator } = await personWithPasskey()
    expect((await enterBy(authenticator)).code).toBe(0)
    expect((await enterBy(authenticator, { counter: 1 })).code).toBe(10031)
    const { list } = (await client.operate('pageAudit', { type: 'secondFactor.suspected' })).data
    expect(list[0]?.data).toMatchObject({ operatorId: person.id, factor: 'passkey', counter: 1 })
    expect((await enterBy(authenticator)).code).toBe(0)
  })

  test('whose counter stays 0 is accepted, as those that are synced', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const { options, ticket } = await begun(headers)
    const authenticator = new Authenticator(origin)
    const input = { ticket, credential: authenticator.create(options, { isSynced: true }), name: 'Of my phone' }
    const saved = await client.call('savePasskey', input, { headers })
    expect(saved.data.passkeys).toMatchObject([{ name: 'Of my phone', isSynced: true }])
    for (let time = 0; time < 2; time++) {
      expect((await enterBy(authenticator, { counter: 0, isSynced: true })).code).toBe(0)
    }
  })

  test('is removed, and only one’s own', async () => {
    const { person, headers, authenticator, factors } = await personWithPasskey()
    const other = await personWithPasskey()
    const [passkey] = factors.passkeys
    const foreign = await client.call('deletePasskey', { id: other.factors.passkeys[0]?.id }, { headers })
    expect(foreign.code).toBe(10056)
    const left = await client.call('deletePasskey', { id: passkey?.id }, { headers })
    expect(left.data).toMatchObject({ passkeys: [], recoveryCodesLeft: 0 })
    expect((await enterBy(authenticator)).code).toBe(10031)
    expect((await enter(client, person)).code).toBe(0)
  })

  test('is one of 20 at most', async () => {
    const { person, headers } = await personWithPasskey()
    const { ticket, options } = await begun(headers)
    await database.sql`
        insert into operator_passkey (operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
        select ${person.id}, ${person.name} || n, 'x', 0, false, 'x', now() from generate_series(1, 19) as n`
    const credential = new Authenticator(origin).create(options)
    expect((await client.call('savePasskey', { ticket, credential, name: 'x' }, { headers })).code).toBe(10001)
    expect((await client.call('startPasskey', {}, { headers })).code).toBe(10001)
  })
})

describe('a ticket', () => {
  test('works once, among many requests on several processes', async () => {
    const { authenticator } = await personWithPasskey()
    const { options, ticket } = (await client.call('startPasskeySession', {})).data
    const credential = authenticator.get(options, { counter: 0 })
    const answers = await Promise.all(
      Array.from({ length: atScale(40, 500) }, () => client.call('createSession', { ticket, credential })),
    )
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1)
    // So many refusals would lock this address.
    await database.sql`delete from sign_in_attempt`
    // Another spelling of the same bytes is not accepted either.
    expect((await client.call('createSession', { ticket: `${ticket}==`, credential })).code).toBe(10031)
  })

  test('is for its purpose and its account alone, and nothing is stored until it is used', async () => {
    const count = async () => (await database.sql`select count(*)::int as n from used_ticket`)[0]?.n
    const before = await count()
    const { person: _, headers } = await personWithPasskey()
    const [own, foreign] = [await begun(headers), await begun(await signIn(client, await newPerson(client, 'viewer')))]
    for (let time = 0; time < 5; time++) await client.call('startPasskeySession', {})
    expect((await count()) - before).toBe(1)
    const authenticator = new Authenticator(origin)
    const credential = authenticator.create(foreign.options)
    const input = { ticket: foreign.ticket, credential, name: 'x' }
    expect((await client.call('savePasskey', input, { headers })).code).toBe(10033)
    expect(
      (await client.call('createSession', { ticket: own.ticket, credential: authenticator.get(own.options) })).code,
    ).toBe(10031)
    for (const ticket of ['x', own.ticket.slice(0, -4), `${own.ticket.slice(0, -4)}AAAA`]) {
      expect((await client.call('createSession', { ticket, credential: {} })).code).toBe(10031)
    }
  })

  test('works for 5 minutes', async () => {
    const { authenticator } = await personWithPasskey()
    const [key = ''] = readFileSync(join(service.dataDir, 'secrets.key'), 'utf8').trim().split('\n')
    const box = new SecretBox([readKey(key) ?? Buffer.alloc(0)])
    const { options, ticket: text } = (await client.call('startPasskeySession', {})).data
    const ticket = openTicket<object>(box, 'passkey', text)
    expect(Math.round(((ticket?.until.getTime() ?? 0) - Date.now()) / 1000)).toBeWithin(291, 301)
    // The same ticket as it is when its time is over, and a second before.
    const enterWith = (left: number) => {
      const ticketOfThen = sealTicket(box, 'passkey', ticket?.content ?? {}, left)
      return client.call('createSession', { ticket: ticketOfThen, credential: authenticator.get(options) })
    }
    expect((await enterWith(-1)).code).toBe(10031)
    expect((await enterWith(1)).code).toBe(0)
  })

  test('names what is missing beside it', async () => {
    const { ticket } = (await client.call('startPasskeySession', {})).data
    expect((await client.call('createSession', { ticket })).text).toContain('"credential"')
    expect((await client.call('createSession', { credential: {} })).text).toContain('"ticket"')
  })
})

test('a passkey gives a session a new proof, if it is of the same account', async () => {
  const { headers, authenticator } = await personWithPasskey('admin')
  const other = await personWithPasskey()
  await database.sql`update operator_session set confirmed_at = now() - interval '1 hour'`
  const act = async () => (await client.call('createOperatorKey', {}, { headers })).code
  expect(await becomes(10035, act, rememberedMs)).toBe(10035)
  const confirm = async (by: Authenticator) => {
    const { options, ticket } = (await client.call('startPasskeySession', {})).data
    return client.call('confirmSession', { ticket, credential: by.get(options) }, { headers })
  }
  const lastUse = async () => (await client.call('getSecondFactors', {}, { headers: other.headers })).data.passkeys
  const before = await lastUse()
  expect((await confirm(other.authenticator)).code).toBe(10031)
  // It counts as a failure of its source, and as no use of the other account’s passkey.
  expect(await lastUse()).toEqual(before)
  const failures = async () =>
    (await database.sql`select failures from sign_in_attempt where key = 'source 127.0.0.1'`)[0]?.failures
  const counted = await failures()
  expect((await confirm(other.authenticator)).code).toBe(10031)
  expect(await failures()).toBe(counted + 1)
  expect(await act()).toBe(10035)
  expect((await confirm(authenticator)).code).toBe(0)
  expect(await act()).toBe(10001)
})
