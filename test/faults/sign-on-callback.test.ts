import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSession } from '../../src/people/sessions/contract.ts'
import { openTicket, sealTicket } from '../../src/people/tickets/tickets.ts'
import { readKey, SecretBox } from '../../src/secrets/box.ts'
import type { Client, Service } from '../harness.ts'
import type { Lies } from '../provider.ts'
import { newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomesTrue, type OwnDatabase } from './support.ts'

// What the browser brings back from the provider, and what the provider answers then: correct, and with one false value at a time.

const bed = new SignOnBed()
const { provider, begin, callBack, comes } = bed
let database: OwnDatabase
let service: Service
let client: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  await bed.start()
  ;({ database, service, client } = bed)
}, 120_000)
beforeEach(() => bed.tellTruth())

describe('a callback', () => {
  test('without its cookie, with another state or a second time asks nobody and spoils nothing', async () => {
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    provider.asked = []
    const early = await callBack(query, '')
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/sign-in', 10061])
    expect(early.location.searchParams.get('request')).toBe(early.told.get('x-request-id'))
    expect((await callBack({ ...query, state: 'x' }, cookie)).refusal).toBe(10061)
    expect((await callBack(query, `${cookie.slice(0, -3)}AAA`)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    expect((await callBack(query, cookie)).session).toBeDefined()
    provider.asked = []
    expect((await callBack(query, cookie)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
  })

  test('after 10 minutes asks nobody and spoils nothing', async () => {
    const [key = ''] = readFileSync(join(service.dataDir, 'secrets.key'), 'utf8').trim().split('\n')
    const box = new SecretBox([readKey(key) ?? Buffer.alloc(0)])
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    const ticket = openTicket<object>(box, 'sign-on', cookie.split('=')[1] ?? '')
    const seconds = Math.round(((ticket?.until.getTime() ?? 0) - Date.now()) / 1000)
    expect([seconds > 590, seconds <= 600]).toEqual([true, true])
    // The same flow as it is when its time is over, and a second before.
    const aged = (left: number) => `forecourt_sign_on=${sealTicket(box, 'sign-on', ticket?.content ?? {}, left)}`
    provider.asked = []
    expect((await callBack(query, aged(-1))).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    expect((await callBack(query, aged(1))).session).toBeDefined()
  })

  test('that asked the provider and failed counts for its source like a wrong password; a start does not', async () => {
    const address = '198.51.100.61'
    const headers = { 'x-forwarded-for': address }
    const failures = () =>
      database.run(
        async (sql) =>
          (await sql`select failures from sign_in_attempt where key = ${`source ${address}`}`)[0]?.failures ?? 0,
      )
    const fails = async (claims: object, lies: Lies = {}) => {
      const { cookie, url } = await begin({ headers })
      return callBack(provider.issue(url, { sub: newSubject(), name: 'x', ...claims }, lies), cookie, client, headers)
    }
    for (let time = 0; time < 3; time++) await begin({ headers })
    expect((await callBack({ code: 'x', state: 'y' }, '', client, headers)).refusal).toBe(10061)
    expect(await failures()).toBe(0)
    expect((await fails({ groups: ['ops'] }, { signature: 'stranger' })).refusal).toBe(10061)
    expect(await failures()).toBe(1)
    // Who is refused here has asked the provider too.
    expect((await fails({ groups: ['nothing'] })).refusal).toBe(10062)
    expect(await failures()).toBe(2)
    expect((await fails({ groups: ['ops'] }, { tokenStatus: 503 })).refusal).toBe(10063)
    expect((await fails({ groups: ['ops'] })).session).toBeDefined()
    expect(await failures()).toBe(2)
    const enter = () => client.call(createSession, { name: newSubject(), password: 'wrong' }, { headers })
    expect((await enter()).code).toBe(10031)
    expect(await failures()).toBe(3)
    await database.run((sql) => sql`update sign_in_attempt set failures = 100 where key = ${`source ${address}`}`)
    provider.asked = []
    expect((await fails({ groups: ['ops'] })).refusal).toBe(10007)
    expect(provider.asked).not.toContain('/token')
    expect((await enter()).code).toBe(10007)
  })

  test('takes what providers add, and no error’s words', async () => {
    const { cookie, url } = await begin()
    const { state } = provider.issue(url, {})
    const denied = await callBack({ error: 'access_denied', error_description: 'Bad <b>words</b>', state }, cookie)
    expect([denied.refusal, denied.location.href.includes('words')]).toEqual([10061, false])
    expect(await becomesTrue(() => service.stderr().includes('access_denied: Bad <b>words</b>'))).toBe(true)
    const flow = await begin()
    const code = provider.issue(flow.url, { sub: newSubject(), name: 'x', groups: ['ops'] })
    const back = await callBack({ ...code, session_state: 'x', iss: provider.issuer }, flow.cookie)
    expect(back.session).toBeDefined()
  })

  test('refuses the iss of another issuer (RFC 9207)', async () => {
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), groups: ['ops'] })
    expect((await callBack({ ...query, iss: 'https://evil.example' }, cookie)).refusal).toBe(10061)
  })

  const now = () => Math.floor(Date.now() / 1000)
  test.each<[string, Lies]>([
    ['no signature', { signature: 'none' }],
    ['a signature by the client’s secret', { signature: 'hmac' }],
    ['the signature of a stranger', { signature: 'stranger' }],
    ['a key that nobody knows', { signature: 'unknown key' }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'another' } }],
    ['several audiences and another azp', { claims: { aud: ['forecourt', 'another'], azp: 'another' } }],
    ['another azp', { claims: { azp: 'another' } }],
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['an end that is past', { claims: { exp: now() - 20 } }],
    ['a beginning in the future', { claims: { iat: now() + 600 } }],
    ['no subject', { claims: { sub: undefined } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['no ID token', { noIdToken: true }],
    ['a refusal', { tokenStatus: 400 }],
  ])('is refused with %s', async (_, lies) => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] }, lies)
    expect([back.status, back.path, back.refusal, back.session]).toEqual([303, '/console/sign-in', 10061, undefined])
  })

  test('allows a clock that is a minute ahead', async () => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['ops'] }, { claims: { iat: now() + 40 } })
    expect(back.session).toBeDefined()
  })

  test.each<[string, Lies]>([
    ['fails', { tokenStatus: 503, tokenBody: '{}' }],
    ['refuses the client', { tokenStatus: 401, tokenBody: '{"error":"invalid_client"}' }],
    ['answers no JSON', { tokenBody: '<html>' }],
    ['sends elsewhere', { tokenRedirect: 'http://127.0.0.1:1/' }],
    ['answers too much', { tokenBody: 'x'.repeat(1024 * 1024 + 10) }],
  ])('of a provider that %s says that it is away', async (_, lies) => {
    expect((await comes({ sub: newSubject(), groups: ['ops'] }, lies)).refusal).toBe(10063)
  })

  test('fetches new keys for an unknown one, once a minute', async () => {
    await comes({ sub: newSubject(), name: 'x', groups: ['ops'] })
    provider.asked = []
    await comes({ sub: newSubject(), groups: ['ops'] }, { signature: 'unknown key' })
    await comes({ sub: newSubject(), groups: ['ops'] }, { signature: 'unknown key' })
    expect(provider.asked.filter((path) => path === '/keys').length).toBeLessThanOrEqual(1)
  })
})
