import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/vocabulary/limits.ts'
import type { CallOptions } from '../kit/client.ts'
import { cookieOf, newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectRefusal, expectSuccess, succeed, withinOneSecond } from './support.ts'

const newName = () => newSerial('person')

describe('an operator key', () => {
  test('is shown once, acts as a bearer token and in a session, and is revoked within 1 second', async () => {
    const name = newName()
    const made = await succeed('createOperatorKey', { name, role: 'operator' })
    expect(made.operatorKey).toMatch(/^fok_[A-Za-z0-9_-]{43}$/)
    const token = shownSecret(made.operatorKey)
    const { appId } = await succeed('createApplication', { appName: 'by key' }, { token })
    expectRefusal(await client.call('createOperator', { name: newName(), role: 'viewer' }, { token }), 'notPermitted')
    const listed = await client.operate('pageOperatorKeys', {})
    expect(expectSuccess(listed).list.some(({ id }) => id === made.id)).toBe(true)
    expect(listed.text).not.toContain(token)
    const signedIn = await client.call('createSession', { operatorKey: token })
    expect(expectSuccess(signedIn)).toMatchObject({ name, role: 'operator', operatorId: null })
    const headers = { cookie: cookieOf(signedIn) }
    await succeed('getApplication', { appId }, { headers })
    const trail = await succeed('pageAudit', { actor: `operatorKey:${name}` })
    expect(trail.list.map(({ type, subject }) => [type, subject])).toContainEqual(['application.created', appId])
    await succeed('deleteOperatorKey', { id: made.id })
    await withinOneSecond(() => client.call('getApplication', { appId }, { token }), 10002)
    await withinOneSecond(() => client.call('getApplication', { appId }, { headers }), 10002)
    expectRefusal(await client.call('createSession', { operatorKey: token }), 'signInFailed')
    expectRefusal(await client.operate('deleteOperatorKey', { id: made.id }), 'operatorKeyNotFound')
  })

  test('belongs to the account that made it, goes with it, and may no more than it', async () => {
    const person = await newPerson(client, 'admin')
    const headers = await signIn(client, person)
    const made = await succeed('createOperatorKey', { name: newName(), role: 'admin' }, { headers })
    const owned = { operatorId: person.id, operatorName: person.name, role: 'admin', status: 1 }
    expect(made).toMatchObject(owned)
    // A key that was created with a key belongs to the same person.
    const first = shownSecret(made.operatorKey)
    const second = await client.call('createOperatorKey', { name: newName(), role: 'admin' }, { token: first })
    expect(expectSuccess(second)).toMatchObject(owned)
    // A key that was created with the key of the settings has no owner.
    const bare = await succeed('createOperatorKey', { name: newName(), role: 'viewer' })
    expect([bare.operatorId, bare.operatorName]).toEqual([null, null])

    const tokens = [first, shownSecret(second.data.operatorKey)]
    const keySession = { cookie: cookieOf(await client.call('createSession', { operatorKey: tokens[0] })) }
    const listed = async () => (await succeed('pageOperatorKeys', { operatorId: String(person.id) })).list
    const seen = async () => (await listed()).map(({ role, status }) => `${role} ${status}`)
    const all = [...tokens.map((token) => ({ token })), { headers: keySession }]
    const reads = (as: CallOptions) => client.call('pageApplications', {}, as)
    const writes = (as: CallOptions) => client.call('createApplication', { appName: 'x' }, as)
    const change = async (members: object) => await succeed('updateOperator', { id: person.id, ...members })

    await change({ role: 'operator' })
    expect(await seen()).toEqual(['operator 1', 'operator 1'])
    for (const token of tokens) await withinOneSecond(() => client.call('pageOperators', {}, { token }), 10003)
    await change({ role: 'viewer' })
    for (const as of all) await withinOneSecond(() => writes(as), 10003)
    for (const as of all) expectSuccess(await reads(as))
    await change({ role: 'developer' })
    for (const as of all) await withinOneSecond(() => reads(as), 10002)
    expect(await seen()).toEqual(['admin 2', 'admin 2'])
    await change({ role: 'admin', status: 2 })
    for (const as of all) await withinOneSecond(() => reads(as), 10002)
    expectRefusal(await client.call('createSession', { operatorKey: tokens[0] }), 'signInFailed')
    await change({ status: 1 })
    for (const as of all) await withinOneSecond(() => writes(as), 0)
    await succeed('deleteOperator', { id: person.id })
    for (const as of all) await withinOneSecond(() => reads(as), 10002)
    expect(await listed()).toEqual([])
    const trail = await succeed('pageAudit', { subject: String(made.id), type: 'operatorKey.deleted' })
    expect(trail.list).toHaveLength(1)
  })

  test('goes on under another account that it is handed over to, also from one that is disabled', async () => {
    const [leaver, heir] = [await newPerson(client, 'admin'), await newPerson(client, 'viewer')]
    const made = await newKey(await signIn(client, leaver))
    const token = shownSecret(made.operatorKey)
    const reads = () => client.call('pageApplications', {}, { token })
    const writes = () => client.call('createApplication', { appName: 'x' }, { token })
    await succeed('updateOperator', { id: leaver.id, status: 2 })
    await withinOneSecond(reads, 10002)

    const handOver = { id: made.id, operatorId: heir.id }
    const handed = await client.operate('handOverOperatorKey', handOver)
    const { id: operatorId, name: operatorName } = heir
    expect(expectSuccess(handed)).toMatchObject({ id: made.id, operatorId, operatorName, role: 'viewer', status: 1 })
    await withinOneSecond(reads, 0)
    expectRefusal(await writes(), 'notPermitted')
    // Deleting the former owner's account does not end the key.
    await succeed('deleteOperator', { id: leaver.id })
    expectSuccess(await reads())
    await succeed('updateOperator', { id: heir.id, role: 'operator' })
    await withinOneSecond(writes, 0)

    // Handed over to its owner again, the key stays unchanged and no event is written.
    await succeed('handOverOperatorKey', handOver)
    const trail = await client.operate('pageAudit', { subject: String(made.id), type: 'operatorKey.handedOver' })
    expect(expectSuccess(trail).list.map(({ data }) => data)).toEqual([handed.data])

    const gone = { ...handOver, operatorId: leaver.id }
    expectRefusal(await client.operate('handOverOperatorKey', gone), 'operatorNotFound')
    expectRefusal(await client.operate('handOverOperatorKey', { ...handOver, id: 2 ** 40 }), 'operatorKeyNotFound')
    expectFaults(await client.operate('handOverOperatorKey', {}), ['id', 'operatorId'])
  })

  test('goes on under another account together with the saved views, in the request that ends its owner', async () => {
    const [leaver, heir, full] = await Promise.all(
      ['admin', 'operator', 'viewer'].map((role) => newPerson(client, role)),
    )
    if (!leaver || !heir || !full) throw new Error('no accounts')
    const [headers, ofHeir] = [await signIn(client, leaver), await signIn(client, heir)]
    const { id } = await succeed('createOperatorKey', { name: newName(), role: 'viewer' }, { headers })
    const save = async (view: object, as: object) =>
      await succeed('saveView', { page: 'devices', ...view } as never, { headers: as } as never)
    const viewsOf = async (operatorId: number) => (await succeed('pageViews', { operatorId, pageSize: 100 })).list
    const long = 'x'.repeat(64)
    for (const name of ['Faulty', long]) await save({ name }, ofHeir)
    for (const name of ['Faulty', 'Faulty (2)', long, '😀'])
      await save({ name, query: 'status=2', columns: 'tag' }, headers)
    await save({ name: 'Faulty', page: 'sites' }, headers)
    const left = await viewsOf(leaver.id)
    // An operator reads the views of no other account; an admin does.
    expect((await succeed('pageViews', { operatorId: heir.id }, { headers: ofHeir })).total).toBe(2)
    expectRefusal(await client.call('pageViews', { operatorId: leaver.id }, { headers: ofHeir }), 'notPermitted')

    const disable = (handOverTo: number, status = 2) =>
      client.operate('updateOperator', { id: leaver.id, status, handOverTo })
    const ofFull = await signIn(client, full)
    for (let place = left.length - 1; place < limits.viewsOfOne; place++) await save({ name: `View ${place}` }, ofFull)
    expectFaults(await disable(heir.id, 1), ['handOverTo'])
    for (const to of [leaver.id, 2 ** 40, full.id]) expectFaults(await disable(to), ['handOverTo'])
    await succeed('updateOperator', { id: full.id, status: 2 })
    expectFaults(await disable(full.id), ['handOverTo'])
    // A refused request left everything as it was.
    expect((await succeed('getOperator', { id: leaver.id })).status).toBe(1)
    expect(await viewsOf(leaver.id)).toEqual(left)

    expect(expectSuccess(await disable(heir.id)).status).toBe(2)
    expect(await viewsOf(leaver.id)).toEqual([])
    const names = { Faulty: 'Faulty (3)', [long]: `${'x'.repeat(60)} (2)` } as Record<string, string>
    const clash = (name: string, page: string) => (page === 'devices' ? names[name] : undefined) ?? name
    const got = left.map((view) => ({ ...view, name: clash(view.name, view.page) }))
    expect((await viewsOf(heir.id)).slice(0, left.length)).toEqual(got)
    expect((await succeed('pageOperatorKeys', { operatorId: heir.id })).list).toMatchObject([{ id }])
    const told = async (type: string, subject: number) =>
      (await succeed('pageAudit', { type, subject: String(subject) } as never)).list
    const views = got.toReversed().map(({ id, page, name }) => ({ id, page, name }))
    expect((await told('view.handedOver', leaver.id)).map(({ data }) => data)).toEqual([
      { id: leaver.id, name: leaver.name, newOwner: heir.name, newOwnerId: heir.id, views },
    ])
    expect(await told('operatorKey.handedOver', id)).toHaveLength(1)

    // A deleted account gives them on as well; one without a new owner takes them along.
    await succeed('updateOperator', { id: leaver.id, status: 1 })
    await succeed('deleteOperator', { id: heir.id, handOverTo: leaver.id })
    expect(await viewsOf(leaver.id)).toHaveLength(left.length + 2)
    expect((await succeed('pageOperatorKeys', { operatorId: leaver.id })).total).toBe(1)
    expect(await told('operatorKey.deleted', id)).toEqual([])
    await succeed('deleteOperator', { id: leaver.id })
    expect(await told('view.handedOver', leaver.id)).toHaveLength(1)
    expect(await told('operatorKey.deleted', id)).toHaveLength(1)
  })

  test('cannot have ended when it begins', async () => {
    const key = { name: newName(), role: 'viewer', expireTime: '2020-01-01 00:00:00' }
    expectFaults(await client.operate('createOperatorKey', key), ['expireTime'])
    expectFaults(await client.operate('createOperatorKey', { name: newName(), role: 'developer' }), ['role'])
  })
})

// Keys belong to accounts of every role, because they are handed over; each account sees its own.

const newKey = (headers: { cookie: string }, role: 'admin' | 'operator' | 'viewer' = 'admin') =>
  client.call('createOperatorKey', { name: newSerial('key'), role }, { headers }).then(expectSuccess)

test.each(['admin', 'operator', 'viewer', 'developer'])(
  'an account of the role %s sees the keys that it owns, and no others',
  async (role) => {
    const [maker, heir] = [await newPerson(client, 'admin'), await newPerson(client, role)]
    const made = await newKey(await signIn(client, maker))
    const headers = await signIn(client, heir)
    const own = () => client.call('pageOwnOperatorKeys', {}, { headers }).then(expectSuccess)
    expect(await own()).toMatchObject({ list: [], total: 0 })
    const given = await succeed('handOverOperatorKey', { id: made.id, operatorId: heir.id })
    const { list } = await own()
    expect(list).toEqual([given])
    expect(list[0]).toMatchObject({ id: made.id, status: role === 'developer' ? 2 : 1, operatorName: heir.name })
    if (role !== 'admin') expectRefusal(await client.call('pageOperatorKeys', {}, { headers }), 'notPermitted')
  },
)

test('a key, which has no account, owns no keys', async () => {
  const made = await newKey(await signIn(client, await newPerson(client, 'admin')))
  const { token: ofApplication } = await newApplication(client)
  for (const token of [shownSecret(made.operatorKey), client.operatorKey, ofApplication]) {
    expectRefusal(await client.call('pageOwnOperatorKeys', {}, { token }), 'notPermitted')
  }
})

test('keys of an account that ends are handed over to nobody with whom they would not work', async () => {
  const leaver = await newPerson(client, 'admin')
  const developer = await newPerson(client, 'developer')
  await newKey(await signIn(client, leaver))
  const handOverTo = developer.id
  expectFaults(await client.operate('updateOperator', { id: leaver.id, status: 2, handOverTo }), ['handOverTo'])
  expectFaults(await client.operate('deleteOperator', { id: leaver.id, handOverTo }), ['handOverTo'])
  expect((await succeed('pageOperatorKeys', { operatorId: leaver.id })).total).toBe(1)
  // Without keys a developer takes over: saved views.
  const other = await newPerson(client, 'viewer')
  await succeed('deleteOperator', { id: other.id, handOverTo })
})
