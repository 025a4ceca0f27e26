import { expect, test } from 'bun:test'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { newApplication, newToken, shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectNow, expectSuccess, newIdleApplication, saveSiteOf } from './support.ts'

async function detail(appId: string) {
  return expectSuccess(await client.operate('getApplication', { appId }))
}

test('createApplication makes an application that is online and normal, with the defaults, and shows its secret', async () => {
  const created = expectSuccess(await client.operate('createApplication', { appName: 'Parking Ltd' }))
  const { appId, appSecret, createTime, ...rest } = created
  expect(rest).toEqual({
    appName: 'Parking Ltd',
    onlineStatus: 1,
    status: 1,
    frozenReason: null,
    tokenLifetimeSeconds: 7200,
    rateLimitPerSecond: 1000,
    overlapUntil: null,
    thirdPartyConfig: null,
  })
  expect(appId).toMatch(/^\S{1,64}$/)
  expect(appSecret).toMatch(/^[\x21-\x7e]{43,}$/)
  expectNow(createTime)
  await newToken(client, appId, shownSecret(appSecret))
})

test('the service makes the appId, also when the caller sends one', async () => {
  const body = { appName: 'x', appId: 'chosen-by-the-caller', appSecret: 'chosen', status: 2, onlineStatus: 2 }
  const created = expectSuccess(await client.operate('createApplication', body))
  expect(created.appId).not.toBe('chosen-by-the-caller')
  expect(created.appSecret).not.toBe('chosen')
  expect(created).toMatchObject({ status: 1, onlineStatus: 1 })
})

test('two applications may have one name and have different ids and secrets', async () => {
  const [one, two] = [await newIdleApplication({ appName: 'twin' }), await newIdleApplication({ appName: 'twin' })]
  expect(one.appId).not.toBe(two.appId)
  expect(one.appSecret).not.toBe(two.appSecret)
})

test('no other operation shows the secret, and rotateSecret shows the new one', async () => {
  const { appId, appSecret } = await newIdleApplication()
  for (const answer of [
    await client.operate('getApplication', { appId }),
    await client.operate('pageApplications', {}),
    await client.operate('updateApplication', { appId, appName: 'y' }),
    await client.operate('takeApplicationOffline', { appId }),
    await client.operate('freezeApplication', { appId, reason: 'r' }),
  ]) {
    expectSuccess<unknown>(answer)
    expect(answer.text).not.toContain(appSecret)
    expect(answer.text).not.toContain('appSecret')
  }
  const rotated = expectSuccess(await client.operate('rotateApplicationSecret', { appId }))
  expect(rotated.appSecret).not.toBe(appSecret)
  expect(Object.keys(rotated).sort()).toEqual([...Object.keys(await detail(appId)), 'appSecret'].sort())
})

test('createApplication with a thirdPartyConfig makes a ready application in one call', async () => {
  const thirdPartyConfig = { operatorName: 'Operator', operatorId: 'MA1234567', callbackUrl: 'https://example.com/cb' }
  const created = await newIdleApplication({ thirdPartyConfig })
  const { appId, appSecret } = created
  expect(created.thirdPartyConfig).toMatchObject({ appId, ...thirdPartyConfig })
  expectSuccess(await saveSiteOf({ appId, appSecret, token: await newToken(client, appId, appSecret) }))
})

test('createApplication names the faulty fields of its thirdPartyConfig by their paths, and makes nothing', async () => {
  const thirdPartyConfig = {
    operatorName: '',
    operatorId: 'short',
    callbackUrl: 'x'.repeat(2049),
    callbackEvents: ['x'],
  }
  const body = { appName: `never-${crypto.randomUUID()}`, tokenLifetimeSeconds: 0, thirdPartyConfig }
  expectFaults(await client.operate('createApplication', body), [
    'tokenLifetimeSeconds',
    'thirdPartyConfig.operatorName',
    'thirdPartyConfig.operatorId',
    'thirdPartyConfig.callbackUrl',
    'thirdPartyConfig.callbackEvents[0]',
  ])
  const badUrl = {
    ...body,
    tokenLifetimeSeconds: 60,
    thirdPartyConfig: { operatorName: 'x', callbackUrl: 'http://x.com' },
  }
  expectFaults(await client.operate('createApplication', badUrl), ['thirdPartyConfig.callbackUrl'])
  expect(expectSuccess(await client.operate('pageApplications', { appName: body.appName })).total).toBe(0)
})

test('createApplication takes an absent, a null and an empty thirdPartyConfig as not given', async () => {
  for (const thirdPartyConfig of [undefined, null, '']) {
    expect((await newIdleApplication({ thirdPartyConfig })).thirdPartyConfig).toBeNull()
  }
  for (const thirdPartyConfig of [5, 'x', [], true]) {
    expectFaults(await client.operate('createApplication', { appName: 'x', thirdPartyConfig }), ['thirdPartyConfig'])
  }
})

test('rateLimitPerSecond is 1000 where it is not given, and null for none', async () => {
  expect((await newIdleApplication({ rateLimitPerSecond: null })).rateLimitPerSecond).toBeNull()
  const { appId, ...made } = await newIdleApplication({ rateLimitPerSecond: '' })
  expect(made.rateLimitPerSecond).toBe(1000)
  const unchanged = await client.operate('updateApplication', { appId, rateLimitPerSecond: '', appName: 'other' })
  expect(expectSuccess(unchanged)).toMatchObject({ rateLimitPerSecond: 1000, appName: 'other' })
})

test('getApplication tells an application of itself, and of the service that it calls', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const settings = expectSuccess(await client.operate('getSettings', {}))
  const { timeZone, presenceSeconds, inventoryPolicy, coordinateSystem } = settings
  const known = { timeZone, presenceSeconds, inventoryPolicy, coordinateSystem }
  const operators = await client.operate('getApplication', { appId })
  for (const query of [{}, { appId }]) {
    const own = await client.call('getApplication', query, { token })
    expect(expectSuccess(own)).toEqual({ ...expectSuccess(operators), ...known } as typeof own.data)
    expect(own.headers.get('etag')).toBe(operators.headers.get('etag'))
  }
  expectFaults(await client.operate('getApplication', {}), ['appId'])
})

test('updateApplication changes the members that are given and no others', async () => {
  const { appId } = await newIdleApplication({ appName: 'before', tokenLifetimeSeconds: 60, rateLimitPerSecond: 5 })
  const before = await detail(appId)
  for (const change of [{ appName: 'after' }, { tokenLifetimeSeconds: 90 }, { rateLimitPerSecond: 7 }, {}]) {
    const expected = { ...(await detail(appId)), ...change }
    expect(expectSuccess(await client.operate('updateApplication', { appId, ...change }))).toEqual(expected)
    expect(await detail(appId)).toEqual(expected)
  }
  expect((await detail(appId)).createTime).toBe(before.createTime)
})

test('updateApplication: a given null clears an optional member, and a required one cannot be cleared', async () => {
  const { appId } = await newIdleApplication({ tokenLifetimeSeconds: 60, rateLimitPerSecond: 5 })
  const cleared = await client.operate('updateApplication', {
    appId,
    tokenLifetimeSeconds: null,
    rateLimitPerSecond: null,
  })
  expect(expectSuccess(cleared)).toMatchObject({ tokenLifetimeSeconds: 7200, rateLimitPerSecond: null })
  for (const appName of [null, '', ' ']) {
    expectFaults(await client.operate('updateApplication', { appId, appName }), ['appName'])
  }
})

test('updateApplication changes no state: online, offline, freeze and unfreeze do', async () => {
  const { appId } = await newIdleApplication()
  const sent = { appId, onlineStatus: 2, status: 2, frozenReason: 'x', createTime: '2001-01-01 00:00:00' }
  const before = await detail(appId)
  expect(expectSuccess(await client.operate('updateApplication', sent))).toEqual(before)
})

test('offline and online set onlineStatus to 2 and 1, also when it is that already', async () => {
  const { appId } = await newIdleApplication()
  for (const [operation, onlineStatus] of [
    [takeApplicationOnline, 1],
    [takeApplicationOffline, 2],
    [takeApplicationOffline, 2],
    [takeApplicationOnline, 1],
  ] as const) {
    expect(expectSuccess(await client.operate(operation, { appId })).onlineStatus).toBe(onlineStatus)
    expect(await detail(appId)).toMatchObject({ onlineStatus, status: 1 })
  }
})

test('freeze sets status 2 with its reason, unfreeze sets 1, and both leave the online state alone', async () => {
  const { appId } = await newIdleApplication()
  expectSuccess(await client.operate('takeApplicationOffline', { appId }))
  const frozen = { status: 2, frozenReason: '欠费', onlineStatus: 2 }
  expect(expectSuccess(await client.operate('freezeApplication', { appId, reason: '欠费' }))).toMatchObject(frozen)
  expect(await detail(appId)).toMatchObject(frozen)
  expectSuccess(await client.operate('freezeApplication', { appId, reason: 'another' }))
  expect((await detail(appId)).frozenReason).toBe('another')
  const lifted = { status: 1, frozenReason: null, onlineStatus: 2 }
  for (const _ of [1, 2]) {
    expect(expectSuccess(await client.operate('unfreezeApplication', { appId }))).toMatchObject(lifted)
  }
})

test('pageApplications finds applications by a part of their name, their online state and their status', async () => {
  const part = crypto.randomUUID()
  const normal = await newIdleApplication({ appName: `a ${part} b` })
  const offline = await newIdleApplication({ appName: part })
  const frozen = await newIdleApplication({ appName: `${part}c` })
  expectSuccess(await client.operate('takeApplicationOffline', { appId: offline.appId }))
  expectSuccess(await client.operate('freezeApplication', { appId: frozen.appId, reason: 'test' }))
  const found = async (filter: Record<string, unknown>) => {
    const page = expectSuccess(await client.operate('pageApplications', { appName: part, ...filter }))
    expect(page.total).toBe(page.list.length)
    return page.list.map((application) => application.appId)
  }
  expect(await found({})).toEqual([frozen.appId, offline.appId, normal.appId])
  expect(await found({ onlineStatus: 2 })).toEqual([offline.appId])
  expect(await found({ onlineStatus: 1 })).toEqual([frozen.appId, normal.appId])
  expect(await found({ status: 2 })).toEqual([frozen.appId])
  expect(await found({ status: 1, onlineStatus: 1 })).toEqual([normal.appId])
  expect(await found({ status: '', onlineStatus: '' })).toHaveLength(3)
  expect(await found({ appName: `${part.slice(1, -1)}%` })).toEqual([])
  expect(await found({ appName: part.replaceAll('-', '_') })).toEqual([])
})

test('pageApplications refuses states that do not exist', async () => {
  for (const value of ['0', '3', 'x', '1.0', '-1', ' 1', '1e0']) {
    expectFaults(await client.operate('pageApplications', { onlineStatus: value, status: value }), [
      'onlineStatus',
      'status',
    ])
  }
})

test('pageApplications shows each application as its detail does', async () => {
  const { appId } = await newApplication(client, { appName: `shown ${crypto.randomUUID()}` })
  const record = await detail(appId)
  expect(expectSuccess(await client.operate('pageApplications', { appName: record.appName })).list).toEqual([record])
})
