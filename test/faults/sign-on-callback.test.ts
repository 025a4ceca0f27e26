import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTicket, sealTicket } from '../../src/people/tickets/tickets.ts'
import { readKey, SecretBox } from '../../src/secrets/box.ts'
import { Authenticator } from '../kit/authenticator.ts'
import { Client, rememberedMs } from '../kit/client.ts'
import { codeOf, newGenerator, newPerson, signIn } from '../kit/people.ts'
import type { Lies } from '../kit/provider.ts'
import { longTest } from '../kit/scale.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { becomes, waitUntil } from '../kit/waits.ts'
import { claimsOf, namedUrl, newSubject, SignOnBed } from './sign-on-bed.ts'

// What the browser brings back from the provider: in which browser, with what the provider says then, and what strangers
// and a slow provider do.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, signsOn, refusalOf, link, ageProofs, ofSession, codeOfSession } = bed
/** A service whose address is https, where idle sessions end before long ones do. */
afterAll(() => bed.clear(), 60_000)

await bed.start()
const { database, service, client } = bed
const own = {
  FORECOURT_PUBLIC_URL: 'https://forecourt.example',
  FORECOURT_OIDC_ROLES: 'operator=*',
  FORECOURT_OIDC_SESSION_HOURS: '100',
}
const secure = new Client(await bed.place.startService({ env: { ...bed.env, ...own } }))
const strict = await bed.startStrict()
beforeEach(() => bed.tellTruth())

const cookiesOf = (headers: Headers) => headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
const plainOf = (cookie: string) => cookie.replace(/^__Host-/, '')

/** What a browser's navigation brings back: its flow, and its session if it is sent. */
const arrival = (headers: Headers) => cookiesOf(headers).find((each) => each.includes('forecourt_arrival=')) ?? ''
const completes = (cookie: string, by = client) => by.call('completeSignOn', {}, { headers: { cookie } })

/** A sign-on that has begun: the cookie of its flow, and what the provider sends the browser back with. */
async function begun(
  claims: Record<string, unknown> = claimsOf(),
  way: Parameters<typeof begin>[0] = {},
  lies: Lies = {},
) {
  const { cookie, url } = await begin(way)
  return { cookie, query: provider.issue(url, claims, lies) }
}

describe('strangers', () => {
  const many = <Result>(count: number, run: () => Promise<Result>) => Promise.all(Array.from({ length: count }, run))
  const ticketsKept = async () => (await database.sql`select count(*)::int as tickets from used_ticket`)[0]?.tickets

  test('leave no row, and at most 20 log lines of a kind a minute', async () => {
    const before = await ticketsKept()
    const headers = { 'x-forwarded-for': '198.51.100.70' }
    const inventing = (words: Record<string, string>) => async () => {
      const { cookie, url } = await begin({ headers, service: strict })
      const state = new URL(url).searchParams.get('state') ?? ''
      return (await callBack({ state, ...words }, cookie, strict, headers)).refusal
    }
    expect(new Set(await many(60, inventing({ error: 'access_denied' })))).toEqual(new Set([10061]))
    const refusals = await many(120, inventing({ code: 'invented' }))
    expect(refusals.filter((code) => code === 10061)).toHaveLength(100)
    expect(refusals.filter((code) => code === 10007)).toHaveLength(20)
    await many(30, () => strict.call('logOutByProvider', { logout_token: 'rubbish' }))
    const { options, ticket } = (await strict.call('startPasskeySession', {})).data
    const credential = new Authenticator(namedUrl).get(options)
    for (let time = 0; time < 3; time++)
      expect((await strict.call('createSession', { ticket, credential })).code).toBe(10031)
    expect(await ticketsKept()).toBe(before)
    // Nobody was refused at this process before.
    expect(bed.strict?.stderr().match(/single sign-on refused/g)).toHaveLength(20)
  })

  longTest('105 people of one address come in at once on two processes, by a slow provider', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.71' }
    const env = { ...bed.env, FORECOURT_OIDC_ROLES: 'operator=ops' }
    const other = new Client(await bed.place.startService({ env }))
    provider.slowMs = 50
    const flows = await many(105, () => begun(claimsOf(), { headers }))
    const backs = await Promise.all(
      flows.map(({ cookie, query }, at) => callBack(query, cookie, at % 2 ? client : other, headers)),
    )
    provider.slowMs = 0
    expect(backs.map(({ refusal }) => refusal).filter((refusal) => refusal !== 0)).toEqual([])
    const [row] = await database.sql`select failures, under_way from sign_in_attempt where key = 'source 198.51.100.71'`
    expect(row).toMatchObject({ failures: 0, under_way: 0 })
  })

  test('an attempt whose process was killed is waited for, and then counts as a failure', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.72' }
    await database.sql`insert into sign_in_attempt (key, failures, since, under_way, under_way_until)
        values ('source 198.51.100.72', 100, now(), 60, now() + interval '1 second')`
    const since = performance.now()
    const answer = await client.call(
      'createSession',
      { operatorKey: client.operatorKey.replace(/.$/, '!') },
      { headers },
    )
    expect(answer.code).toBe(10007)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(600)
    expect(performance.now() - since).toBeGreaterThan(500)
  })
})

describe('a callback', () => {
  test('without its cookie, with another state or a second time asks nobody and spoils nothing', async () => {
    const { cookie, query } = await begun()
    provider.asked = []
    const early = await callBack(query, '')
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/sign-in', 10061])
    expect(early.location.searchParams.get('request')).toBe(early.told.get('x-request-id'))
    expect((await callBack({ ...query, state: 'x' }, cookie)).refusal).toBe(10061)
    expect((await callBack(query, `${cookie.slice(0, -3)}AAA`)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    const backs = await Promise.all(Array.from({ length: 5 }, () => callBack(query, cookie)))
    expect(backs.filter(({ session }) => session !== undefined)).toHaveLength(1)
    const refused = await begun(claimsOf(), {}, { signature: 'stranger' })
    expect((await callBack(refused.query, refused.cookie)).refusal).toBe(10061)
    provider.asked = []
    expect((await callBack(query, cookie)).refusal).toBe(10061)
    expect((await callBack(refused.query, refused.cookie)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
  })

  test('after 10 minutes asks nobody and spoils nothing', async () => {
    const [key = ''] = readFileSync(join(service.dataDir, 'secrets.key'), 'utf8').trim().split('\n')
    const box = new SecretBox([readKey(key) ?? Buffer.alloc(0)])
    const { cookie, query } = await begun()
    const ticket = openTicket<object>(box, 'sign-on', cookie.split('=')[1] ?? '')
    expect(Math.round(((ticket?.until.getTime() ?? 0) - Date.now()) / 1000)).toBeWithin(591, 601)
    // The same flow as it is when its time is over, and a second before.
    const aged = (left: number) => `forecourt_sign_on=${sealTicket(box, 'sign-on', ticket?.content ?? {}, left)}`
    provider.asked = []
    expect((await callBack(query, aged(-1))).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    expect((await callBack(query, aged(1))).session).toBeDefined()
  })

  test('that asked the provider and failed counts for its source like a wrong password; a start does not', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.61' }
    const key = 'source 198.51.100.61'
    const failures = async () => {
      const [row] = await database.sql`select failures from sign_in_attempt where key = ${key}`
      return row?.failures ?? 0
    }
    const fails = async (groups: string, lies: Lies = {}) => {
      const { cookie, query } = await begun(claimsOf(groups), { headers }, lies)
      return callBack(query, cookie, client, headers)
    }
    for (let time = 0; time < 3; time++) await begin({ headers })
    expect((await callBack({ code: 'x', state: 'y' }, '', client, headers)).refusal).toBe(10061)
    expect(await failures()).toBe(0)
    expect((await fails('ops', { signature: 'stranger' })).refusal).toBe(10061)
    expect(await failures()).toBe(1)
    // Who is refused here has asked the provider too.
    expect((await fails('nothing')).refusal).toBe(10062)
    expect(await failures()).toBe(2)
    expect((await fails('ops', { tokenStatus: 503 })).refusal).toBe(10063)
    expect((await fails('ops')).session).toBeDefined()
    expect(await failures()).toBe(2)
    const enter = () => client.call('createSession', { name: newSubject(), password: 'wrong' }, { headers })
    expect((await enter()).code).toBe(10031)
    expect(await failures()).toBe(3)
    await database.sql`update sign_in_attempt set failures = 100 where key = ${key}`
    provider.asked = []
    expect((await fails('ops')).refusal).toBe(10007)
    expect(provider.asked).not.toContain('/token')
    expect((await enter()).code).toBe(10007)
  })

  test('takes what providers add, and no error’s words', async () => {
    const { cookie, query } = await begun()
    const { state } = query
    const denied = await callBack({ error: 'access_denied', error_description: 'Bad <b>words</b>', state }, cookie)
    expect([denied.refusal, denied.location.href.includes('words')]).toEqual([10061, false])
    await waitUntil(() => service.stderr().includes('access_denied: Bad <b>words</b>'))
    const flow = await begun()
    const back = await callBack({ ...flow.query, session_state: 'x', iss: provider.issuer }, flow.cookie)
    expect(back.session).toBeDefined()
  })

  test('ends the session that its browser had', async () => {
    const former = await signIn(client, await newPerson(client, 'viewer'))
    // The callback comes without the session's cookie, as from another site.
    const { cookie, query } = await begun(claimsOf(), { headers: former })
    expect((await callBack(query, cookie)).session).toBeDefined()
    expect(await codeOfSession(former.cookie)).toBe(10002)
  })
})

describe('a cookie without __Host-', () => {
  test('is ignored behind https: of a session, and of a browser that is known', async () => {
    const { name, password } = await newPerson(secure, 'viewer')
    const enter = (cookie: string, typed = password) =>
      secure.call('createSession', { name, password: typed }, { headers: { cookie } })
    const entered = await enter('')
    const [session = ''] = cookiesOf(entered.headers)
    expect(entered.headers.get('set-cookie')).toMatch(/^__Host-forecourt_session=.*; Secure$/)
    const ask = (cookie: string) => secure.call('getSession', {}, { headers: { cookie } })
    expect((await ask(session)).code).toBe(0)
    expect((await ask(plainOf(session))).code).toBe(10002)
    const [browser = ''] = cookiesOf((await ask(session)).headers)
    expect(browser).toStartWith('__Host-forecourt_browser=')

    // Ten wrong passwords shut out whoever is unknown, and not the browser that is known by its cookie.
    for (let time = 0; time < 10; time++) await enter('', 'wrong')
    expect((await enter(plainOf(browser))).code).toBe(10007)
    const again = await enter(browser)
    expect(again.code).toBe(0)
    const [own = ''] = cookiesOf(again.headers)
    const left = await secure.call('deleteSession', {}, { headers: { cookie: own } })
    expect(cookiesOf(left.headers)).toContain('__Host-forecourt_session=')
  })

  test('is ignored behind https: of a sign-on; its idle sessions end after 12 hours all the same', async () => {
    const { answer, cookie, url } = await begin({ service: secure })
    const sub = newSubject()
    const query = provider.issue(url, { sub, name: sub })
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-forecourt_sign_on=.*; Secure$/)
    provider.asked = []
    const planted = await callBack(query, plainOf(cookie), secure)
    expect([planted.status, planted.refusal, planted.told.getSetCookie()]).toEqual([303, 10061, []])
    expect(provider.asked).toEqual([])
    const back = await callBack(query, cookie, secure)
    expect(back.refusal).toBe(0)
    const set = back.told.getSetCookie().join()
    expect(set).toContain('__Host-forecourt_sign_on=;')
    expect(set).toMatch(/__Host-forecourt_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict/)
    const [row] = await database.sql`select extract(epoch from s.expires_at - s.created_at)::float8 / 3600 as idle,
          extract(epoch from s.ends_at - s.created_at)::float8 / 3600 as longest, o.role
        from operator_session s join operator o on o.id = s.operator_id where o.name = ${sub}`
    expect(row).toEqual({ idle: 12, longest: 100, role: 'operator' })
  })

  test('is ignored behind https: of an arrival', async () => {
    const { name, password } = await newPerson(secure, 'viewer')
    const session = cookiesOf((await secure.call('createSession', { name, password })).headers).join()
    const way = { service: secure, purpose: 'link', headers: { cookie: session } }
    const { cookie, query } = await begun({ sub: newSubject() }, way)
    const arrived = arrival((await callBack(query, cookie, secure)).told)
    expect(arrived).toStartWith('__Host-forecourt_arrival=')
    expect((await completes(`${session}; ${plainOf(arrived)}`, secure)).code).toBe(10061)
    expect((await completes(`${session}; ${arrived}`, secure)).code).toBe(0)
  })
})

describe('a link', () => {
  const linked = async (id: number) => (await client.operate('getOperator', { id })).data.isLinked

  test('is carried out at the callback for the session that began it, and for no other', async () => {
    const [attacker, victim] = [await newPerson(client, 'viewer'), await newPerson(client, 'viewer')]
    const [own, others] = [await signIn(client, attacker), await signIn(client, victim)]
    const links = () => begun({ sub: newSubject() }, { purpose: 'link', headers: own })
    const first = await links()
    const planted = await callBack(first.query, `${first.cookie}; ${others.cookie}`)
    expect([planted.status, planted.path, planted.refusal]).toEqual([303, '/console/account', 10061])
    const second = await links()
    const alone = await callBack(second.query, second.cookie)
    expect([alone.status, alone.path, alone.refusal]).toEqual([303, '/console/account', 0])
    expect(cookiesOf(alone.told)).toContain('forecourt_sign_on=')
    expect((await completes(`${arrival(alone.told)}; ${others.cookie}`)).code).toBe(10061)
    expect((await completes(arrival(alone.told))).code).toBe(10002)
    expect([await linked(attacker.id), await linked(victim.id)]).toEqual([false, false])
    const third = await links()
    expect((await callBack(third.query, `${third.cookie}; ${own.cookie}`)).refusal).toBe(0)
    expect(await linked(attacker.id)).toBe(true)
  })

  test('is completed by the page when its session’s cookie did not come with the navigation, once', async () => {
    const { headers: own, ...person } = await newSignedIn(client, 'viewer')
    const returnTo = '/console/account?x=1'
    const { cookie, query } = await begun({ sub: newSubject() }, { purpose: 'link', returnTo, headers: own })
    const back = await callBack(query, cookie)
    expect(`${back.location.pathname}${back.location.search}`).toBe('/console/account?signOn=complete')
    expect(await linked(person.id)).toBe(false)
    const browser = `${arrival(back.told)}; ${own.cookie}`
    const site = { cookie: browser, origin: 'https://evil.example' }
    expect((await client.call('completeSignOn', {}, { headers: site })).code).toBe(10002)
    const done = await completes(browser)
    expect(done.data).toEqual({ returnTo })
    expect(cookiesOf(done.headers)).toEqual(['forecourt_arrival='])
    expect(await linked(person.id)).toBe(true)
    expect((await completes(browser)).code).toBe(10061)
  })

  test('of an identity whose claims give no role is refused, and its account’s sessions end', async () => {
    const claims = claimsOf()
    const gone = await signsOn(claims)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    expect(await refusalOf({ ...claims, groups: [] }, {}, { purpose: 'link', headers })).toBe(10062)
    expect(await codeOfSession(gone.cookie)).toBe(10002)
  })
})

describe('a confirmation', () => {
  test('is completed by the page, and gives no proof before', async () => {
    const claims = claimsOf('chiefs')
    const own = await signsOn(claims)
    const act = async () => (await client.call('createOperatorKey', {}, { headers: own })).code
    await ageProofs()
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    const { cookie, query } = await begun(claims, { purpose: 'confirm', headers: own })
    const back = await callBack(query, cookie)
    expect([back.refusal, await act()]).toEqual([0, 10035])
    expect((await completes(`${arrival(back.told)}; ${own.cookie}`)).code).toBe(0)
    expect(await act()).toBe(10001)
  })

  test.each([true, false])('takes the claims anew, with the cookie of the session (%p) or without', async (isSent) => {
    const sub = newSubject()
    const own = await signsOn(claimsOf('chiefs', sub))
    const { operatorId } = await ofSession(own.cookie)
    const confirm = async (groups: string) => {
      const { cookie, query } = await begun({ sub, groups }, { purpose: 'confirm', headers: own })
      return callBack(query, isSent ? `${cookie}; ${own.cookie}` : cookie)
    }
    await confirm('guests')
    const make = { name: newSubject(), role: 'admin' }
    expect((await client.call('createOperator', make, { headers: own })).code).toBe(10003)
    expect((await client.operate('getOperator', { id: operatorId })).data.role).toBe('viewer')
    expect((await confirm('nothing')).refusal).toBe(10062)
    expect(await codeOfSession(own.cookie)).toBe(10002)
  })

  test('by the provider alone is not enough where our second factor is asked for too', async () => {
    const headers = await signIn(strict, await newPerson(strict, 'admin'))
    const { secret, recoveryCodes } = await newGenerator(strict, headers)
    const sub = newSubject()
    await link(sub, headers, strict)
    const own = await signsOn({ sub }, {}, { service: strict })
    const confirm = (shown: object) => strict.call('confirmSession', shown, { headers: own })
    expect((await confirm({ code: codeOf(secret) })).data.isLimited).toBe(false)
    await ageProofs()
    const act = async () => (await strict.call('createOperatorKey', {}, { headers: own })).code
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

test('a provider that hangs, at its tokens or its keys: the callback is 303 all the same', async () => {
  const atToken = await begun(claimsOf(), {}, { tokenHangs: true })
  // A token by a new key makes the service ask for the keys again.
  await provider.rotate()
  const atKeys = await begun()
  provider.hanging = ['/keys']
  const backs = await Promise.all([atToken, atKeys].map(({ query, cookie }) => callBack(query, cookie)))
  provider.hanging = []
  for (const back of backs) {
    expect([back.status, back.path, back.refusal]).toEqual([303, '/console/sign-in', 10063])
    expect(back.told.getSetCookie().join()).toContain('forecourt_sign_on=; Path=/')
  }
})
