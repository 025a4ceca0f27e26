import { describe, expect, test } from 'bun:test'
import type { OperationId } from '../kit/contracts.ts'
import { codeOf, cookieOf, earlyInStep, newPassword, newPerson, signIn, startedSecret } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
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
    const names = [name, name.toUpperCase(), name.toLowerCase()]
    const answers = await Promise.all(
      names.map((wished) => client.operate('createOperator', { name: wished, role: 'viewer' })),
    )
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 10051, 10051])
  })

  test('refuses names that look like others or are the service’s own, and passwords that anybody would guess', async () => {
    // Which ones these are is in src/people/operators/rules.test.ts.
    const create = (name: string, password = newPassword()) =>
      client.operate('createOperator', { name, password, role: 'viewer' })
    for (const name of ['First Start', ' ann', 'an\u200bn', 'ann#1', 'ann:b', 'оperator-x']) {
      expectFaults(await create(name), ['name'])
      expectFaults(await client.operate('createOperatorKey', { name, role: 'viewer' }), ['name'])
    }
    const name = newName()
    for (const password of ['password1234', ' '.repeat(12), name, name.toUpperCase(), 'Forecourt2026!']) {
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
    const create = (body: object) => client.operate('createOperator', { name: newName(), role: 'viewer', ...body })
    expectFaults(await create({ name: ' ', role: 'king', password: 'short' }), ['name', 'role', 'password'])
    expectFaults(await create({ appIds: [(await newApplication(client)).appId] }), ['appIds'])
    const name = newName()
    const unknown = { name, role: 'developer', appIds: ['no-such-application'] }
    expectRefusal(await create(unknown), 'applicationNotFound')
    expect((await succeed('pageOperators', { name })).total).toBe(0)
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

test.each([
  ['updateOperator', { status: 2 }],
  ['resetOperator', {}],
  ['deleteOperator', {}],
] as const)('%s with %j ends the account’s sessions within 1 second, and its password', async (operation, members) => {
  const person = await newPerson(client, 'operator')
  const headers = await signIn(client, person)
  expect((await succeed(operation, { id: person.id, ...members })).name).toBe(person.name)
  await withinOneSecond(() => client.call('getSession', {}, { headers }), 10002)
  expectRefusal(await client.call('createSession', { name: person.name, password: person.password }), 'signInFailed')
  if (operation !== 'deleteOperator') return
  expectRefusal(await client.operate('getOperator', { id: person.id }), 'operatorNotFound')
  await succeed('createOperator', { name: person.name, role: 'viewer' })
})

test('a developer sees and serves the applications that they are a member of, and no other', async () => {
  const [own, other] = await Promise.all([newApplication(client), newApplication(client)])
  const headers = await signIn(client, await newPerson(client, 'developer', [own.appId]))
  const page = await succeed('pageApplications', {}, { headers })
  expect(page.list.map(({ appId }) => appId)).toEqual([own.appId])
  await succeed('createDevice', deviceBody(own.appId), { headers })
  await succeed('rotateApplicationSecret', { appId: own.appId }, { headers })
  for (const appId of [other.appId, 'no-such-application']) {
    expectRefusal(await client.call('createDevice', deviceBody(appId), { headers }), 'notPermitted')
    expectRefusal(await client.call('pageEvents', { appId }, { headers }), 'notPermitted')
  }
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
    const about: [OperationId, object][] = [
      ['saveThirdPartyConfig', { operatorName: 'Tester', callbackUrl }],
      ['rotateApplicationSecret', {}],
      ['rotateCallbackSecret', {}],
      ['testDelivery', {}],
      ['replayDeliveries', { timeFrom: '2020-01-01 00:00:00', timeTo: '2020-01-02 00:00:00' }],
      ['createAct', { kind: 'devices', act: 'unbind', filter: { deviceName: 'none' } }],
    ]
    for (const [operation, input] of about) await succeed(operation, { appId, ...input })
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

  test('has in an event of an account what the act changed, and nothing that the account’s owner did before', async () => {
    const [name, renamed] = [newSerial('person'), newSerial('person')]
    const made = await succeed('createOperator', { name, role: 'viewer' })
    const { id } = made
    const [password, newer] = [newPassword(), newPassword()]
    const setUpToken = String(made.setUpPath).split('#')[1] ?? ''
    const begun = await client.call('setUpOperator', { setUpToken, password, name: renamed })
    expectSuccess(begun)
    const headers = { cookie: cookieOf(begun) }
    const secret = await startedSecret(client, headers)
    await earlyInStep()
    await succeed('saveTotp', { code: codeOf(secret) }, { headers })
    await succeed('changePassword', { password, newPassword: newer }, { headers })

    const { appId } = await newApplication(client)
    for (const members of [
      { status: 2 as const },
      { status: 1 as const, role: 'developer' as const, appIds: [appId] },
      { name },
      { role: 'viewer' as const },
      {},
    ]) {
      await succeed('updateOperator', { id, ...members })
    }
    await succeed('resetOperator', { id })

    const { list } = await succeed('pageAudit', { subject: String(id), type: 'operator.*' })
    expect(list.map(({ type, data }) => [type, (data as { before?: unknown }).before]).toReversed()).toEqual([
      ['operator.created', undefined],
      ['operator.setUp', { name, isSetUp: false }],
      ['operator.passwordChanged', {}],
      ['operator.updated', { status: 1 }],
      ['operator.updated', { role: 'viewer', status: 2, appIds: [] }],
      ['operator.updated', { name: renamed }],
      ['operator.updated', { role: 'developer', appIds: [appId] }],
      ['operator.updated', {}],
      ['operator.reset', { isSetUp: true }],
    ])
    expect(list[0]?.data).toMatchObject({ id, name, role: 'viewer', isSetUp: false, hasSecondFactor: true })
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
