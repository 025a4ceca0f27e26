import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createOperatorKey, pageOperators } from '../../src/people/operators/contract.ts'
import { savePasskey, startPasskey } from '../../src/people/second-factor/contract.ts'
import {
  confirmSession,
  createSession,
  deleteSession,
  getSession,
  startPasskeySession,
} from '../../src/people/sessions/contract.ts'
import { getSignOn } from '../../src/people/sign-on/contract.ts'
import { Authenticator } from '../authenticator.ts'
import { Client, runServiceToItsEnd } from '../harness.ts'
import { codeOf, newGenerator, newPerson, type Person, signIn } from '../people.ts'
import { TestProvider } from '../provider.ts'
import { namedUrl, newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomesTrue, type OwnDatabase } from './support.ts'

// What the settings of single sign-on allow.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, ofSession, place } = bed
let database: OwnDatabase
let client: Client
let env: Record<string, string>
let strict: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  await bed.start()
  ;({ database, client, env } = bed)
  strict = await bed.startStrict()
}, 120_000)
beforeEach(() => bed.tellTruth())

describe('the settings', () => {
  test('may ask people who come by sign-on for our second factor', async () => {
    const person = await newPerson(strict, 'admin')
    const headers = await signIn(strict, person)
    const { secret } = await newGenerator(strict, headers)
    const sub = newSubject()
    await comes({ sub }, {}, { purpose: 'link', headers, service: strict })
    const back = await comes({ sub }, {}, { service: strict })
    const own = { cookie: back.session ?? '' }
    expect(await ofSession(back.session, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    expect((await strict.call(pageOperators, {}, { headers: own })).code).toBe(10034)
    expect((await strict.call(confirmSession, { code: '000000' }, { headers: own })).code).toBe(10033)
    const shown = await strict.call(confirmSession, { code: codeOf(secret) }, { headers: own })
    expect(shown.data).toMatchObject({ method: 'signOn+code', isLimited: false })
    expect((await strict.call(pageOperators, {}, { headers: own })).code).toBe(0)

    // The factor alone is not a proof of the person.
    const later = (await comes({ sub }, {}, { service: strict })).session ?? ''
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    await database.run((sql) => sql`update operator_totp set used_step = 0`)
    const alone = await strict.call(confirmSession, { code: codeOf(secret) }, { headers: { cookie: later } })
    expect(alone.data.isLimited).toBe(false)
    expect((await strict.call(createOperatorKey, {}, { headers: { cookie: later } })).code).toBe(10035)
  })

  test('may ask for our second factor, which a passkey is too, and one that is set up then', async () => {
    const [person, other] = [await newPerson(strict, 'admin'), await newPerson(strict, 'admin')]
    const headers = await signIn(strict, person)
    const begun = (await strict.call(startPasskey, {}, { headers })).data
    const authenticator = new Authenticator(namedUrl)
    const passkey = { ticket: begun.ticket, credential: authenticator.create(begun.options), name: 'x' }
    expect((await strict.call(savePasskey, passkey, { headers })).code).toBe(0)
    const signsOn = async (by: { cookie: string }) => {
      const sub = newSubject()
      await comes({ sub }, {}, { purpose: 'link', headers: by, service: strict })
      return { cookie: (await comes({ sub }, {}, { service: strict })).session ?? '' }
    }
    const own = await signsOn(headers)
    expect(await ofSession(own.cookie, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    const { options, ticket } = (await strict.call(startPasskeySession, {})).data
    const shown = { ticket, credential: authenticator.get(options) }
    expect((await strict.call(confirmSession, shown, { headers: own })).data).toMatchObject({
      method: 'signOn+passkey',
      isLimited: false,
    })

    const without = await signsOn(await signIn(strict, other))
    expect((await strict.call(pageOperators, {}, { headers: without })).code).toBe(10034)
    await newGenerator(strict, without)
    expect((await strict.call(pageOperators, {}, { headers: without })).code).toBe(0)
    expect(await ofSession(without.cookie, strict)).toMatchObject({ method: 'signOn+code', isLimited: false })
  })

  test('may leave passwords to admins', async () => {
    const enter = ({ name, password }: Person) => strict.call(createSession, { name, password })
    const viewer = await newPerson(strict, 'viewer')
    expect((await enter(viewer)).code).toBe(10066)
    expect((await enter({ ...viewer, password: 'wrong' })).code).toBe(10031)
    expect((await enter(await newPerson(strict, 'admin'))).code).toBe(0)
  })

  test('without roles give nobody an account', async () => {
    expect((await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] }, {}, { service: strict })).refusal).toBe(
      10062,
    )
  })

  test.each<[string, Record<string, string>, string]>([
    ['no client', { FORECOURT_OIDC_CLIENT_ID: '' }, 'FORECOURT_OIDC_CLIENT_ID'],
    ['no address', { FORECOURT_PUBLIC_URL: '' }, 'FORECOURT_PUBLIC_URL'],
    ['plain http', { FORECOURT_OIDC_ISSUER: 'http://login.example.com' }, 'FORECOURT_OIDC_ISSUER'],
    ['a role that there is not', { FORECOURT_OIDC_ROLES: 'boss=a' }, 'FORECOURT_OIDC_ROLES'],
    ['roles without an issuer', { FORECOURT_OIDC_ISSUER: '', FORECOURT_OIDC_ROLES: 'admin=a' }, 'FORECOURT_OIDC_ROLES'],
    ['an unknown role for a factor', { FORECOURT_REQUIRE_SECOND_FACTOR: 'boss' }, 'FORECOURT_REQUIRE_SECOND_FACTOR'],
    ['a proof of no time', { FORECOURT_CONFIRM_SECONDS: '0' }, 'FORECOURT_CONFIRM_SECONDS'],
  ])('with %s end the start with one sentence', async (_, wrong, named) => {
    const { code, stderr } = await runServiceToItsEnd({ env: { ...env, ...wrong } })
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(named)])
  })

  test('with a provider that is away let the service start, and people in and out', async () => {
    const gone = new TestProvider()
    await gone.start()
    gone.lies = { hangs: true }
    const own = await place.startService({
      env: { ...env, FORECOURT_OIDC_ISSUER: gone.issuer, FORECOURT_PASSWORDS: 'admins' },
    })
    const away = new Client(own)
    expect((await away.send('/readyz', {})).status).toBe(200)
    await signIn(away, await newPerson(away, 'admin'))
    expect((await away.call(createSession, { operatorKey: away.operatorKey })).code).toBe(0)

    // A session ends before the provider is asked where to sign out.
    const sub = newSubject()
    const headers = { cookie: (await comes({ sub, name: sub, groups: ['ops'] })).session ?? '' }
    const left = away.call(deleteSession, {}, { headers })
    expect(await becomesTrue(() => gone.asked.length > 0)).toBe(true)
    expect((await client.call(getSession, {}, { headers })).code).toBe(10002)
    gone.stop()
    expect((await left).data).toEqual({ ended: true, signOutUrl: null })
    const { answer } = await begin({ service: away })
    expect([answer.status, answer.code]).toEqual([503, 10063])
    await own.stop()
  })
})

test('a service without a provider says so', async () => {
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  const off = new Client(service)
  expect((await off.call(getSignOn, {})).data).toMatchObject({ enabled: false, passkeys: false })
  expect((await begin({ service: off })).answer.code).toBe(10060)
  const back = await callBack({ code: 'x', state: 'y' }, '', off)
  expect([back.status, back.path, back.refusal]).toEqual([303, '/console/sign-in', 10060])
  await service.stop()
})

test('a service behind https has cookies of this host alone, and idle sessions end after 12 hours', async () => {
  const own = { FORECOURT_PUBLIC_URL: 'https://forecourt.example', FORECOURT_OIDC_ROLES: 'operator=*' }
  const behind = new Client(await place.startService({ env: { ...env, ...own, FORECOURT_OIDC_SESSION_HOURS: '100' } }))
  const { answer, cookie, url } = await begin({ service: behind })
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-forecourt_sign_on=.*; Secure$/)
  const sub = newSubject()
  const back = await callBack(provider.issue(url, { sub, name: sub }), cookie, behind)
  expect(back.told.getSetCookie().join()).toContain('__Host-forecourt_sign_on=;')
  expect(back.told.getSetCookie().join()).toMatch(/__Host-forecourt_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict/)
  const [row] = await database.run(
    (sql) => sql`select extract(epoch from s.expires_at - s.created_at)::float8 / 3600 as idle,
        extract(epoch from s.ends_at - s.created_at)::float8 / 3600 as longest, o.role
      from operator_session s join operator o on o.id = s.operator_id where o.name = ${sub}`,
  )
  expect(row).toEqual({ idle: 12, longest: 100, role: 'operator' })
})
