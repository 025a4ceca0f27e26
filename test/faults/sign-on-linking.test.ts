import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createOperator, createOperatorKey, getOperator, resetOperator } from '../../src/people/operators/contract.ts'
import { getSession } from '../../src/people/sessions/contract.ts'
import { unlinkSignOn } from '../../src/people/sign-on/contract.ts'
import type { Client } from '../harness.ts'
import { insertPasskey, newPerson, signIn } from '../people.ts'
import type { Lies } from '../provider.ts'
import { newSubject, SignOnBed } from './sign-on-bed.ts'
import { becomes, type OwnDatabase, rememberedMs } from './support.ts'

// Single sign-on of accounts that exist: linking, and the confirmation of an act.

const bed = new SignOnBed()
const { provider, begin, callBack, comes, ofSession, codeOfSession } = bed
let database: OwnDatabase
let client: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  await bed.start()
  ;({ database, client } = bed)
}, 120_000)
beforeEach(() => bed.tellTruth())

describe('linking', () => {
  test('gives an account of ours a way in, and keeps its role', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const sub = newSubject()
    const linked = await comes(
      { sub, name: 'x', groups: ['chiefs'] },
      {},
      { purpose: 'link', headers, returnTo: '/console/account' },
    )
    expect([linked.path, linked.refusal, linked.session]).toEqual(['/console/account', 0, undefined])
    expect((await client.operate(getOperator, { id: person.id })).data).toMatchObject({ source: 1, isLinked: true })
    const back = await comes({ sub, name: 'x', groups: ['chiefs'] })
    expect(await ofSession(back.session)).toMatchObject({ operatorId: person.id, role: 'viewer', name: person.name })
    const other = await signIn(client, await newPerson(client, 'viewer'))
    const taken = await comes({ sub, groups: [] }, {}, { purpose: 'link', headers: other })
    expect([taken.path, taken.refusal]).toEqual(['/console/account', 10064])
    expect((await comes({ sub: newSubject() }, {}, { purpose: 'link', headers })).refusal).toBe(10064)
    expect((await client.call(unlinkSignOn, { id: person.id }, { headers: other })).code).toBe(10003)
    expect((await client.call(unlinkSignOn, {}, { headers })).data.isLinked).toBe(false)
    expect(await becomes(10002, () => codeOfSession(back.session), rememberedMs)).toBe(10002)
    expect((await comes({ sub, groups: [] })).refusal).toBe(10062)
  })

  test('is undone by an admin, and ends what began by it alone', async () => {
    const person = await newPerson(client, 'viewer')
    const [headers, admin] = [await signIn(client, person), await signIn(client, await newPerson(client, 'admin'))]
    const sub = newSubject()
    await comes({ sub }, {}, { purpose: 'link', headers })
    const byProvider = (await comes({ sub })).session
    const undone = await client.call(unlinkSignOn, { id: person.id }, { headers: admin })
    expect(undone.data).toMatchObject({ id: person.id, isLinked: false })
    expect(await becomes(10002, () => codeOfSession(byProvider), rememberedMs)).toBe(10002)
    expect((await client.call(getSession, {}, { headers })).code).toBe(0)
  })

  test('asks for a session, and for a proof that is not old', async () => {
    for (const purpose of ['link', 'confirm']) expect((await begin({ purpose })).answer.code).toBe(10002)
    expect(
      (await begin({ purpose: 'link', headers: { authorization: `Bearer ${client.operatorKey}` } })).answer.code,
    ).toBe(10003)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    expect((await begin({ purpose: 'link', headers })).answer.code).toBe(10035)
  })

  test('with a set-up link takes the place of a password', async () => {
    const made = (await client.operate(createOperator, { name: newSubject(), role: 'operator' })).data
    const way = { purpose: 'setUp', setUpToken: made.setUpPath?.split('#')[1] }
    const sub = newSubject()
    const back = await comes({ sub, groups: [] }, {}, way)
    expect(await ofSession(back.session)).toMatchObject({ operatorId: made.id, role: 'operator', method: 'signOn' })
    expect((await begin(way)).answer.code).toBe(10052)
    expect((await begin({ purpose: 'setUp' })).answer.code).toBe(10001)
    expect((await client.operate(getOperator, { id: made.id })).data).toMatchObject({ source: 1, isSetUp: true })
  })

  test('with a set-up link passes by no second factor', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const way = async () => ({
      purpose: 'setUp',
      setUpToken: (await client.operate(resetOperator, { id: person.id })).data.setUpPath?.split('#')[1],
    })
    // One sign-on begins before the account has a factor, and comes back when it has one.
    const early = await begin(await way())
    await database.run((sql) => insertPasskey(sql, person.id))
    const back = await callBack(provider.issue(early.url, { sub: newSubject() }), early.cookie)
    expect([back.refusal, back.session]).toEqual([10032, undefined])
    expect((await begin(await way())).answer.code).toBe(10032)
    expect((await client.operate(getOperator, { id: person.id })).data.isLinked).toBe(false)
    expect((await client.call(getSession, {}, { headers })).code).toBe(10002)
  })

  test('takes only pages of the console to come back to', async () => {
    for (const returnTo of [
      'https://evil.example',
      '//evil.example',
      '/console//evil',
      '/console/..',
      '/console\\x',
      '/docs',
      '/console/ x',
      '/console/%2e%2e/metrics',
      '/console/.%2E/docs',
      '/consoles',
    ]) {
      expect([returnTo, (await begin({ returnTo })).answer.code]).toEqual([returnTo, 10001])
    }
  })
})

test('a page with dots in its filters is kept, if they are encoded', async () => {
  const returnTo = '/console/devices?deviceName=a%2E%2Eb'
  expect((await begin({ returnTo })).answer.code).toBe(0)
})

test('a reset removes the link too, so that nobody comes in by it any more', async () => {
  const person = await newPerson(client, 'viewer')
  const sub = newSubject()
  await comes({ sub }, {}, { purpose: 'link', headers: await signIn(client, person) })
  expect((await comes({ sub })).refusal).toBe(0)
  const reset = await client.operate(resetOperator, { id: person.id })
  expect([reset.data.isLinked, reset.data.isSetUp]).toEqual([false, false])
  expect((await comes({ sub })).refusal).toBe(10062)
})

describe('a confirmation', () => {
  test('is taken of the same person, signed in anew', async () => {
    const sub = newSubject()
    const first = await comes({ sub, name: sub, groups: ['chiefs'] })
    const headers = { cookie: first.session ?? '' }
    const confirm = (claims: object, lies: Lies = {}) =>
      comes({ sub, groups: ['chiefs'], ...claims }, lies, { purpose: 'confirm', headers })
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    const act = async () => (await client.call(createOperatorKey, {}, { headers })).code
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    expect(new URL((await begin({ purpose: 'confirm', headers })).url).searchParams.get('max_age')).toBe('0')
    const old = Math.floor(Date.now() / 1000) - 600
    const early = await confirm({}, { claims: { auth_time: old } })
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/account', 10061])
    expect((await confirm({}, { claims: { auth_time: undefined } })).refusal).toBe(10061)
    expect((await confirm({ sub: newSubject() })).refusal).toBe(10061)
    expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10035)
    const done = await confirm({})
    expect([done.refusal, done.session]).toEqual([0, undefined])
    expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10001)
  })
})
