import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createSession, deleteSession, startPasskeySession } from '../../src/people/sessions/contract.ts'
import { logOutByProvider } from '../../src/people/sign-on/contract.ts'
import { Authenticator } from '../authenticator.ts'
import { Client, type Service } from '../harness.ts'
import { namedUrl, newSubject, SignOnBed } from './sign-on-bed.ts'
import type { OwnDatabase } from './support.ts'

// What strangers and a slow provider can do to sign-ons: leave no row, few log lines, and no address without an answer.

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

const rowsOf = (table: 'used_ticket') =>
  database.run(async (sql) => Number((await sql`select count(*) from ${sql(table)}`)[0]?.count))

const many = <Result>(count: number, run: () => Promise<Result>) => Promise.all(Array.from({ length: count }, run))

describe('strangers', () => {
  test('leave no row, and at most 20 log lines of a kind a minute', async () => {
    const before = await rowsOf('used_ticket')
    const headers = { 'x-forwarded-for': '198.51.100.70' }
    const denied = async () => {
      const { cookie, url } = await begin({ headers })
      const state = new URL(url).searchParams.get('state') ?? ''
      return (await callBack({ state, error: 'access_denied' }, cookie, client, headers)).refusal
    }
    expect(new Set(await many(60, denied))).toEqual(new Set([10061]))
    const invented = async () => {
      const { cookie, url } = await begin({ headers })
      const state = new URL(url).searchParams.get('state') ?? ''
      return (await callBack({ state, code: 'invented' }, cookie, client, headers)).refusal
    }
    const refusals = await many(120, invented)
    expect(refusals.filter((code) => code === 10061)).toHaveLength(100)
    expect(refusals.filter((code) => code === 10007)).toHaveLength(20)
    await many(30, () => client.call(logOutByProvider, { logout_token: 'rubbish' }))
    expect(await rowsOf('used_ticket')).toBe(before)
    const lines = service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('a sign-on was refused'))
    expect(lines).toHaveLength(20)
  })

  test('leave no row with a passkey that is wrong; its ticket works once', async () => {
    const strict = await bed.startStrict()
    const before = await rowsOf('used_ticket')
    const { options, ticket } = (await strict.call(startPasskeySession, {})).data
    const credential = new Authenticator(namedUrl).get(options)
    for (let time = 0; time < 3; time++) {
      expect((await strict.call(createSession, { ticket, credential })).code).toBe(10031)
    }
    expect(await rowsOf('used_ticket')).toBe(before)
  })
})

test('a callback that the provider refused asks it no second time', async () => {
  const { cookie, url } = await begin()
  const query = provider.issue(url, { sub: newSubject(), groups: ['ops'] }, { signature: 'stranger' })
  expect((await callBack(query, cookie)).refusal).toBe(10061)
  provider.asked = []
  expect((await callBack(query, cookie)).refusal).toBe(10061)
  expect(provider.asked).toEqual([])
})

test('105 people of one address come in at once on two processes, though the provider takes its time', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.71' }
  const env = { ...bed.env, FORECOURT_OIDC_ROLES: 'operator=ops' }
  const other = new Client(await bed.place.startService({ env }))
  provider.slowMs = 50
  const flows = await many(105, async () => {
    const { cookie, url } = await begin({ headers })
    const sub = newSubject()
    return { cookie, query: provider.issue(url, { sub, name: sub, groups: ['ops'] }) }
  })
  const backs = await Promise.all(
    flows.map(({ cookie, query }, at) => callBack(query, cookie, at % 2 ? client : other, headers)),
  )
  provider.slowMs = 0
  expect(backs.map(({ refusal }) => refusal).filter((refusal) => refusal !== 0)).toEqual([])
  const [row] = await database.run(
    (sql) => sql`select failures, under_way from sign_in_attempt where key = 'source 198.51.100.71'`,
  )
  expect(row).toMatchObject({ failures: 0, under_way: 0 })
}, 60_000)

test('an attempt whose process was killed is waited for, and then counts as a failure', async () => {
  const address = '198.51.100.72'
  await database.run(
    (sql) => sql`insert into sign_in_attempt (key, failures, since, under_way, under_way_until)
      values (${`source ${address}`}, 100, now(), 60, now() + interval '1 second')`,
  )
  const since = performance.now()
  const headers = { 'x-forwarded-for': address }
  const answer = await client.call(createSession, { operatorKey: client.operatorKey.replace(/.$/, '!') }, { headers })
  expect(answer.code).toBe(10007)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(600)
  expect(performance.now() - since).toBeGreaterThan(500)
})

describe('a provider that hangs', () => {
  test.each([
    ['at its token', '/token'],
    ['at its keys', '/keys'],
  ])(
    '%s: the callback is 303 all the same, and its cookie is cleared',
    async (_, path) => {
      const own = new Client(
        await bed.place.startService({ env: { ...bed.env, FORECOURT_OIDC_ROLES: 'viewer=guests' } }),
      )
      const { cookie, url } = await begin({ service: own })
      const query = provider.issue(url, { sub: newSubject() })
      provider.hangsAt = path
      const back = await callBack(query, cookie, own)
      provider.hangsAt = undefined
      expect([back.status, back.path, back.refusal]).toEqual([303, '/console/sign-in', 10063])
      expect(back.told.getSetCookie().join()).toContain('forecourt_sign_on=; Path=/')
    },
    60_000,
  )

  test('at its discovery: a start is told 10063, and a sign-out does not wait for it', async () => {
    const own = new Client(await bed.place.startService({ env: bed.env }))
    provider.lies = { hangs: true }
    expect((await begin({ service: own })).answer.code).toBe(10063)
    bed.tellTruth()
    const sub = newSubject()
    const headers = { cookie: (await comes({ sub, name: sub, groups: ['ops'] })).session ?? '' }
    provider.lies = { hangs: true }
    const left = await own.call(deleteSession, {}, { headers })
    expect([left.code, left.data]).toEqual([0, { ended: true, signOutUrl: null }])
  }, 60_000)
})
