import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { pageAudit } from '../../src/events/contract.ts'
import {
  changePassword,
  createOperator,
  createOperatorKey,
  deleteOperator,
  getOperator,
  pageOperators,
  resetOperator,
  updateOperator,
} from '../../src/people/operators/contract.ts'
import { createSession, getSession } from '../../src/people/sessions/contract.ts'
import { getSignOn, unlinkSignOn } from '../../src/people/sign-on/contract.ts'
import type { Client } from '../harness.ts'
import { cookieOf, newPerson, signIn } from '../people.ts'
import { newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomes, type OwnDatabase, rememberedMs } from './support.ts'

// Who comes in by single sign-on, and as whom.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, ofSession } = bed
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

describe('signing in', () => {
  test('says what is offered', async () => {
    expect((await client.call(getSignOn, {})).data).toEqual({
      enabled: true,
      name: 'Single sign-on',
      passwords: 'everyone',
      passkeys: false,
    })
    const ofStrict = (await strict.call(getSignOn, {})).data
    expect(ofStrict).toEqual({ enabled: true, name: 'Corp', passwords: 'admins', passkeys: true })
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
    expect(await database.run(async (sql) => (await sql`select * from used_ticket`).length)).toBe(0)
  })

  test('goes by the public address, whatever a request says of its own', async () => {
    const lies = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example;proto=https',
    }
    const { cookie, url } = await begin({ headers: { ...lies, origin: 'https://evil.example' } })
    expect(new URL(url).searchParams.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    const back = await callBack(query, cookie, client, lies)
    expect([back.told.get('location'), back.session]).toEqual(['/console', expect.any(String)])
    expect(provider.tokenRequests.at(-1)?.form.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
  })

  test('makes an account by the claims, and takes its role anew each time', async () => {
    const sub = newSubject()
    const back = await comes(
      { sub, name: `Li Lei ${sub}`, groups: ['duty', 'other'] },
      {},
      { returnTo: '/console/sites?x=1' },
    )
    expect([back.status, back.location.pathname + back.location.search]).toEqual([303, '/console/sites?x=1'])
    expect(back.told.getSetCookie().join()).toContain('forecourt_sign_on=; Path=/')
    const own = back.told.getSetCookie().find((each) => each.startsWith('forecourt_session='))
    expect(own).toContain('; HttpOnly; SameSite=Strict; ')
    const session = await ofSession(back.session)
    expect(session).toMatchObject({ name: `Li Lei ${sub}`, role: 'operator', method: 'signOn', isLimited: false })
    const account = async () => (await client.operate(getOperator, { id: session.operatorId })).data
    expect(await account()).toMatchObject({ source: 2, isLinked: true, isSetUp: true, status: 1, role: 'operator' })
    // The setting limits the session to two hours, although it may be idle for twelve.
    const hours = (Date.parse(String(session.expireTime)) - Date.parse(String(session.createTime))) / 3_600_000
    expect(hours).toBeCloseTo(2, 2)
    // The sign-in is a proof, which lasts 10 minutes.
    const proof = Date.parse(String(session.confirmedUntil)) - Date.parse(String(session.createTime))
    expect(Math.round(proof / 10_000)).toBe(60)
    const again = await comes({ sub, name: 'Another name', groups: 'chiefs' })
    expect((await ofSession(again.session)).operatorId).toBe(session.operatorId)
    expect(await account()).toMatchObject({ role: 'admin', name: `Li Lei ${sub}` })
  })

  test('reads the roles of userinfo where the ID token has none', async () => {
    const back = await comes({ sub: newSubject(), userInfo: { groups: ['guests'], name: newSubject() } })
    expect((await ofSession(back.session)).role).toBe('viewer')
    const lie = await comes({ sub: newSubject(), userInfo: { groups: ['guests'], sub: 'somebody else' } })
    expect(lie.refusal).toBe(10061)
  })

  test('finds nobody by a name, and makes a name that is free and fits', async () => {
    const person = await newPerson(client, 'admin')
    const back = await comes({ sub: newSubject(), name: ` ${person.name}\u200b#1: `, groups: ['guests'] })
    const session = await ofSession(back.session)
    expect(session.operatorId).not.toBe(person.id)
    expect(session.name).not.toBe(person.name)
    const names = await Promise.all(
      [1, 2, 3].map(
        async () => (await ofSession((await comes({ sub: newSubject(), name: 'Same', groups: 'ops' })).session)).name,
      ),
    )
    expect(new Set(names).size).toBe(3)
    // Nor by any other word about the person.
    const words = { name: person.name, preferred_username: person.name, email: person.name, email_verified: true }
    const sub = newSubject()
    const other = await ofSession((await comes({ sub, ...words, groups: ['guests'] })).session)
    expect([other.operatorId === person.id, other.name]).toEqual([false, sub])
  })

  test('names an account by the name, else the user name, else the subject', async () => {
    const [sub, user] = [newSubject(), newSubject()]
    const named = async (claims: Record<string, unknown>) =>
      (await ofSession((await comes({ groups: ['ops'], ...claims })).session)).name
    expect(await named({ sub: newSubject(), preferred_username: user })).toBe(user)
    expect(await named({ sub })).toBe(sub)
  })

  test('knows a person by issuer and subject together', async () => {
    const sub = newSubject()
    const first = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    await database.run(
      (sql) => sql`update operator_identity set issuer = 'https://other.example' where subject = ${sub}`,
    )
    const second = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    expect(second.operatorId).not.toBe(first.operatorId)
  })

  test('tells the session what its account can do by itself', async () => {
    const own = async (headers: { cookie: string }) => (await client.call(getSession, {}, { headers })).data
    const back = await comes({ sub: newSubject(), name: newSubject(), groups: ['guests'] })
    const managed = { source: 2, isLinked: true, hasPassword: false }
    expect(await own({ cookie: back.session ?? '' })).toMatchObject(managed)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: false, hasPassword: true })
    await comes({ sub: newSubject() }, {}, { purpose: 'link', headers })
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: true, hasPassword: true })
    const none = { source: null, isLinked: false, hasPassword: false }
    expect((await client.operate(getSession, {})).data).toMatchObject(none)
    const byKey = await client.call(createSession, { operatorKey: client.operatorKey })
    expect(await own({ cookie: cookieOf(byKey) })).toMatchObject(none)
  })

  test('of one new person many times at once makes one account', async () => {
    const sub = newSubject()
    const backs = await Promise.all(Array.from({ length: 8 }, () => comes({ sub, name: sub, groups: ['ops'] })))
    const ids = await Promise.all(backs.map(async ({ session }) => (await ofSession(session)).operatorId))
    expect(new Set(ids).size).toBe(1)
  })

  test('is refused without a role, and ends what there was', async () => {
    expect((await comes({ sub: newSubject(), name: 'x', groups: ['nothing'] })).refusal).toBe(10062)
    const sub = newSubject()
    const first = await comes({ sub, name: sub, groups: ['chiefs'] })
    const headers = { cookie: first.session ?? '' }
    const key = (await client.call(createOperatorKey, { name: newSubject(), role: 'viewer' }, { headers })).data
      .operatorKey
    expect((await client.call(pageOperators, {}, { headers })).code).toBe(0)
    expect((await comes({ sub, name: sub, groups: [] })).refusal).toBe(10062)
    const ofKey = async () => (await client.call(getSession, {}, { token: key ?? '' })).code
    expect(await becomes(10002, async () => (await client.call(getSession, {}, { headers })).code, rememberedMs)).toBe(
      10002,
    )
    expect(await becomes(10002, ofKey, rememberedMs)).toBe(10002)
    expect((await ofSession((await comes({ sub, groups: ['chiefs'] })).session)).role).toBe('admin')
    expect(await becomes(0, ofKey, rememberedMs)).toBe(0)
    await database.run((sql) => sql`update operator set signed_in_at = now() - interval '31 days' where source = 2`)
    expect(await becomes(10002, ofKey, rememberedMs)).toBe(10002)
  })

  test('does not enable a disabled account', async () => {
    const sub = newSubject()
    const { operatorId } = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    expect((await client.operate(updateOperator, { id: operatorId, status: 2 })).code).toBe(0)
    expect((await comes({ sub, groups: ['ops'] })).refusal).toBe(10062)
  })

  test('makes accounts whose role, password and link the provider keeps', async () => {
    const sub = newSubject()
    const back = await comes({ sub, name: sub, groups: ['ops'] })
    const headers = { cookie: back.session ?? '' }
    const { operatorId: id } = await ofSession(back.session)
    const refused = [
      await client.operate(updateOperator, { id, role: 'admin' }),
      await client.operate(resetOperator, { id }),
      await client.operate(unlinkSignOn, { id }),
      await client.call(changePassword, { password: 'x', newPassword: randomBytes(9).toString('hex') }, { headers }),
      (await begin({ purpose: 'link', headers })).answer,
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(5).fill([409, 10065]))
    expect((await client.operate(updateOperator, { id, name: newSubject() })).code).toBe(0)
    expect((await client.operate(deleteOperator, { id })).code).toBe(0)
  })

  test('makes no admin who stands in for the last one with a password', async () => {
    const person = await newPerson(client, 'admin')
    const { operatorId } = await ofSession((await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] })).session)
    // Nor does one who has not set a password yet.
    await client.operate(createOperator, { name: newSubject(), role: 'admin' })
    await database.run(
      (sql) => sql`update operator set status = 2 where role = 'admin' and source = 1 and id <> ${person.id}
        and password_hash is not null`,
    )
    const { id } = person
    const refused = [
      await client.operate(updateOperator, { id, role: 'viewer' }),
      await client.operate(updateOperator, { id, status: 2 }),
      await client.operate(resetOperator, { id }),
      await client.operate(deleteOperator, { id }),
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(4).fill([409, 10054]))
    await signIn(client, person)
    expect((await client.operate(updateOperator, { id: operatorId ?? 0, status: 2 })).code).toBe(0)
    await newPerson(client, 'admin')
    expect((await client.operate(deleteOperator, { id })).code).toBe(0)
  })
})

test('what a provider changes is in the audit trail', async () => {
  const sub = newSubject()
  await comes({ sub, name: sub, groups: ['ops'] })
  const { list } = (await client.operate(pageAudit, { type: 'operator.created' })).data
  expect(list[0]).toMatchObject({ actor: 'platform:signOn', data: { name: sub, source: 2 } })
  const sessions = (await client.operate(pageAudit, { type: 'session.created' })).data.list
  expect(sessions[0]?.data).toMatchObject({ method: 'signOn', name: sub })
  expect(JSON.stringify(sessions)).not.toContain('eyJ')
  await comes({ sub, name: sub, groups: [] })
  await comes({ sub, name: sub, groups: ['ops'] })
  const changes = (await client.operate(pageAudit, { type: 'operator.updated', pageSize: 2 })).data.list
  expect(changes.map(({ data }) => (data as { before: unknown }).before)).toEqual([
    { hasLeft: true },
    { hasLeft: false },
  ])
})
