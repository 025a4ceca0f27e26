import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { logOutByProvider } from '../../src/people/sign-on/contract.ts'
import { Authenticator } from '../kit/authenticator.ts'
import { Client, rememberedMs, target } from '../kit/client.ts'
import { codeOf, cookieOf, insertPasskey, newGenerator, newPerson, type Person, signIn } from '../kit/people.ts'
import { type Lies, TestProvider } from '../kit/provider.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { becomes, waitUntil } from '../kit/waits.ts'
import { claimsOf, namedUrl, newSubject, SignOnBed } from './sign-on-bed.ts'

// Who comes in by single sign-on, as whom, and who goes out; what links an account, and what the settings allow.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, signsOn, refusalOf, link, ageProofs, ofSession, codeOfSession, place } = bed
afterAll(() => bed.clear(), 60_000)

await bed.start()
const { database, client, env } = bed
const strict = await bed.startStrict()
beforeEach(() => bed.tellTruth())

const ended = (ask: () => Promise<unknown>) => becomes(10002, ask, rememberedMs)
const accountOf = async (id: number | null) => (await client.operate('getOperator', { id })).data

describe('signing in', () => {
  test('says what is offered', async () => {
    expect((await client.call('getSignOn', {})).data).toEqual({
      enabled: true,
      name: 'Single sign-on',
      passwords: 'everyone',
      passkeys: false,
    })
    const ofStrict = (await strict.call('getSignOn', {})).data
    expect(ofStrict).toEqual({ enabled: true, name: 'Corp', passwords: 'admins', passkeys: true })
  })

  test('at an address without a name has no passkeys, and says so', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    for (const answer of [
      await client.call('startPasskeySession', {}),
      await client.call('startPasskey', {}, { headers }),
      await client.call('createSession', { ticket: 'x', credential: {} }),
    ]) {
      expect([answer.code, answer.text]).toEqual([10001, expect.stringContaining('FORECOURT_PUBLIC_URL')])
    }
  })

  test('asks for code, PKCE, state and nonce, and keeps nothing for strangers', async () => {
    const { answer, cookie, url } = await begin()
    const query = Object.fromEntries(new URL(url).searchParams)
    expect(query).toMatchObject({
      response_type: 'code',
      client_id: 'forecourt',
      redirect_uri: `${env.FORECOURT_PUBLIC_URL}/api/platform/v1/signOn/callback`,
      scope: 'openid profile',
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query[name]).toMatch(/^[\w-]{43}$/)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^forecourt_sign_on=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    for (const secret of [query.state, query.nonce])
      expect(Buffer.from(cookie, 'base64url').toString()).not.toContain(secret)
    provider.asked = []
    for (let time = 0; time < 5; time++) await begin()
    expect(provider.asked).toEqual([])
    expect((await database.sql`select * from used_ticket`).length).toBe(0)
  })

  test('goes by the public address, whatever a request says of its own', async () => {
    const lies = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example;proto=https',
    }
    const { cookie, url } = await begin({ headers: { ...lies, origin: 'https://evil.example' } })
    expect(new URL(url).searchParams.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
    const back = await callBack(provider.issue(url, claimsOf()), cookie, client, lies)
    expect([back.told.get('location'), back.session]).toEqual(['/console', expect.any(String)])
    expect(provider.tokenRequests.at(-1)?.form.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
  })

  test('makes an account by the claims, and takes its role anew each time', async () => {
    const sub = newSubject()
    const claims = { sub, name: `Li Lei ${sub}`, groups: ['duty', 'other'] }
    const back = await comes(claims, {}, { returnTo: '/console/sites?x=1' })
    expect([back.status, back.location.pathname + back.location.search]).toEqual([303, '/console/sites?x=1'])
    const cookies = back.told.getSetCookie()
    expect(cookies.join()).toContain('forecourt_sign_on=; Path=/')
    expect(cookies.find((each) => each.startsWith('forecourt_session='))).toContain('; HttpOnly; SameSite=Strict; ')
    const session = await ofSession(back.session)
    expect(session).toMatchObject({ name: `Li Lei ${sub}`, role: 'operator', method: 'signOn', isLimited: false })
    const made = { source: 2, isLinked: true, isSetUp: true, status: 1, role: 'operator' }
    expect(await accountOf(session.operatorId)).toMatchObject(made)
    // The setting limits the session to two hours, although it may be idle for twelve.
    const since = Date.parse(String(session.createTime))
    expect((Date.parse(String(session.expireTime)) - since) / 3_600_000).toBeCloseTo(2, 2)
    // The sign-in is a proof, which lasts 10 minutes.
    expect(Math.round((Date.parse(String(session.confirmedUntil)) - since) / 10_000)).toBe(60)
    const again = await comes({ sub, name: 'Another name', groups: 'chiefs' })
    expect((await ofSession(again.session)).operatorId).toBe(session.operatorId)
    expect(await accountOf(session.operatorId)).toMatchObject({ role: 'admin', name: `Li Lei ${sub}` })
  })

  test('finds nobody by a name, and makes a name that is free and fits', async () => {
    const person = await newPerson(client, 'admin')
    const back = await comes({ sub: newSubject(), name: ` ${person.name}\u200b#1: `, groups: ['guests'] })
    const session = await ofSession(back.session)
    expect(session.operatorId).not.toBe(person.id)
    expect(session.name).not.toBe(person.name)
    const same = () => comes({ sub: newSubject(), name: 'Same', groups: 'ops' })
    const names = await Promise.all([1, 2, 3].map(async () => (await ofSession((await same()).session)).name))
    expect(new Set(names).size).toBe(3)
    // Nor by any other word about the person.
    const words = { name: person.name, preferred_username: person.name, email: person.name, email_verified: true }
    const sub = newSubject()
    const other = await ofSession((await comes({ sub, ...words, groups: ['guests'] })).session)
    expect([other.operatorId === person.id, other.name]).toEqual([false, sub])
  })

  test('knows a person by issuer and subject together', async () => {
    const claims = claimsOf()
    const first = await ofSession((await comes(claims)).session)
    await database.sql`update operator_identity set issuer = 'https://other.example' where subject = ${claims.sub}`
    expect((await ofSession((await comes(claims)).session)).operatorId).not.toBe(first.operatorId)
  })

  test('tells the session what its account can do by itself', async () => {
    const own = async (headers: { cookie: string }) => (await client.call('getSession', {}, { headers })).data
    const managed = { source: 2, isLinked: true, hasPassword: false }
    expect(await own(await signsOn(claimsOf('guests')))).toMatchObject(managed)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: false, hasPassword: true })
    await link(newSubject(), headers)
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: true, hasPassword: true })
    const none = { source: null, isLinked: false, hasPassword: false }
    expect((await client.operate('getSession', {})).data).toMatchObject(none)
    const byKey = await client.call('createSession', { operatorKey: client.operatorKey })
    expect(await own({ cookie: cookieOf(byKey) })).toMatchObject(none)
  })

  test('of one new person many times at once makes one account', async () => {
    const claims = claimsOf()
    const backs = await Promise.all(Array.from({ length: 8 }, () => comes(claims)))
    const ids = await Promise.all(backs.map(async ({ session }) => (await ofSession(session)).operatorId))
    expect(new Set(ids).size).toBe(1)
  })

  test('is refused without a role, and ends what there was', async () => {
    expect(await refusalOf(claimsOf('nothing'))).toBe(10062)
    const sub = newSubject()
    const headers = await signsOn(claimsOf('chiefs', sub))
    const made = await client.call('createOperatorKey', { name: newSubject(), role: 'viewer' }, { headers })
    const ofKey = async () => (await client.call('getSession', {}, { token: made.data.operatorKey ?? '' })).code
    expect((await client.call('pageOperators', {}, { headers })).code).toBe(0)
    expect(await refusalOf(claimsOf([], sub))).toBe(10062)
    expect(await Promise.all([ended(() => codeOfSession(headers.cookie)), ended(ofKey)])).toEqual([10002, 10002])
    expect((await ofSession((await comes(claimsOf('chiefs', sub))).session)).role).toBe('admin')
    expect(await becomes(0, ofKey, rememberedMs)).toBe(0)
    await database.sql`update operator set signed_in_at = now() - interval '31 days' where source = 2`
    expect(await ended(ofKey)).toBe(10002)
  })

  test('does not enable a disabled account', async () => {
    const claims = claimsOf()
    const { operatorId } = await ofSession((await comes(claims)).session)
    await client.operate('updateOperator', { id: operatorId, status: 2 })
    expect(await refusalOf(claims)).toBe(10062)
    expect((await accountOf(operatorId)).status).toBe(2)
  })

  test('makes accounts whose role, password and link the provider keeps', async () => {
    const headers = await signsOn(claimsOf())
    const { operatorId: id } = await ofSession(headers.cookie)
    const refused = [
      await client.operate('updateOperator', { id, role: 'admin' }),
      await client.operate('resetOperator', { id }),
      await client.operate('unlinkSignOn', { id }),
      await client.call('changePassword', { password: 'x', newPassword: randomBytes(9).toString('hex') }, { headers }),
      (await begin({ purpose: 'link', headers })).answer,
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(5).fill([409, 10065]))
    expect((await client.operate('updateOperator', { id, name: newSubject() })).code).toBe(0)
    expect((await client.operate('deleteOperator', { id })).code).toBe(0)
  })

  test('makes no admin who stands in for the last one with a password', async () => {
    const { id, ...person } = await newPerson(client, 'admin')
    const { operatorId } = await ofSession((await comes(claimsOf('chiefs'))).session)
    // Nor does one who has not set a password yet.
    await client.operate('createOperator', { name: newSubject(), role: 'admin' })
    await database.sql`update operator set status = 2 where role = 'admin' and source = 1 and id <> ${id}
        and password_hash is not null`
    const refused = [
      await client.operate('updateOperator', { id, role: 'viewer' }),
      await client.operate('updateOperator', { id, status: 2 }),
      await client.operate('resetOperator', { id }),
      await client.operate('deleteOperator', { id }),
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(4).fill([409, 10054]))
    await signIn(client, { id, ...person })
    expect((await client.operate('updateOperator', { id: operatorId, status: 2 })).code).toBe(0)
    await newPerson(client, 'admin')
    expect((await client.operate('deleteOperator', { id })).code).toBe(0)
  })
})

test('what a provider changes is in the audit trail', async () => {
  const claims = claimsOf()
  await comes(claims)
  const told = async (type: string) => (await client.operate('pageAudit', { type, pageSize: 2 })).data.list
  expect((await told('operator.created'))[0]).toMatchObject({
    actor: 'platform:signOn',
    data: { name: claims.sub, source: 2 },
  })
  const sessions = await told('session.created')
  expect(sessions[0]?.data).toMatchObject({ method: 'signOn', name: claims.sub })
  expect(JSON.stringify(sessions)).not.toContain('eyJ')
  await comes({ ...claims, groups: [] })
  await comes(claims)
  const changes = (await told('operator.updated')).map(({ data }) => (data as { before: unknown }).before)
  expect(changes).toEqual([{ hasLeft: true }, { hasLeft: false }])
})

describe('signing out', () => {
  test('ends our session first, and names the provider’s end', async () => {
    const headers = await signsOn(claimsOf())
    const codeElsewhere = async () => (await strict.call('getSession', {}, { headers })).code
    expect(await codeElsewhere()).toBe(0)
    const leave = async (by: { cookie: string }) => (await client.call('deleteSession', {}, { headers: by })).data
    const { ended: hasEnded, signOutUrl } = await leave(headers)
    const url = new URL(signOutUrl ?? '')
    const hint = url.searchParams.get('id_token_hint')?.split('.')
    expect([hasEnded, url.pathname, hint?.length]).toEqual([true, '/end', 3])
    // An ID token with many groups would make an address that servers refuse.
    const groups = ['ops', ...Array.from({ length: 150 }, (_, n) => `a-group-with-a-long-name-${n}-of-many`)]
    const end = new URL((await leave(await signsOn(claimsOf(groups)))).signOutUrl ?? '')
    expect([...end.searchParams.keys()]).toEqual(['client_id'])
    const byPassword = await signIn(client, await newPerson(client, 'viewer'))
    expect(await leave(byPassword)).toEqual({ ended: true, signOutUrl: null })
    // On the other process too, which remembered it.
    expect(await ended(codeElsewhere)).toBe(10002)
  })

  const logout = (token: string, service = client) =>
    service.send<object>(logOutByProvider.path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
  const eventOfLogout = 'http://schemas.openid.net/event/backchannel-logout'
  const tokenOf = (more: object, signature?: Lies['signature'], type?: string) => {
    const iat = Math.floor(Date.now() / 1000)
    const own = { iss: provider.issuer, aud: provider.clientId, iat, exp: iat + 60, jti: newSubject() }
    return provider.sign({ ...own, events: { [eventOfLogout]: {} }, ...more }, signature, type)
  }

  test('at the provider ends the session of its sid, else those of its sub', async () => {
    const sub = newSubject()
    const enter = (sid: string) => comes({ ...claimsOf('ops', sub), sid })
    const sessions = [await enter(`${sub}-1`), await enter(`${sub}-2`)]
    const state = () => Promise.all(sessions.map(({ session }) => codeOfSession(session)))
    expect((await logout(await tokenOf({ sub, sid: `${sub}-1` }, undefined, 'logout+jwt'))).status).toBe(200)
    expect(await becomes([10002, 0], state, rememberedMs)).toEqual([10002, 0])
    expect((await logout(await tokenOf({ sub }))).status).toBe(200)
    expect(await becomes([10002, 10002], state, rememberedMs)).toEqual([10002, 10002])
  })

  test('at the provider counts once, on whatever process', async () => {
    const sub = newSubject()
    await comes(claimsOf('ops', sub))
    const token = await tokenOf({ sub }, undefined, 'logout+jwt')
    const many = Array.from({ length: 8 }, (_, index) => logout(token, index % 2 ? strict : client))
    const statuses = (await Promise.all(many)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(400)])
    // Somebody who has kept the logout token cannot end a session that began after it.
    const { session } = await comes(claimsOf('ops', sub))
    expect((await logout(await tokenOf({ sub }, undefined, 'at+jwt'))).status).toBe(400)
    const again = await logout(token)
    expect([again.status, JSON.parse(again.text).error]).toEqual([400, 'invalid_request'])
    expect((await ofSession(session)).method).toBe('signOn')
  })

  test.each<[string, object, Lies['signature']]>([
    ['of a stranger', { sub: 'x' }, 'stranger'],
    ['without a signature', { sub: 'x' }, 'none'],
    ['with a nonce', { sub: 'x', nonce: 'n' }, undefined],
    ['without its event', { sub: 'x', events: {} }, undefined],
    ['whose event is null', { sub: 'x', events: { [eventOfLogout]: null } }, undefined],
    ['whose event is a list', { sub: 'x', events: { [eventOfLogout]: [] } }, undefined],
    ['that names nobody', {}, undefined],
    ['for another client', { sub: 'x', aud: 'another' }, undefined],
    ['of another issuer', { sub: 'x', iss: 'https://evil.example' }, undefined],
    ['by the client’s secret', { sub: 'x' }, 'hmac'],
    ['by a key that nobody knows', { sub: 'x' }, 'unknown key'],
    ['that has ended', { sub: 'x', exp: Math.floor(Date.now() / 1000) - 120 }, undefined],
    ['of the future', { sub: 'x', iat: Math.floor(Date.now() / 1000) + 600 }, undefined],
    ['of yesterday', { sub: 'x', iat: Math.floor(Date.now() / 1000) - 86_400 }, undefined],
    ['without an id', { sub: 'x', jti: undefined }, undefined],
    ['with an empty id', { sub: 'x', jti: '' }, undefined],
  ])('a logout token %s is refused', async (_, claims, signature) => {
    const { status, text } = await logout(await tokenOf(claims, signature))
    expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request'])
  })
})

describe('linking', () => {
  test('gives an account of ours a way in, and keeps its role', async () => {
    const { headers, ...person } = await newSignedIn(client, 'viewer')
    const claims = claimsOf('chiefs')
    const linked = await comes(claims, {}, { purpose: 'link', headers, returnTo: '/console/account' })
    expect([linked.path, linked.refusal, linked.session]).toEqual(['/console/account', 0, undefined])
    expect(await accountOf(person.id)).toMatchObject({ source: 1, isLinked: true })
    const { session } = await comes(claims)
    expect(await ofSession(session)).toMatchObject({ operatorId: person.id, role: 'viewer', name: person.name })
    const other = await signIn(client, await newPerson(client, 'viewer'))
    const taken = await link(claims.sub, other)
    expect([taken.path, taken.refusal]).toEqual(['/console/account', 10064])
    expect((await link(newSubject(), headers)).refusal).toBe(10064)
    expect((await client.call('unlinkSignOn', { id: person.id }, { headers: other })).code).toBe(10003)
    expect((await client.call('unlinkSignOn', {}, { headers })).data.isLinked).toBe(false)
    expect(await ended(() => codeOfSession(session))).toBe(10002)
    expect(await refusalOf({ sub: claims.sub, groups: [] })).toBe(10062)
  })

  test('is undone by an admin, and ends what began by it alone', async () => {
    const person = await newPerson(client, 'viewer')
    const [headers, admin] = [await signIn(client, person), await signIn(client, await newPerson(client, 'admin'))]
    const sub = newSubject()
    await link(sub, headers)
    const { cookie } = await signsOn({ sub })
    const undone = await client.call('unlinkSignOn', { id: person.id }, { headers: admin })
    expect(undone.data).toMatchObject({ id: person.id, isLinked: false })
    expect(await ended(() => codeOfSession(cookie))).toBe(10002)
    expect((await client.call('getSession', {}, { headers })).code).toBe(0)
  })

  test('asks for a session, and for a proof that is not old', async () => {
    for (const purpose of ['link', 'confirm']) expect((await begin({ purpose })).answer.code).toBe(10002)
    const authorization = `Bearer ${client.operatorKey}`
    expect((await begin({ purpose: 'link', headers: { authorization } })).answer.code).toBe(10003)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    await ageProofs()
    expect((await begin({ purpose: 'link', headers })).answer.code).toBe(10035)
  })

  test('with a set-up link takes the place of a password', async () => {
    const made = (await client.operate('createOperator', { name: newSubject(), role: 'operator' })).data
    const way = { purpose: 'setUp', setUpToken: made.setUpPath?.split('#')[1] }
    const back = await comes({ sub: newSubject(), groups: [] }, {}, way)
    expect(await ofSession(back.session)).toMatchObject({ operatorId: made.id, role: 'operator', method: 'signOn' })
    expect((await begin(way)).answer.code).toBe(10052)
    expect((await begin({ purpose: 'setUp' })).answer.code).toBe(10001)
    expect(await accountOf(made.id)).toMatchObject({ source: 1, isSetUp: true })
  })

  test('with a set-up link passes by no second factor', async () => {
    const { headers, ...person } = await newSignedIn(client, 'viewer')
    const way = async () => ({
      purpose: 'setUp',
      setUpToken: (await client.operate('resetOperator', { id: person.id })).data.setUpPath?.split('#')[1],
    })
    // One sign-on begins before the account has a factor, and comes back when it has one.
    const early = await begin(await way())
    await database.run((sql) => insertPasskey(sql, person.id))
    const back = await callBack(provider.issue(early.url, { sub: newSubject() }), early.cookie)
    expect([back.refusal, back.session]).toEqual([10032, undefined])
    expect((await begin(await way())).answer.code).toBe(10032)
    expect((await accountOf(person.id)).isLinked).toBe(false)
    expect((await client.call('getSession', {}, { headers })).code).toBe(10002)
  })

  test('ends with a reset, so that nobody comes in by it any more', async () => {
    const person = await newPerson(client, 'viewer')
    const sub = newSubject()
    await link(sub, await signIn(client, person))
    expect(await refusalOf({ sub })).toBe(0)
    const reset = await client.operate('resetOperator', { id: person.id })
    expect([reset.data.isLinked, reset.data.isSetUp]).toEqual([false, false])
    expect(await refusalOf({ sub })).toBe(10062)
  })
})

test.each<[string, number]>([
  ['https://evil.example', 10001],
  ['//evil.example', 10001],
  ['/console//evil', 10001],
  ['/console/..', 10001],
  ['/console\\x', 10001],
  ['/docs', 10001],
  ['/console/ x', 10001],
  ['/console/%2e%2e/metrics', 10001],
  ['/console/.%2E/docs', 10001],
  ['/consoles', 10001],
  ['/console/devices?deviceName=a%2E%2Eb', 0],
])('takes only pages of the console to come back to: %s', async (returnTo, code) => {
  expect((await begin({ returnTo })).answer.code).toBe(code)
})

describe('a confirmation', () => {
  test('is taken of the same person, signed in anew', async () => {
    const { sub, ...claims } = claimsOf('chiefs')
    const headers = await signsOn({ sub, ...claims })
    const confirm = (more: object = {}, lies: Lies = {}) =>
      comes({ sub, ...claims, ...more }, lies, { purpose: 'confirm', headers })
    await ageProofs()
    const act = async () => (await client.call('createOperatorKey', {}, { headers })).code
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    expect(new URL((await begin({ purpose: 'confirm', headers })).url).searchParams.get('max_age')).toBe('0')
    const old = Math.floor(Date.now() / 1000) - 600
    const early = await confirm({}, { claims: { auth_time: old } })
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/account', 10061])
    expect((await confirm({}, { claims: { auth_time: undefined } })).refusal).toBe(10061)
    expect((await confirm({ sub: newSubject() })).refusal).toBe(10061)
    expect(await act()).toBe(10035)
    const done = await confirm()
    expect([done.refusal, done.session]).toEqual([0, undefined])
    expect(await act()).toBe(10001)
  })
})

describe('the settings', () => {
  const pageOf = async (headers: { cookie: string }) => (await strict.call('pageOperators', {}, { headers })).code
  const confirm = (shown: object, headers: { cookie: string }) => strict.call('confirmSession', shown, { headers })

  /** Links an account of a session at the strict service, and signs it on there; returns the new session, and how again. */
  async function linkedAt(headers: { cookie: string }) {
    const sub = newSubject()
    await link(sub, headers, strict)
    const again = () => signsOn({ sub }, {}, { service: strict })
    return { own: await again(), again }
  }

  test('may ask people who come by sign-on for our second factor', async () => {
    const headers = await signIn(strict, await newPerson(strict, 'admin'))
    const { secret } = await newGenerator(strict, headers)
    const { own, again } = await linkedAt(headers)
    expect(await ofSession(own.cookie, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    expect(await pageOf(own)).toBe(10034)
    expect((await confirm({ code: '000000' }, own)).code).toBe(10033)
    const shown = await confirm({ code: codeOf(secret) }, own)
    expect(shown.data).toMatchObject({ method: 'signOn+code', isLimited: false })
    expect(await pageOf(own)).toBe(0)

    // The factor alone is not a proof of the person.
    const later = await again()
    await ageProofs()
    await database.sql`update operator_totp set used_step = 0`
    expect((await confirm({ code: codeOf(secret) }, later)).data.isLimited).toBe(false)
    expect((await strict.call('createOperatorKey', {}, { headers: later })).code).toBe(10035)
  })

  test('may ask for our second factor, which a passkey is too, and one that is set up then', async () => {
    const [person, other] = [await newPerson(strict, 'admin'), await newPerson(strict, 'admin')]
    const headers = await signIn(strict, person)
    const begun = (await strict.call('startPasskey', {}, { headers })).data
    const authenticator = new Authenticator(namedUrl)
    const passkey = { ticket: begun.ticket, credential: authenticator.create(begun.options), name: 'x' }
    expect((await strict.call('savePasskey', passkey, { headers })).code).toBe(0)
    const { own } = await linkedAt(headers)
    expect(await ofSession(own.cookie, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    const { options, ticket } = (await strict.call('startPasskeySession', {})).data
    const shown = await confirm({ ticket, credential: authenticator.get(options) }, own)
    expect(shown.data).toMatchObject({ method: 'signOn+passkey', isLimited: false })

    const { own: without } = await linkedAt(await signIn(strict, other))
    expect(await pageOf(without)).toBe(10034)
    await newGenerator(strict, without)
    expect(await pageOf(without)).toBe(0)
    expect(await ofSession(without.cookie, strict)).toMatchObject({ method: 'signOn+code', isLimited: false })
  })

  test('may leave passwords to admins', async () => {
    const enter = ({ name, password }: Person) => strict.call('createSession', { name, password })
    const viewer = await newPerson(strict, 'viewer')
    expect((await enter(viewer)).code).toBe(10066)
    expect((await enter({ ...viewer, password: 'wrong' })).code).toBe(10031)
    expect((await enter(await newPerson(strict, 'admin'))).code).toBe(0)
  })

  test('without roles give nobody an account', async () => {
    expect(await refusalOf(claimsOf('chiefs'), {}, { service: strict })).toBe(10062)
  })

  test('with a provider that is away let the service start, and people in and out', async () => {
    const gone = new TestProvider()
    await gone.start()
    gone.lies = { hangs: true }
    const own = { ...env, FORECOURT_OIDC_ISSUER: gone.issuer, FORECOURT_PASSWORDS: 'admins' }
    const away = new Client(await place.startService({ env: own }))
    expect((await away.send('/readyz', {})).status).toBe(200)
    await signIn(away, await newPerson(away, 'admin'))
    expect((await away.call('createSession', { operatorKey: away.operatorKey })).code).toBe(0)

    // A session ends before the provider is asked where to sign out.
    const headers = await signsOn(claimsOf())
    const left = away.call('deleteSession', {}, { headers })
    await waitUntil(() => gone.asked.length > 0)
    expect((await client.call('getSession', {}, { headers })).code).toBe(10002)
    const hanging = await begin({ service: away })
    expect((await left).data).toEqual({ ended: true, signOutUrl: null })
    gone.stop()
    for (const { answer } of [hanging, await begin({ service: away })])
      expect([answer.status, answer.code]).toEqual([503, 10063])
  })

  test('without a provider say so', async () => {
    const off = await target()
    expect((await off.call('getSignOn', {})).data).toMatchObject({ enabled: false, passkeys: false })
    expect((await begin({ service: off })).answer.code).toBe(10060)
    const back = await callBack({ code: 'x', state: 'y' }, '', off)
    expect([back.status, back.path, back.refusal]).toEqual([303, '/console/sign-in', 10060])
  })
})
