import { describe, expect, test } from 'bun:test'
import { rotateApplicationSecret } from '../../src/applications/contract.ts'
import { rotateCallbackSecret, saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { createAct } from '../../src/bulk/acts/contract.ts'
import { replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { cookieOf, newPassword, newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import { client, expectFaults, expectNow, expectRefusal, expectSuccess, succeed, withinOneSecond } from './support.ts'

const newName = () => newSerial('person')

describe('createOperator', () => {
  test('answers a one-time link by which the person sets a password and is signed in', async () => {
    const name = newName()
    const made = await succeed('createOperator', { name, role: 'viewer' })
    expect(made).toMatchObject({ name, role: 'viewer', status: 1, isSetUp: false, appIds: [], signInTime: null })
    expectNow(made.createTime)
    const [path, setUpToken] = String(made.setUpPath).split('#')
    expect(path).toBe('/console/set-up')
    const password = newPassword()
    expectFaults(await client.call('setUpOperator', { setUpToken, password: 'too short' }), ['password'])
    const answer = await client.call('setUpOperator', { setUpToken, password })
    expect(expectSuccess(answer)).toMatchObject({ operatorId: made.id, name, role: 'viewer' })
    const session = await client.call('getSession', {}, { headers: { cookie: cookieOf(answer) } })
    expect(expectSuccess(session).name).toBe(name)
    expectRefusal(await client.call('setUpOperator', { setUpToken, password: newPassword() }), 'setUpLinkInvalid')
    await signIn(client, { id: made.id, name, password })
  })

  test('makes a link that ends with the next one, and does nothing for a disabled account', async () => {
    const name = newName()
    const first = await succeed('createOperator', { name, role: 'viewer' })
    const second = await succeed('resetOperator', { id: first.id })
    const use = (made: { setUpPath: string | null }) =>
      client.call('setUpOperator', { setUpToken: String(made.setUpPath).split('#')[1], password: newPassword() })
    expectRefusal(await use(first), 'setUpLinkInvalid')
    await succeed('updateOperator', { id: first.id, status: 2 })
    expectRefusal(await use(second), 'setUpLinkInvalid')
    expect((await succeed('getOperator', { id: first.id })).isSetUp).toBe(false)
    await succeed('updateOperator', { id: first.id, status: 1 })
    expectSuccess(await use(second))
  })

  test('takes a password instead, and never shows it', async () => {
    const person = await newPerson(client, 'operator')
    const record = await client.operate('getOperator', { id: person.id })
    expect(expectSuccess(record)).toMatchObject({ name: person.name, isSetUp: true })
    expect(record.text).not.toContain(person.password)
    const trail = await client.operate('pageAudit', { subject: String(person.id), type: 'operator.created' })
    expect(expectSuccess(trail).list).toHaveLength(1)
    expect(trail.text).not.toContain(person.password)
  })

  test('refuses a name that another has, in upper or lower case, also when both come at once', async () => {
    const name = newName()
    const answers = await Promise.all(
      [name, name.toUpperCase(), name.toLowerCase()].map((wished) =>
        client.operate('createOperator', { name: wished, role: 'viewer' }),
      ),
    )
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 10051, 10051])
  })

  test('refuses names that look like others or are the service’s own, and passwords that anybody would guess', async () => {
    const create = (name: string, password = newPassword()) =>
      client.operate('createOperator', { name, password, role: 'viewer' })
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
      expectFaults(await client.operate('createOperatorKey', { name, role: 'viewer' }), ['name'])
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
    const { id, setUpPath } = await succeed('createOperator', { name, role: 'viewer' })
    expectFaults(await client.operate('updateOperator', { id, name: 'operator' }), ['name'])
    const setUpToken = String(setUpPath).split('#')[1]
    const setUp = (body: object) => client.call('setUpOperator', { setUpToken, ...body })
    expectFaults(await setUp({ password: name }), ['password'])
    expectFaults(await setUp({ password: 'P@ssw0rd2026!', name: 'platform' }), ['name', 'password'])
    expectSuccess(await setUp({ password: newPassword() }))
    // A name that differs only by full-width letters is the same name.
    expectRefusal(await create(name.replace('person', 'ｐｅｒｓｏｎ')), 'operatorNameTaken')
  })

  test('names every fault, and takes applications for developers only', async () => {
    expectFaults(await client.operate('createOperator', { name: ' ', role: 'king', password: 'short' }), [
      'name',
      'role',
      'password',
    ])
    const { appId } = await newApplication(client)
    expectFaults(await client.operate('createOperator', { name: newName(), role: 'viewer', appIds: [appId] }), [
      'appIds',
    ])
    const unknown = { name: newName(), role: 'developer', appIds: ['no-such-application'] }
    expectRefusal(await client.operate('createOperator', unknown), 'applicationNotFound')
    expect((await succeed('pageOperators', { name: unknown.name })).total).toBe(0)
  })
})

describe('updateOperator', () => {
  test('changes the role, and sessions feel it within 1 second', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const create = () => client.call('createApplication', { appName: 'x' }, { headers })
    expectRefusal(await create(), 'notPermitted')
    const updated = await client.operate('updateOperator', { id: person.id, role: 'operator' })
    expect(expectSuccess(updated).role).toBe('operator')
    await withinOneSecond(create, 0)
    await succeed('updateOperator', { id: person.id, role: 'viewer' })
    await withinOneSecond(create, 10003)
  })

  test('refuses an unknown id and a taken name', async () => {
    const [one, other] = await Promise.all([newPerson(client, 'viewer'), newPerson(client, 'viewer')])
    expectRefusal(await client.operate('updateOperator', { id: 2 ** 50, role: 'viewer' }), 'operatorNotFound')
    expectRefusal(await client.operate('updateOperator', { id: one.id, name: other.name }), 'operatorNameTaken')
  })
})

test('resetOperator ends the password and the sessions, and a new link sets another', async () => {
  const person = await newPerson(client, 'operator')
  const headers = await signIn(client, person)
  const reset = await succeed('resetOperator', { id: person.id })
  expect(reset.isSetUp).toBe(false)
  await withinOneSecond(() => client.call('getSession', {}, { headers }), 10002)
  expectRefusal(await client.call('createSession', { name: person.name, password: person.password }), 'signInFailed')
  const again = await succeed('resetOperator', { id: person.id })
  const tokens = [reset, again].map(({ setUpPath }) => String(setUpPath).split('#')[1])
  const password = newPassword()
  expectRefusal(await client.call('setUpOperator', { setUpToken: tokens[0], password }), 'setUpLinkInvalid')
  expectSuccess(await client.call('setUpOperator', { setUpToken: tokens[1], password }))
})

test('deleteOperator removes the account and its sessions, and its name is free again', async () => {
  const person = await newPerson(client, 'viewer')
  const headers = await signIn(client, person)
  expect((await succeed('deleteOperator', { id: person.id })).name).toBe(person.name)
  await withinOneSecond(() => client.call('getSession', {}, { headers }), 10002)
  expectRefusal(await client.operate('getOperator', { id: person.id }), 'operatorNotFound')
  await succeed('createOperator', { name: person.name, role: 'viewer' })
})

describe('a developer', () => {
  test('sees and serves the applications that they are a member of, and no other', async () => {
    const [own, other] = await Promise.all([newApplication(client), newApplication(client)])
    const headers = await signIn(client, await newPerson(client, 'developer', [own.appId]))
    const page = await succeed('pageApplications', {}, { headers })
    expect(page.list.map(({ appId }) => appId)).toEqual([own.appId])
    await succeed('createDevice', deviceBody(own.appId), { headers })
    await succeed('getApplication', { appId: own.appId }, { headers })
    await succeed('rotateApplicationSecret', { appId: own.appId }, { headers })
    for (const appId of [other.appId, 'no-such-application']) {
      expectRefusal(await client.call('createDevice', deviceBody(appId), { headers }), 'notPermitted')
      expectRefusal(await client.call('getApplication', { appId }, { headers }), 'notPermitted')
      expectRefusal(await client.call('rotateApplicationSecret', { appId }, { headers }), 'notPermitted')
      expectRefusal(await client.call('pageEvents', { appId }, { headers }), 'notPermitted')
    }
    expectRefusal(await client.call('getOverview', {}, { headers }), 'notPermitted')
  })

  test('loses an application within 1 second', async () => {
    const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
    const person = await newPerson(client, 'developer', [one.appId, two.appId])
    const headers = await signIn(client, person)
    const create = () => client.call('createDevice', deviceBody(two.appId), { headers })
    expectSuccess(await create())
    await succeed('updateOperator', { id: person.id, appIds: [one.appId] })
    await withinOneSecond(create, 10003)
  })
})

describe('the audit trail', () => {
  test('holds what people did, newest first, and not what applications did', async () => {
    const person = await newPerson(client, 'operator')
    const headers = await signIn(client, person)
    const session = (await succeed('getSession', {}, { headers })).id
    const made = await succeed('createApplication', { appName: 'trail' }, { headers })
    const device = deviceBody(made.appId)
    await succeed('createDevice', device, { headers })
    const actor = `operator:${person.name}`
    const { list } = await succeed('pageAudit', { actor })
    expect(list.map(({ type, appId, subject }) => [type, appId, subject])).toEqual([
      ['device.bound', made.appId, device.deviceNo],
      ['application.created', made.appId, made.appId],
      ['session.created', null, String(session)],
    ])
    expect(list.every(({ actorId }) => actorId === person.id)).toBe(true)
    const app = await newApplication(client)
    await succeed('createDevice', deviceBody(app.appId), app)
    const ofApp = await succeed('pageAudit', { appId: app.appId })
    // Changes of the application itself are in the audit trail but not in its feed. Both events may have the same time.
    expect(ofApp.list.map(({ type }) => type).sort()).toEqual(['application.created', 'thirdPartyConfig.saved'])
    const beforeThat = await succeed('pageAudit', { actor, beforeId: list[0]?.id })
    expect(beforeThat.list.map(({ type }) => type)).toEqual(['application.created', 'session.created'])
  })

  test('names the application of every event that is about one, and finds the event by it', async () => {
    const { appId } = await newApplication(client)
    const callbackUrl = 'https://receiver.example.com/hook'
    const about: [{ id: string }, object][] = [
      [saveThirdPartyConfig, { appId, operatorName: 'Tester', callbackUrl }],
      [rotateApplicationSecret, { appId }],
      [rotateCallbackSecret, { appId }],
      [testDelivery, { appId }],
      [replayDeliveries, { appId, timeFrom: '2020-01-01 00:00:00', timeTo: '2020-01-02 00:00:00' }],
      [createAct, { appId, kind: 'devices', act: 'unbind', filter: { deviceName: 'none' } }],
    ]
    for (const [operation, input] of about) await succeed(untyped(operation), input)
    const { list } = await succeed('pageAudit', { appId, pageSize: 100 })
    expect(list.map((event) => [event.type, event.appId]).sort()).toEqual(
      [
        ...['application.created', 'application.secretRotated', 'thirdPartyConfig.saved', 'thirdPartyConfig.saved'],
        ...['thirdPartyConfig.secretRotated', 'delivery.tested', 'delivery.replayed', 'act.created'],
      ]
        .map((type) => [type, appId])
        .sort(),
    )
    // Beside an act, an application can have no import.
    const other = await newApplication(client)
    const file = 'deviceNo,deviceName,districtCode,coordinates\n'
    await succeed('createImport', { appId: other.appId, kind: 'devices', format: 'csv', file })
    const imports = await client.operate('pageAudit', { appId: other.appId, type: 'import.*' })
    expect(expectSuccess(imports).list).toMatchObject([{ type: 'import.created', appId: other.appId }])
  })
})

test('getOverview counts what there is, and shows the newest of the audit trail but changes of state', async () => {
  const app = await newApplication(client)
  const device = deviceBody(app.appId)
  await succeed('createDevice', device, app)
  for (const status of [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) {
    await succeed('reportDeviceState', { appId: app.appId, deviceNo: device.deviceNo, status })
  }
  const overview = await succeed('getOverview', {})
  expect(overview.events[0]).toBeDefined()
  expect(overview.events.map(({ type }) => type)).not.toContain('device.stateChanged')
  const { list } = await succeed('pageAudit', { appId: app.appId, type: 'device.*' })
  expect(list.map(({ type }) => type)).toContain('device.stateChanged')
  expect(overview.events.map(({ id }) => id)).toEqual(overview.events.map(({ id }) => id).toSorted((a, b) => b - a))
  expect(overview.counts?.applications).toBeGreaterThan(0)
  expect(Number(overview.counts?.devicesOnline)).toBeLessThanOrEqual(Number(overview.counts?.devices))
})
