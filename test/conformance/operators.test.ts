import { describe, expect, test } from 'bun:test'
import {
  createApplication,
  getApplication,
  pageApplications,
  rotateApplicationSecret,
} from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { pageAudit, pageEvents } from '../../src/events/contract.ts'
import {
  createOperator,
  createOperatorKey,
  deleteOperator,
  deleteOperatorKey,
  getOperator,
  handOverOperatorKey,
  pageOperatorKeys,
  pageOperators,
  resetOperator,
  setUpOperator,
  updateOperator,
} from '../../src/people/operators/contract.ts'
import { createSession, getSession } from '../../src/people/sessions/contract.ts'
import { pageViews, saveView } from '../../src/people/views/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { deviceBody, newApplication, newSerial, shownSecret } from '../harness.ts'
import { cookieOf, newPassword, newPerson, signIn } from '../people.ts'
import { client, expectFaults, expectNow, expectRefusal, expectSuccess, withinOneSecond } from './support.ts'

const newName = () => newSerial('person')

describe('createOperator', () => {
  test('answers a one-time link by which the person sets a password and is signed in', async () => {
    const name = newName()
    const made = expectSuccess(await client.operate(createOperator, { name, role: 'viewer' }))
    expect(made).toMatchObject({ name, role: 'viewer', status: 1, isSetUp: false, appIds: [], signInTime: null })
    expectNow(made.createTime)
    const [path, setUpToken] = String(made.setUpPath).split('#')
    expect(path).toBe('/console/set-up')
    const password = newPassword()
    expectFaults(await client.call(setUpOperator, { setUpToken, password: 'too short' }), ['password'])
    const answer = await client.call(setUpOperator, { setUpToken, password })
    expect(expectSuccess(answer)).toMatchObject({ operatorId: made.id, name, role: 'viewer' })
    const session = await client.call(getSession, {}, { headers: { cookie: cookieOf(answer) } })
    expect(expectSuccess(session).name).toBe(name)
    expectRefusal(await client.call(setUpOperator, { setUpToken, password: newPassword() }), 'setUpLinkInvalid')
    await signIn(client, { id: made.id, name, password })
  })

  test('makes a link that ends with the next one, and does nothing for a disabled account', async () => {
    const name = newName()
    const first = expectSuccess(await client.operate(createOperator, { name, role: 'viewer' }))
    const second = expectSuccess(await client.operate(resetOperator, { id: first.id }))
    const use = (made: { setUpPath: string | null }) =>
      client.call(setUpOperator, { setUpToken: String(made.setUpPath).split('#')[1], password: newPassword() })
    expectRefusal(await use(first), 'setUpLinkInvalid')
    expectSuccess(await client.operate(updateOperator, { id: first.id, status: 2 }))
    expectRefusal(await use(second), 'setUpLinkInvalid')
    expect(expectSuccess(await client.operate(getOperator, { id: first.id })).isSetUp).toBe(false)
    expectSuccess(await client.operate(updateOperator, { id: first.id, status: 1 }))
    expectSuccess(await use(second))
  })

  test('takes a password instead, and never shows it', async () => {
    const person = await newPerson(client, 'operator')
    const record = await client.operate(getOperator, { id: person.id })
    expect(expectSuccess(record)).toMatchObject({ name: person.name, isSetUp: true })
    expect(record.text).not.toContain(person.password)
    const trail = await client.operate(pageAudit, { subject: String(person.id), type: 'operator.created' })
    expect(expectSuccess(trail).list).toHaveLength(1)
    expect(trail.text).not.toContain(person.password)
  })

  test('refuses a name that another has, in upper or lower case, also when both come at once', async () => {
    const name = newName()
    const answers = await Promise.all(
      [name, name.toUpperCase(), name.toLowerCase()].map((wished) =>
        client.operate(createOperator, { name: wished, role: 'viewer' }),
      ),
    )
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 10051, 10051])
  })

  test('refuses names that look like others or are the service’s own, and passwords that anybody would guess', async () => {
    const create = (name: string, password = newPassword()) =>
      client.operate(createOperator, { name, password, role: 'viewer' })
    for (const name of [
      'operator',
      'First Start',
      ' ann',
      'ann ',
      'an\u200bn',
      '\u202eann',
      'ann\u00a0b',
      'ann  b',
      'ann#1',
      'ann:b',
      'оperator-x',
    ]) {
      expectFaults(await create(name), ['name'])
      expectFaults(await client.operate(createOperatorKey, { name, role: 'viewer' }), ['name'])
    }
    const name = newName()
    const ofContext = [
      'Forecourt2026!',
      'forecourtforecourt',
      'adminadmin12',
      'charging2026',
      'operator2026',
      'a1b2c3d4e5f6',
    ]
    for (const password of ['password1234', '123456789012', ' '.repeat(12), name, name.toUpperCase(), ...ofContext]) {
      expectFaults(await create(name, password), ['password'])
    }
    const { id, setUpPath } = expectSuccess(await client.operate(createOperator, { name, role: 'viewer' }))
    expectFaults(await client.operate(updateOperator, { id, name: 'operator' }), ['name'])
    const setUpToken = String(setUpPath).split('#')[1]
    const setUp = (body: object) => client.call(setUpOperator, { setUpToken, ...body })
    expectFaults(await setUp({ password: name }), ['password'])
    expectFaults(await setUp({ password: 'P@ssw0rd2026!', name: 'platform' }), ['name', 'password'])
    expectSuccess(await setUp({ password: newPassword() }))
    // A name that differs only by full-width letters is the same name.
    expectRefusal(await create(name.replace('person', 'ｐｅｒｓｏｎ')), 'operatorNameTaken')
  })

  test('names every fault, and takes applications for developers only', async () => {
    expectFaults(await client.operate(createOperator, { name: ' ', role: 'king', password: 'short' }), [
      'name',
      'role',
      'password',
    ])
    const { appId } = await newApplication(client)
    expectFaults(await client.operate(createOperator, { name: newName(), role: 'viewer', appIds: [appId] }), ['appIds'])
    const unknown = { name: newName(), role: 'developer', appIds: ['no-such-application'] }
    expectRefusal(await client.operate(createOperator, unknown), 'applicationNotFound')
    expect(expectSuccess(await client.operate(pageOperators, { name: unknown.name })).total).toBe(0)
  })
})

describe('updateOperator', () => {
  test('changes the role, and sessions feel it within 1 second', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const create = () => client.call(createApplication, { appName: 'x' }, { headers })
    expectRefusal(await create(), 'notPermitted')
    const updated = await client.operate(updateOperator, { id: person.id, role: 'operator' })
    expect(expectSuccess(updated).role).toBe('operator')
    await withinOneSecond(create, 0)
    expectSuccess(await client.operate(updateOperator, { id: person.id, role: 'viewer' }))
    await withinOneSecond(create, 10003)
  })

  test('is refused with the tag of an older state', async () => {
    const person = await newPerson(client, 'viewer')
    const etag = String((await client.operate(getOperator, { id: person.id })).headers.get('etag'))
    const update = (members: object) =>
      client.operate(updateOperator, { id: person.id, ...members }, { headers: { 'if-match': etag } })
    expectSuccess(await update({ role: 'operator' }))
    expectRefusal(await update({ role: 'admin' }), 'preconditionFailed')
  })

  test('refuses an unknown id and a taken name', async () => {
    const [one, other] = await Promise.all([newPerson(client, 'viewer'), newPerson(client, 'viewer')])
    expectRefusal(await client.operate(updateOperator, { id: 2 ** 50, role: 'viewer' }), 'operatorNotFound')
    expectRefusal(await client.operate(updateOperator, { id: one.id, name: other.name }), 'operatorNameTaken')
  })
})

test('resetOperator ends the password and the sessions, and a new link sets another', async () => {
  const person = await newPerson(client, 'operator')
  const headers = await signIn(client, person)
  const reset = expectSuccess(await client.operate(resetOperator, { id: person.id }))
  expect(reset.isSetUp).toBe(false)
  await withinOneSecond(() => client.call(getSession, {}, { headers }), 10002)
  expectRefusal(await client.call(createSession, { name: person.name, password: person.password }), 'signInFailed')
  const again = expectSuccess(await client.operate(resetOperator, { id: person.id }))
  const tokens = [reset, again].map(({ setUpPath }) => String(setUpPath).split('#')[1])
  const password = newPassword()
  expectRefusal(await client.call(setUpOperator, { setUpToken: tokens[0], password }), 'setUpLinkInvalid')
  expectSuccess(await client.call(setUpOperator, { setUpToken: tokens[1], password }))
})

test('deleteOperator removes the account and its sessions, and its name is free again', async () => {
  const person = await newPerson(client, 'viewer')
  const headers = await signIn(client, person)
  expect(expectSuccess(await client.operate(deleteOperator, { id: person.id })).name).toBe(person.name)
  await withinOneSecond(() => client.call(getSession, {}, { headers }), 10002)
  expectRefusal(await client.operate(getOperator, { id: person.id }), 'operatorNotFound')
  expectSuccess(await client.operate(createOperator, { name: person.name, role: 'viewer' }))
})

describe('a developer', () => {
  test('sees and serves the applications that they are a member of, and no other', async () => {
    const [own, other] = await Promise.all([newApplication(client), newApplication(client)])
    const headers = await signIn(client, await newPerson(client, 'developer', [own.appId]))
    const page = expectSuccess(await client.call(pageApplications, {}, { headers }))
    expect(page.list.map(({ appId }) => appId)).toEqual([own.appId])
    expectSuccess(await client.call(createDevice, deviceBody(own.appId), { headers }))
    expectSuccess(await client.call(getApplication, { appId: own.appId }, { headers }))
    expectSuccess(await client.call(rotateApplicationSecret, { appId: own.appId }, { headers }))
    for (const appId of [other.appId, 'no-such-application']) {
      expectRefusal(await client.call(createDevice, deviceBody(appId), { headers }), 'notPermitted')
      expectRefusal(await client.call(getApplication, { appId }, { headers }), 'notPermitted')
      expectRefusal(await client.call(rotateApplicationSecret, { appId }, { headers }), 'notPermitted')
      expectRefusal(await client.call(pageEvents, { appId }, { headers }), 'notPermitted')
    }
    expectRefusal(await client.call(getOverview, {}, { headers }), 'notPermitted')
  })

  test('loses an application within 1 second', async () => {
    const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
    const person = await newPerson(client, 'developer', [one.appId, two.appId])
    const headers = await signIn(client, person)
    const create = () => client.call(createDevice, deviceBody(two.appId), { headers })
    expectSuccess(await create())
    expectSuccess(await client.operate(updateOperator, { id: person.id, appIds: [one.appId] }))
    await withinOneSecond(create, 10003)
  })
})

describe('an operator key', () => {
  test('is shown once, acts as a bearer token and in a session, and is revoked within 1 second', async () => {
    const name = newName()
    const made = expectSuccess(await client.operate(createOperatorKey, { name, role: 'operator' }))
    expect(made.operatorKey).toMatch(/^fok_[A-Za-z0-9_-]{43}$/)
    const token = shownSecret(made.operatorKey)
    const { appId } = expectSuccess(await client.call(createApplication, { appName: 'by key' }, { token }))
    expectRefusal(await client.call(createOperator, { name: newName(), role: 'viewer' }, { token }), 'notPermitted')
    const listed = await client.operate(pageOperatorKeys, {})
    expect(expectSuccess(listed).list.some(({ id }) => id === made.id)).toBe(true)
    expect(listed.text).not.toContain(token)
    const signedIn = await client.call(createSession, { operatorKey: token })
    expect(expectSuccess(signedIn)).toMatchObject({ name, role: 'operator', operatorId: null })
    const headers = { cookie: cookieOf(signedIn) }
    expectSuccess(await client.call(getApplication, { appId }, { headers }))
    const trail = expectSuccess(await client.operate(pageAudit, { actor: `operatorKey:${name}` }))
    expect(trail.list.map(({ type, subject }) => [type, subject])).toContainEqual(['application.created', appId])
    expectSuccess(await client.operate(deleteOperatorKey, { id: made.id }))
    await withinOneSecond(() => client.call(getApplication, { appId }, { token }), 10002)
    await withinOneSecond(() => client.call(getApplication, { appId }, { headers }), 10002)
    expectRefusal(await client.call(createSession, { operatorKey: token }), 'signInFailed')
    expectRefusal(await client.operate(deleteOperatorKey, { id: made.id }), 'operatorKeyNotFound')
  })

  test('belongs to the account that made it, goes with it, and may no more than it', async () => {
    const [person] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
    const headers = await signIn(client, person)
    const made = expectSuccess(await client.call(createOperatorKey, { name: newName(), role: 'admin' }, { headers }))
    const owned = { operatorId: person.id, operatorName: person.name, role: 'admin', status: 1 }
    expect(made).toMatchObject(owned)
    // A key that was created with a key belongs to the same person.
    const first = shownSecret(made.operatorKey)
    const second = await client.call(createOperatorKey, { name: newName(), role: 'admin' }, { token: first })
    expect(expectSuccess(second)).toMatchObject(owned)
    // A key that was created with the key of the settings has no owner.
    const bare = expectSuccess(await client.operate(createOperatorKey, { name: newName(), role: 'viewer' }))
    expect([bare.operatorId, bare.operatorName]).toEqual([null, null])

    const tokens = [first, shownSecret(second.data.operatorKey)]
    const keySession = { cookie: cookieOf(await client.call(createSession, { operatorKey: tokens[0] })) }
    const listed = async () =>
      expectSuccess(await client.operate(pageOperatorKeys, { operatorId: String(person.id) })).list
    const seen = async () => (await listed()).map(({ role, status }) => [role, status])
    const reads = (token: string | undefined) =>
      client.call(pageApplications, {}, token ? { token } : { headers: keySession })
    const writes = (token: string | undefined) =>
      client.call(createApplication, { appName: 'x' }, token ? { token } : { headers: keySession })
    const all = [...tokens, undefined]
    const change = async (members: object) =>
      expectSuccess(await client.operate(updateOperator, { id: person.id, ...members }))

    await change({ role: 'operator' })
    expect(await seen()).toEqual([
      ['operator', 1],
      ['operator', 1],
    ])
    for (const token of tokens) await withinOneSecond(() => client.call(pageOperators, {}, { token }), 10003)
    await change({ role: 'viewer' })
    for (const token of all) await withinOneSecond(() => writes(token), 10003)
    for (const token of all) expectSuccess(await reads(token))
    await change({ role: 'developer' })
    for (const token of all) await withinOneSecond(() => reads(token), 10002)
    expect(await seen()).toEqual([
      ['admin', 2],
      ['admin', 2],
    ])
    await change({ role: 'admin', status: 2 })
    for (const token of all) await withinOneSecond(() => reads(token), 10002)
    expectRefusal(await client.call(createSession, { operatorKey: tokens[0] }), 'signInFailed')
    await change({ status: 1 })
    for (const token of all) await withinOneSecond(() => writes(token), 0)
    expectSuccess(await client.operate(deleteOperator, { id: person.id }))
    for (const token of all) await withinOneSecond(() => reads(token), 10002)
    expect(await listed()).toEqual([])
    const trail = expectSuccess(
      await client.operate(pageAudit, { subject: String(made.id), type: 'operatorKey.deleted' }),
    )
    expect(trail.list).toHaveLength(1)
  })

  test('goes on under another account that it is handed over to, also from one that is disabled', async () => {
    const [leaver, heir] = [await newPerson(client, 'admin'), await newPerson(client, 'viewer')]
    const headers = await signIn(client, leaver)
    const made = expectSuccess(await client.call(createOperatorKey, { name: newName(), role: 'admin' }, { headers }))
    const token = shownSecret(made.operatorKey)
    const reads = () => client.call(pageApplications, {}, { token })
    const writes = () => client.call(createApplication, { appName: 'x' }, { token })
    expectSuccess(await client.operate(updateOperator, { id: leaver.id, status: 2 }))
    await withinOneSecond(reads, 10002)

    const handOver = { id: made.id, operatorId: heir.id }
    const key = { 'idempotency-key': newName() }
    const handed = await client.call(handOverOperatorKey, handOver, { token: client.operatorKey, headers: key })
    expect(expectSuccess(handed)).toMatchObject({
      id: made.id,
      operatorId: heir.id,
      operatorName: heir.name,
      role: 'viewer',
      status: 1,
    })
    const again = await client.call(handOverOperatorKey, handOver, { token: client.operatorKey, headers: key })
    expect(again.text).toBe(handed.text)
    await withinOneSecond(reads, 0)
    expectRefusal(await writes(), 'notPermitted')
    // Deleting the former owner's account does not end the key.
    expectSuccess(await client.operate(deleteOperator, { id: leaver.id }))
    expectSuccess(await reads())
    expectSuccess(await client.operate(updateOperator, { id: heir.id, role: 'operator' }))
    await withinOneSecond(writes, 0)

    // Handed over to its owner again, the key stays unchanged and no event is written.
    expectSuccess(await client.operate(handOverOperatorKey, handOver))
    const trail = await client.operate(pageAudit, { subject: String(made.id), type: 'operatorKey.handedOver' })
    expect(expectSuccess(trail).list.map(({ data }) => data)).toEqual([handed.data])

    expectRefusal(await client.operate(handOverOperatorKey, { ...handOver, operatorId: leaver.id }), 'operatorNotFound')
    expectRefusal(await client.operate(handOverOperatorKey, { ...handOver, id: 2 ** 40 }), 'operatorKeyNotFound')
    expectFaults(await client.operate(handOverOperatorKey, {}), ['id', 'operatorId'])
  })

  test('goes on under another account together with the saved views, in the request that ends its owner', async () => {
    const [leaver, heir, full] = await Promise.all(
      ['admin', 'operator', 'viewer'].map((role) => newPerson(client, role)),
    )
    if (!leaver || !heir || !full) throw new Error('no accounts')
    const [headers, ofHeir] = [await signIn(client, leaver), await signIn(client, heir)]
    const { id } = expectSuccess(await client.call(createOperatorKey, { name: newName(), role: 'viewer' }, { headers }))
    const save = async (view: object, as: object) =>
      expectSuccess(await client.call(saveView, { page: 'devices', ...view } as never, { headers: as } as never))
    const viewsOf = async (operatorId: number) =>
      expectSuccess(await client.operate(pageViews, { operatorId, pageSize: 100 })).list
    const long = 'x'.repeat(64)
    for (const name of ['Faulty', long]) await save({ name }, ofHeir)
    for (const name of ['Faulty', 'Faulty (2)', long, '😀'])
      await save({ name, query: 'status=2', columns: 'tag' }, headers)
    await save({ name: 'Faulty', page: 'sites' }, headers)
    const left = await viewsOf(leaver.id)
    // Nobody but an admin reads the views of another account.
    expect(expectSuccess(await client.call(pageViews, { operatorId: heir.id }, { headers: ofHeir })).total).toBe(2)
    expectRefusal(await client.call(pageViews, { operatorId: leaver.id }, { headers: ofHeir }), 'notPermitted')

    const disable = (handOverTo: number, status = 2) =>
      client.operate(updateOperator, { id: leaver.id, status, handOverTo })
    const ofFull = await signIn(client, full)
    for (let place = left.length - 1; place < limits.viewsOfOne; place++) await save({ name: `View ${place}` }, ofFull)
    expectFaults(await disable(heir.id, 1), ['handOverTo'])
    for (const to of [leaver.id, 2 ** 40, full.id]) expectFaults(await disable(to), ['handOverTo'])
    expectSuccess(await client.operate(updateOperator, { id: full.id, status: 2 }))
    expectFaults(await disable(full.id), ['handOverTo'])
    // A refused request left everything as it was.
    expect(expectSuccess(await client.operate(getOperator, { id: leaver.id })).status).toBe(1)
    expect(await viewsOf(leaver.id)).toEqual(left)

    expect(expectSuccess(await disable(heir.id)).status).toBe(2)
    expect(await viewsOf(leaver.id)).toEqual([])
    const names = { Faulty: 'Faulty (3)', [long]: `${'x'.repeat(60)} (2)` } as Record<string, string>
    const clash = (name: string, page: string) => (page === 'devices' ? names[name] : undefined) ?? name
    const got = left.map((view) => ({ ...view, name: clash(view.name, view.page) }))
    expect((await viewsOf(heir.id)).slice(0, left.length)).toEqual(got)
    expect(expectSuccess(await client.operate(pageOperatorKeys, { operatorId: heir.id })).list).toMatchObject([{ id }])
    const told = async (type: string, subject: number) =>
      expectSuccess(await client.operate(pageAudit, { type, subject: String(subject) } as never)).list
    const views = got.toReversed().map(({ id, page, name }) => ({ id, page, name }))
    expect((await told('view.handedOver', leaver.id)).map(({ data }) => data)).toEqual([
      { id: leaver.id, name: leaver.name, newOwner: heir.name, newOwnerId: heir.id, views },
    ])
    expect(await told('operatorKey.handedOver', id)).toHaveLength(1)

    // A deleted account gives them on as well; one without a new owner takes them along.
    expectSuccess(await client.operate(updateOperator, { id: leaver.id, status: 1 }))
    expectSuccess(await client.operate(deleteOperator, { id: heir.id, handOverTo: leaver.id }))
    expect(await viewsOf(leaver.id)).toHaveLength(left.length + 2)
    expect(expectSuccess(await client.operate(pageOperatorKeys, { operatorId: leaver.id })).total).toBe(1)
    expect(await told('operatorKey.deleted', id)).toEqual([])
    expectSuccess(await client.operate(deleteOperator, { id: leaver.id }))
    expect(await told('view.handedOver', leaver.id)).toHaveLength(1)
    expect(await told('operatorKey.deleted', id)).toHaveLength(1)
  })

  test('cannot have ended when it begins', async () => {
    const key = { name: newName(), role: 'viewer', expireTime: '2020-01-01 00:00:00' }
    expectFaults(await client.operate(createOperatorKey, key), ['expireTime'])
    expectFaults(await client.operate(createOperatorKey, { name: newName(), role: 'developer' }), ['role'])
  })
})

describe('the audit trail', () => {
  test('holds what people did, newest first, and not what applications did', async () => {
    const person = await newPerson(client, 'operator')
    const headers = await signIn(client, person)
    const session = expectSuccess(await client.call(getSession, {}, { headers })).id
    const made = expectSuccess(await client.call(createApplication, { appName: 'trail' }, { headers }))
    const device = deviceBody(made.appId)
    expectSuccess(await client.call(createDevice, device, { headers }))
    const actor = `operator:${person.name}`
    const { list } = expectSuccess(await client.operate(pageAudit, { actor }))
    expect(list.map(({ type, appId, subject }) => [type, appId, subject])).toEqual([
      ['device.bound', made.appId, device.deviceNo],
      ['application.created', made.appId, made.appId],
      ['session.created', null, String(session)],
    ])
    expect(list.every(({ actorId }) => actorId === person.id)).toBe(true)
    const app = await newApplication(client)
    expectSuccess(await client.call(createDevice, deviceBody(app.appId), { token: app.token }))
    const ofApp = expectSuccess(await client.operate(pageAudit, { appId: app.appId }))
    // Changes of the application itself are in the audit trail but not in its feed. Both events may have the same time.
    expect(ofApp.list.map(({ type }) => type).sort()).toEqual(['application.created', 'thirdPartyConfig.saved'])
    const beforeThat = expectSuccess(await client.operate(pageAudit, { actor, beforeId: list[0]?.id }))
    expect(beforeThat.list.map(({ type }) => type)).toEqual(['application.created', 'session.created'])
  })

  test('has nothing of the platform in an application’s own feed', async () => {
    const app = await newApplication(client)
    expectSuccess(await client.operate(rotateApplicationSecret, { appId: app.appId }))
    const { list } = expectSuccess(await client.operate(pageEvents, { appId: app.appId }))
    expect(list.map(({ type }) => type)).toEqual(['thirdPartyConfig.saved'])
  })
})

test('getOverview counts what there is, and shows the newest of the audit trail but changes of state', async () => {
  const app = await newApplication(client)
  const device = deviceBody(app.appId)
  expectSuccess(await client.call(createDevice, device, { token: app.token }))
  for (const status of [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) {
    expectSuccess(await client.operate(reportDeviceState, { appId: app.appId, deviceNo: device.deviceNo, status }))
  }
  const overview = expectSuccess(await client.operate(getOverview, {}))
  expect(overview.events[0]).toBeDefined()
  expect(overview.events.map(({ type }) => type)).not.toContain('device.stateChanged')
  const { list } = expectSuccess(await client.operate(pageAudit, { appId: app.appId, type: 'device.*' }))
  expect(list.map(({ type }) => type)).toContain('device.stateChanged')
  expect(overview.events.map(({ id }) => id)).toEqual(overview.events.map(({ id }) => id).toSorted((a, b) => b - a))
  expect(overview.counts?.applications).toBeGreaterThan(0)
  expect(Number(overview.counts?.devicesOnline)).toBeLessThanOrEqual(Number(overview.counts?.devices))
})
