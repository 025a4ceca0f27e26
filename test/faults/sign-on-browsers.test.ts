import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createOperator, createOperatorKey, getOperator } from '../../src/people/operators/contract.ts'
import { confirmSession, createSession, deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { completeSignOn } from '../../src/people/sign-on/contract.ts'
import { Client } from '../harness.ts'
import { codeOf, newGenerator, newPerson, signIn } from '../people.ts'
import { newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomes, type OwnDatabase, rememberedMs } from './support.ts'

// Which browser a sign-on belongs to: the cookies of the service, and the session that began a link or a confirmation.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, ofSession, codeOfSession } = bed
let database: OwnDatabase
let client: Client
/** A service whose address is https. */
let secure: Client
/** A service that learns from its proxy that its address is https. */
let proxied: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  await bed.start()
  ;({ database, client } = bed)
  const own = { FORECOURT_PUBLIC_URL: 'https://forecourt.example', FORECOURT_OIDC_ROLES: 'operator=*' }
  secure = new Client(await bed.place.startService({ env: { ...bed.env, ...own } }))
  const proxy = { DATABASE_URL: database.url(), FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1' }
  proxied = new Client(await bed.place.startService({ env: proxy }))
}, 120_000)
beforeEach(() => bed.tellTruth())

const cookiesOf = (headers: Headers) => headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
const plainOf = (cookie: string) => cookie.replace(/^__Host-/, '')

/** What a browser's navigation brings back: its flow, and its session if it is sent. */
const arrival = (headers: Headers) => cookiesOf(headers).find((each) => each.includes('forecourt_arrival=')) ?? ''
const completes = (cookie: string) => client.call(completeSignOn, {}, { headers: { cookie } })

async function ageProofs() {
  await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
}

describe('a cookie without __Host-', () => {
  test.each<[string, () => Client, Record<string, string>]>([
    ['by the public address', () => secure, {}],
    ['by the word of a trusted proxy', () => proxied, { 'x-forwarded-proto': 'https' }],
  ])('is ignored behind https, %s: of a session, and of a browser that is known', async (_, service, proto) => {
    const person = await newPerson(service(), 'viewer')
    const { name, password } = person
    const entered = await service().call(createSession, { name, password }, { headers: proto })
    const [session = ''] = cookiesOf(entered.headers)
    expect(entered.headers.get('set-cookie')).toMatch(/^__Host-forecourt_session=.*; Secure$/)
    const ask = (cookie: string) => service().call(getSession, {}, { headers: { ...proto, cookie } })
    expect((await ask(session)).code).toBe(0)
    expect((await ask(plainOf(session))).code).toBe(10002)
    const [browser = ''] = cookiesOf((await ask(session)).headers)
    expect(browser).toStartWith('__Host-forecourt_browser=')

    // Ten wrong passwords shut out whoever is unknown, and not the browser that is known by its cookie.
    const enter = (cookie: string, typed: string) =>
      service().call(createSession, { name, password: typed }, { headers: { ...proto, cookie } })
    for (let time = 0; time < 10; time++) await enter('', 'wrong')
    expect((await enter(plainOf(browser), password)).code).toBe(10007)
    const again = await enter(browser, password)
    expect(again.code).toBe(0)
    const [own = ''] = cookiesOf(again.headers)
    const left = await service().call(deleteSession, {}, { headers: { ...proto, cookie: own } })
    expect(cookiesOf(left.headers)).toContain('__Host-forecourt_session=')
  })

  test('is ignored behind https: of a sign-on', async () => {
    const { cookie, url } = await begin({ service: secure })
    const sub = newSubject()
    const query = provider.issue(url, { sub, name: sub })
    expect(cookie).toStartWith('__Host-forecourt_sign_on=')
    provider.asked = []
    const planted = await callBack(query, plainOf(cookie), secure)
    expect([planted.status, planted.refusal, planted.told.getSetCookie()]).toEqual([303, 10061, []])
    expect(provider.asked).toEqual([])
    const back = await callBack(query, cookie, secure)
    expect(back.refusal).toBe(0)
    expect(cookiesOf(back.told)).toContain('__Host-forecourt_sign_on=')
    expect(cookiesOf(back.told).some((each) => each.startsWith('__Host-forecourt_session='))).toBe(true)
  })

  test('is ignored behind https: of an arrival', async () => {
    const person = await newPerson(secure, 'viewer')
    const session = cookiesOf(
      (await secure.call(createSession, { name: person.name, password: person.password })).headers,
    ).join()
    const { cookie, url } = await begin({ service: secure, purpose: 'link', headers: { cookie: session } })
    const back = await callBack(provider.issue(url, { sub: newSubject() }), cookie, secure)
    const arrived = arrival(back.told)
    expect(arrived).toStartWith('__Host-forecourt_arrival=')
    const complete = (cookie: string) => secure.call(completeSignOn, {}, { headers: { cookie } })
    expect((await complete(`${session}; ${plainOf(arrived)}`)).code).toBe(10061)
    expect((await complete(`${session}; ${arrived}`)).code).toBe(0)
  })
})

describe('a link', () => {
  const linked = async (id: number) => (await client.operate(getOperator, { id })).data.isLinked

  test('is carried out at the callback for the session that began it, and for no other', async () => {
    const [attacker, victim] = [await newPerson(client, 'viewer'), await newPerson(client, 'viewer')]
    const [own, others] = [await signIn(client, attacker), await signIn(client, victim)]
    const link = async () => {
      const { cookie, url } = await begin({ purpose: 'link', headers: own })
      return { cookie, query: provider.issue(url, { sub: newSubject() }) }
    }
    const first = await link()
    const planted = await callBack(first.query, `${first.cookie}; ${others.cookie}`)
    expect([planted.status, planted.path, planted.refusal]).toEqual([303, '/console/account', 10061])
    const second = await link()
    const alone = await callBack(second.query, second.cookie)
    expect([alone.status, alone.path, alone.refusal]).toEqual([303, '/console/account', 0])
    expect(cookiesOf(alone.told)).toContain('forecourt_sign_on=')
    expect((await completes(`${arrival(alone.told)}; ${others.cookie}`)).code).toBe(10061)
    expect((await completes(arrival(alone.told))).code).toBe(10002)
    expect([await linked(attacker.id), await linked(victim.id)]).toEqual([false, false])
    const third = await link()
    expect((await callBack(third.query, `${third.cookie}; ${own.cookie}`)).refusal).toBe(0)
    expect(await linked(attacker.id)).toBe(true)
  })

  test('is completed by the page when its session’s cookie did not come with the navigation, once', async () => {
    const person = await newPerson(client, 'viewer')
    const own = await signIn(client, person)
    const returnTo = '/console/account?x=1'
    const { cookie, url } = await begin({ purpose: 'link', returnTo, headers: own })
    const back = await callBack(provider.issue(url, { sub: newSubject() }), cookie)
    expect(`${back.location.pathname}${back.location.search}`).toBe('/console/account?signOn=complete')
    expect(await linked(person.id)).toBe(false)
    const browser = `${arrival(back.told)}; ${own.cookie}`
    const site = { cookie: browser, origin: 'https://evil.example' }
    expect((await client.call(completeSignOn, {}, { headers: site })).code).toBe(10002)
    const done = await completes(browser)
    expect(done.data).toEqual({ returnTo })
    expect(cookiesOf(done.headers)).toEqual(['forecourt_arrival='])
    expect(await linked(person.id)).toBe(true)
    expect((await completes(browser)).code).toBe(10061)
  })
})

describe('a confirmation', () => {
  test('is completed by the page, and gives no proof before', async () => {
    const sub = newSubject()
    const own = { cookie: (await comes({ sub, name: sub, groups: ['chiefs'] })).session ?? '' }
    const act = async () => (await client.call(createOperatorKey, {}, { headers: own })).code
    await ageProofs()
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    const { cookie, url } = await begin({ purpose: 'confirm', headers: own })
    const back = await callBack(provider.issue(url, { sub, groups: ['chiefs'] }), cookie)
    expect([back.refusal, await act()]).toEqual([0, 10035])
    expect((await completes(`${arrival(back.told)}; ${own.cookie}`)).code).toBe(0)
    expect(await act()).toBe(10001)
  })

  test.each([true, false])('takes the claims anew, with the cookie of the session (%p) or without', async (isSent) => {
    const sub = newSubject()
    const own = { cookie: (await comes({ sub, name: sub, groups: ['chiefs'] })).session ?? '' }
    const { operatorId } = await ofSession(own.cookie)
    const confirm = async (groups: string[]) => {
      const { cookie, url } = await begin({ purpose: 'confirm', headers: own })
      return callBack(provider.issue(url, { sub, groups }), isSent ? `${cookie}; ${own.cookie}` : cookie)
    }
    await confirm(['guests'])
    const make = { name: newSubject(), role: 'admin' } as const
    expect((await client.call(createOperator, make, { headers: own })).code).toBe(10003)
    expect((await client.operate(getOperator, { id: operatorId ?? 0 })).data.role).toBe('viewer')
    expect((await confirm(['nothing'])).refusal).toBe(10062)
    expect(await codeOfSession(own.cookie)).toBe(10002)
  })

  test('at a link too: an identity whose claims give no role is refused, and its account’s sessions end', async () => {
    const sub = newSubject()
    const gone = (await comes({ sub, name: sub, groups: ['ops'] })).session
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    expect((await comes({ sub, groups: [] }, {}, { purpose: 'link', headers })).refusal).toBe(10062)
    expect(await codeOfSession(gone)).toBe(10002)
  })

  test('by the provider alone is not enough where our second factor is asked for too', async () => {
    const strict = await bed.startStrict()
    const person = await newPerson(strict, 'admin')
    const headers = await signIn(strict, person)
    const { secret, recoveryCodes } = await newGenerator(strict, headers)
    const sub = newSubject()
    await comes({ sub }, {}, { purpose: 'link', headers, service: strict })
    const own = { cookie: (await comes({ sub }, {}, { service: strict })).session ?? '' }
    const confirm = (shown: object) => strict.call(confirmSession, shown, { headers: own })
    expect((await confirm({ code: codeOf(secret) })).data.isLimited).toBe(false)
    await ageProofs()
    const act = async () => (await strict.call(createOperatorKey, {}, { headers: own })).code
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    const [first = '', second = ''] = recoveryCodes
    // A code alone proves nobody.
    expect((await confirm({ code: first })).code).toBe(10001)
    const back = await comes({ sub }, {}, { purpose: 'confirm', headers: own, service: strict })
    expect([back.path, back.refusal]).toEqual(['/console/account', 10032])
    expect(await act()).toBe(10035)
    expect((await confirm({ code: 'aaaa-aaaa-aaaa-aaaa' })).code).toBe(10033)
    expect((await confirm({ code: first })).code).toBe(0)
    expect(await act()).toBe(10001)
    // The provider's part counts once.
    expect((await confirm({ code: second })).code).toBe(10001)
  })
})

test('a sign-in by single sign-on ends the session that its browser had', async () => {
  const former = await signIn(client, await newPerson(client, 'viewer'))
  const { cookie, url } = await begin({ headers: former })
  const sub = newSubject()
  // The callback comes without the session's cookie, as from another site.
  const back = await callBack(provider.issue(url, { sub, name: sub, groups: ['ops'] }), cookie)
  expect(back.session).toBeDefined()
  expect(await codeOfSession(former.cookie)).toBe(10002)
})
