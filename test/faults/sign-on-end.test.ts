import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { logOutByProvider } from '../../src/people/sign-on/contract.ts'
import type { Client } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import type { Lies } from '../provider.ts'
import { newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomes, rememberedMs } from './support.ts'

// Signing out here and at the provider, and its back-channel logout.

const eventOfLogout = 'http://schemas.openid.net/event/backchannel-logout'

const bed = new SignOnBed()
const { provider, comes, ofSession, codeOfSession } = bed
let client: Client
let strict: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  await bed.start()
  ;({ client } = bed)
  strict = await bed.startStrict()
}, 120_000)
beforeEach(() => bed.tellTruth())

describe('signing out', () => {
  test('ends our session first, and names the provider’s end', async () => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['ops'] })
    const headers = { cookie: back.session ?? '' }
    expect((await strict.call(getSession, {}, { headers })).code).toBe(0)
    const { ended, signOutUrl } = (await client.call(deleteSession, {}, { headers })).data
    const url = new URL(signOutUrl ?? '')
    expect([ended, url.pathname, url.searchParams.get('id_token_hint')?.split('.').length]).toEqual([true, '/end', 3])
    // An ID token with many groups would make an address that servers refuse.
    const groups = ['ops', ...Array.from({ length: 150 }, (_, n) => `a-group-with-a-long-name-${n}-of-many`)]
    const large = { cookie: (await comes({ sub: newSubject(), name: 'x', groups })).session ?? '' }
    const end = new URL((await client.call(deleteSession, {}, { headers: large })).data.signOutUrl ?? '')
    expect([...end.searchParams.keys()]).toEqual(['client_id'])
    const byPassword = await signIn(client, await newPerson(client, 'viewer'))
    expect((await client.call(deleteSession, {}, { headers: byPassword })).data).toEqual({
      ended: true,
      signOutUrl: null,
    })
    // On the other process too, which remembered it.
    const elsewhere = async () => (await strict.call(getSession, {}, { headers })).code
    expect(await becomes(10002, elsewhere, rememberedMs)).toBe(10002)
  })

  const logout = (token: string, service = client) =>
    service.send<object>(logOutByProvider.path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const claimsOf = (more: object) => {
    const iat = Math.floor(Date.now() / 1000)
    return { iss: provider.issuer, aud: provider.clientId, iat, exp: iat + 60, jti: newSubject(), events, ...more }
  }

  test('at the provider ends the session of its sid, else those of its sub', async () => {
    const sub = newSubject()
    const [first, second] = [
      await comes({ sub, name: sub, groups: ['ops'], sid: `${sub}-1` }),
      await comes({ sub, groups: ['ops'], sid: `${sub}-2` }),
    ]
    const state = () => Promise.all([first, second].map(({ session }) => codeOfSession(session)))
    expect(
      (await logout(await provider.sign(claimsOf({ sub, sid: `${sub}-1` }), undefined, 'logout+jwt'))).status,
    ).toBe(200)
    expect(await becomes([10002, 0], state, rememberedMs)).toEqual([10002, 0])
    expect((await logout(await provider.sign(claimsOf({ sub })))).status).toBe(200)
    expect(await becomes([10002, 10002], state, rememberedMs)).toEqual([10002, 10002])
  })

  test('at the provider counts once, on whatever process', async () => {
    const sub = newSubject()
    await comes({ sub, name: sub, groups: ['ops'] })
    const token = await provider.sign(claimsOf({ sub }), undefined, 'logout+jwt')
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => logout(token, index % 2 ? strict : client)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    // Somebody who has kept the logout token cannot end a session that began after it.
    const { session } = await comes({ sub, groups: ['ops'] })
    const other = await provider.sign(claimsOf({ sub }), undefined, 'at+jwt')
    expect((await logout(other)).status).toBe(400)
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
    const { status, text } = await logout(await provider.sign(claimsOf(claims), signature))
    expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request'])
  })
})
