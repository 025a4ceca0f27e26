import { describe, expect, test } from 'bun:test'
import type { AuditRecord } from '../../src/events/contract.ts'
import { clearAttempts } from '../../src/people/sign-in-attempts/store.ts'
import type { PlatformEventType } from '../../src/vocabulary/event-types.ts'
import type { Answer } from '../kit/client.ts'
import { cookieOf, newPassword, newPerson, type Person, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { twoServices } from '../kit/two-services.ts'

// Password guessing from many addresses. The service trusts this machine as a proxy, so that the tests can set a
// client's address by header.

const {
  database,
  clients: [client],
} = await twoServices()

let sources = 0
/** An address that no other test uses. */
const newSource = () => `198.${18 + Math.floor(++sources / 65_536)}.${Math.floor(sources / 256) % 256}.${sources % 256}`

function tryIt(name: string, password: string, address: string, headers: Record<string, string> = {}) {
  return client.call('createSession', { name, password }, { headers: { 'x-forwarded-for': address, ...headers } })
}

/** Guesses a wrong password for one name several times, from one address or each time from a new one. */
async function guess(name: string, times: number, address?: string): Promise<number[]> {
  const codes: number[] = []
  for (let index = 0; index < times; index++) {
    codes.push((await tryIt(name, newPassword(), address ?? newSource())).code)
  }
  return codes
}

/** Sets the number of failed attempts so far. */
const setFailures = (key: string, failures: number) =>
  database.sql`update sign_in_attempt set failures = ${failures} where key = ${key}`

async function trail(query: Record<string, string>): Promise<AuditRecord[]> {
  return (await client.operate('pageAudit', { pageSize: '100', ...query })).data.list
}

/** The cookies that a response sets. */
const cookiesOf = (answer: Answer<unknown>) => answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])

describe('wrong passwords', () => {
  test('shut a name for the source that they come from, and for nobody else', async () => {
    const person = await newPerson(client, 'viewer')
    const [attacker, home] = [newSource(), newSource()]
    expect(await guess(person.name, 12, attacker)).toEqual([...Array(10).fill(10031), 10007, 10007])
    expect((await tryIt(person.name, person.password, attacker)).code).toBe(10007)
    expect((await tryIt(person.name, person.password, home)).code).toBe(0)
  })

  test('are counted over the 64 bits that one customer of IPv6 has', async () => {
    const person = await newPerson(client, 'viewer')
    const codes: number[] = []
    for (let index = 0; index < 11; index++) {
      codes.push((await tryIt(person.name, 'wrong', `2001:db8:7:1::${index.toString(16)}`)).code)
    }
    expect(codes).toEqual([...Array(10).fill(10031), 10007])
    expect((await tryIt(person.name, person.password, '2001:db8:7:2::1')).code).toBe(0)
  })

  test('over many names are limited by their source, whether the names exist or not', async () => {
    const [person, attacker] = [await newPerson(client, 'viewer'), newSource()]
    const codes: number[] = []
    const spray = async () => codes.push((await tryIt(newSerial('no'), 'wrong', attacker)).code)
    for (let index = 0; index < 12; index++) await spray()
    expect(codes).toEqual(Array(12).fill(10031))
    await setFailures(`source ${attacker}`, 98)
    for (let index = 0; index < 4; index++) await spray()
    expect(codes.slice(12)).toEqual([10031, 10031, 10007, 10007])
    const limited = await tryIt(person.name, person.password, attacker)
    expect([limited.code, Number(limited.headers.get('retry-after')) > 0]).toEqual([10007, true])
    expect((await tryIt(person.name, person.password, newSource())).code).toBe(0)
  })

  test('from many sources shut a name, but not for a browser that has signed in before', async () => {
    const person = await newPerson(client, 'viewer')
    const home = newSource()
    const signedIn = await tryIt(person.name, person.password, home)
    const browser = { cookie: String(cookiesOf(signedIn)[0]) }
    expect(await guess(person.name, 2)).toEqual([10031, 10031])
    // As after 96 more failed attempts.
    await setFailures(`account ${person.id}`, 98)
    expect(await guess(person.name, 4)).toEqual([10031, 10031, 10007, 10007])
    expect((await tryIt(person.name, person.password, newSource())).code).toBe(10007)
    const again = await tryIt(person.name, person.password, newSource(), browser)
    expect(again.code).toBe(0)
    // The cookie of a browser that has signed in before helps its own account only, and does not permit more guesses.
    const other = await newPerson(client, 'viewer')
    expect(await guess(other.name, 10, home)).toEqual(Array(10).fill(10031))
    const own = { cookie: cookieOf(again) }
    expect((await tryIt(other.name, other.password, home, own)).code).toBe(10007)
    for (let index = 0; index < 10; index++) {
      expect((await tryIt(person.name, 'wrong', newSource(), own)).code).toBe(10031)
    }
    expect((await tryIt(person.name, person.password, newSource(), own)).code).toBe(10007)
  })

  test('do not shut out a browser that has signed out', async () => {
    const person = await newPerson(client, 'viewer')
    const session = { cookie: cookieOf(await tryIt(person.name, person.password, newSource())) }
    const answer = await client.call('deleteSession', {}, { headers: session })
    const [gone, mark] = cookiesOf(answer)
    expect(gone).toBe('forecourt_session=')
    expect(mark).toBe(session.cookie.replace('session', 'browser'))
    expect(answer.headers.getSetCookie()[1]).toContain('Max-Age=15552000')
    expect((await client.call('getSession', {}, { headers: { cookie: String(mark) } })).code).toBe(10002)
    const source = newSource()
    await guess(person.name, 11, source)
    expect((await tryIt(person.name, person.password, source)).code).toBe(10007)
    expect((await tryIt(person.name, person.password, source, { cookie: String(mark) })).code).toBe(0)
  })
})

test('a name that nobody has is refused no sooner than a wrong password', async () => {
  const person = await newPerson(client, 'viewer')
  const times = { wrong: [] as number[], nobody: [] as number[] }
  for (let round = 0; round < 8; round++) {
    for (const kind of ['wrong', 'nobody'] as const) {
      const began = performance.now()
      const { code } = await tryIt(kind === 'wrong' ? person.name : newSerial('no'), newPassword(), newSource())
      times[kind].push(performance.now() - began)
      expect(code).toBe(10031)
    }
  }
  // The time of a sign-in is nearly all spent on hashing the password, the one step that could be skipped for an
  // unknown name. What else runs on the machine can only add to it, so the least time of each counts.
  const [wrong, nobody] = [Math.min(...times.wrong), Math.min(...times.nobody)]
  expect(nobody).toBeGreaterThan(wrong / 2)
  expect(nobody).toBeLessThan(wrong * 2)
})

test('hashing has one gate: floods are told 50003 and harm nobody behind it', async () => {
  const person = await newPerson(client, 'viewer')
  const flood = await Promise.all(Array.from({ length: 120 }, () => tryIt(newSerial('no'), newPassword(), newSource())))
  const codes = flood.map(({ code }) => code)
  expect(new Set(codes)).toEqual(new Set([10031, 50003]))
  expect(codes.filter((code) => code === 10031).length).toBeGreaterThanOrEqual(20)
  expect((await tryIt(person.name, person.password, newSource())).code).toBe(0)
})

test('a set-up link is looked up before anything is hashed', async () => {
  const began = performance.now()
  const asked = Array.from({ length: 300 }, () =>
    client.call('setUpOperator', { setUpToken: newPassword(), password: newPassword() }),
  )
  // So many requests would exceed the limit of concurrent hashes.
  expect(new Set((await Promise.all(asked)).map(({ code }) => code))).toEqual(new Set([10052]))
  expect(performance.now() - began).toBeLessThan(30_000)
})

describe('the audit trail', () => {
  const last = async (type: string, subject: string) => (await trail({ type, subject }))[0]

  test('holds sign-ins, sign-outs and ended sessions, with their source', async () => {
    const person = await newPerson(client, 'viewer')
    const source = newSource()
    const signedIn = await tryIt(person.name, person.password, source)
    const { id } = signedIn.data
    expect(signedIn.data.address).toBe(source)
    const who = { actor: `operator:${person.name}`, actorId: person.id, address: source }
    expect(await last('session.created', String(id))).toMatchObject({ ...who, data: { id, operatorId: person.id } })
    expect((await client.operate('pageSessions', { operatorId: person.id })).data.list[0]?.address).toBe(source)
    const headers = { cookie: cookieOf(signedIn), 'x-forwarded-for': newSource() }
    expect((await client.call('deleteSession', {}, { headers })).code).toBe(0)
    const ended = await last('session.ended', String(id))
    expect(ended).toMatchObject({ ...who, address: headers['x-forwarded-for'], data: { name: person.name } })

    const other = (await tryIt(person.name, person.password, source)).data.id
    await client.operate('deleteSession', { id: other }, { headers: { 'x-forwarded-for': source } })
    expect(await last('session.ended', String(other))).toMatchObject({ actor: 'operator:operator', actorId: null })
  })

  test('holds refused sign-ins and locks: at once, and then with a count a minute', async () => {
    const person = await newPerson(client, 'viewer')
    const subject = String(person.id)
    const source = newSource()
    const outcomes = ['refused', 'locked']
    const counts = async () => {
      const { text } = await client.operate('getMetrics', {})
      return outcomes.map((outcome) =>
        Number(text.split(`\nforecourt_sign_ins_total{outcome="${outcome}"} `)[1]?.split('\n')[0]),
      )
    }
    const before = await counts()
    await guess(person.name, 14, source)
    expect((await counts()).map((count, index) => count - (before[index] ?? 0))).toEqual([10, 4])
    const [refused, ...more] = await trail({ type: 'session.refused', subject })
    expect(more).toEqual([])
    const who = { operatorId: person.id, name: person.name }
    expect(refused).toMatchObject({ actor: 'anyone', actorId: null, address: source, data: { ...who, count: 1 } })
    const locks = await trail({ type: 'session.locked', subject })
    expect(locks.map(({ address, data }) => ({ address, data }))).toEqual([
      { address: source, data: { ...who, limit: 'nameAndSource', seconds: expect.any(Number) } },
    ])
    // Later attempts are logged when their minute is over.
    await database.sql`update sign_in_attempt set logged_at = now() - interval '2 minutes'`
    await database.run((sql) => sql.begin((tx) => clearAttempts(tx, 10_000)))
    const [counted] = await trail({ type: 'session.refused', subject })
    expect(counted?.data).toEqual({ ...who, count: 9 })
    // The log must not contain an unknown name, because it may be a password that was typed into the wrong field.
    const [secret, elsewhere] = [newPassword(), newSource()]
    await tryIt(secret, 'wrong', elsewhere)
    const unknown = await trail({ type: 'session.refused' })
    expect(unknown.find(({ address }) => address === elsewhere)).toMatchObject({ subject: null, data: { name: null } })
    expect(JSON.stringify(unknown)).not.toContain(secret)
  })

  longTest('does not grow without end by strangers', async () => {
    const all = () =>
      database.run(async (sql) =>
        Number((await sql`select count(*) as n from event where type in ('session.refused', 'session.locked')`)[0]?.n),
      )
    await database.sql`delete from sign_in_attempt where key = 'told'`
    const before = await all()
    const strangers = () => Promise.all(Array.from({ length: 5 }, () => tryIt(newSerial('no'), 'wrong', newSource())))
    await strangers()
    expect((await all()) - before).toBe(5)
    await setFailures('told', 298)
    await strangers()
    await strangers()
    expect((await all()) - before).toBe(7)
  })

  test('knows who it was when the name is another’s by now', async () => {
    await database.sql`delete from sign_in_attempt`
    const { headers, ...person } = await newSignedIn(client, 'operator')
    const newer = newPassword()
    const changed = await client.call('changePassword', { password: person.password, newPassword: newer }, { headers })
    expect(changed.code).toBe(0)
    await client.operate('updateOperator', { id: person.id, name: newSerial('renamed') })
    const namesake: Person = await newPerson(client, 'operator')
    await client.operate('updateOperator', { id: namesake.id, name: person.name })
    await signIn(client, { ...namesake, name: person.name })
    const types = async (id: number) => (await trail({ actorId: String(id) })).map(({ type }) => type)
    expect(await types(person.id)).toEqual(['operator.passwordChanged', 'session.created'])
    expect(await types(namesake.id)).toEqual(['session.created'])
    const named = await trail({ actor: `operator:${person.name}` })
    expect(named.map(({ actorId }) => actorId)).toEqual([namesake.id, person.id, person.id])
  })

  test('holds changed passwords, rotations, replays and tests, with who did them and from where', async () => {
    const person = await newPerson(client, 'admin')
    const headers = { ...(await signIn(client, person)), 'x-forwarded-for': newSource() }
    const thirdPartyConfig = { operatorName: 'Operator', callbackUrl: 'https://callbacks.example.com/' }
    const { appId } = await newApplication(client, { thirdPartyConfig })
    const range = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
    const passwords = { password: person.password, newPassword: newPassword() }
    const done: [PlatformEventType, string, Answer<unknown>][] = [
      ['operator.passwordChanged', String(person.id), await client.call('changePassword', passwords, { headers })],
      ['application.secretRotated', appId, await client.call('rotateApplicationSecret', { appId }, { headers })],
      ['thirdPartyConfig.secretRotated', appId, await client.call('rotateCallbackSecret', { appId }, { headers })],
      ['delivery.replayed', appId, await client.call('replayDeliveries', { appId, ...range }, { headers })],
      ['delivery.tested', appId, await client.call('testDelivery', { appId }, { headers })],
    ]
    const who = { actor: `operator:${person.name}`, actorId: person.id, address: headers['x-forwarded-for'] }
    for (const [type, subject, { code, text }] of done) {
      expect([type, code], text).toEqual([type, 0])
      expect(await last(type, subject), type).toMatchObject({ type, ...who })
    }
  })

  test('keeps ids and addresses from applications', async () => {
    const person = await newPerson(client, 'operator')
    const application = await newApplication(client)
    const headers = await signIn(client, person)
    await client.send('/api/platform/v1/application/offline', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ appId: application.appId }),
    })
    const feed = await client.call('pageEvents', {}, { token: application.token })
    const [event] = feed.data.list.slice(-1)
    expect(Object.keys(event ?? {})).toEqual(['id', 'type', 'appId', 'time', 'occurredAt', 'actor', 'data'])
    expect(event?.actor).toBe(`operator:${person.name}`)
    expect((await trail({ appId: application.appId }))[0]?.actorId).toBe(person.id)
  })
})
