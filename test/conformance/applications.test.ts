import { expect, test } from 'bun:test'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { newApplication, newToken, shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectNow, expectSuccess, newIdleApplication, saveSiteOf, succeed } from './support.ts'

async function detail(appId: string) {
  return await succeed('getApplication', { appId })
}

test('createApplication makes an application that is online and normal, with the defaults, and shows its secret', async () => {
  const created = await succeed('createApplication', { appName: 'Parking Ltd' })
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
  const rotated = await succeed('rotateApplicationSecret', { appId })
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
  expect((await succeed('pageApplications', { appName: body.appName })).total).toBe(0)
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
  const settings = await succeed('getSettings', {})
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
    expect(await succeed('updateApplication', { appId, ...change })).toEqual(expected)
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

test('offline and online set onlineStatus to 2 and 1, also when it is that already', async () => {
  const { appId } = await newIdleApplication()
  for (const [operation, onlineStatus] of [
    [takeApplicationOnline, 1],
    [takeApplicationOffline, 2],
    [takeApplicationOffline, 2],
    [takeApplicationOnline, 1],
  ] as const) {
    expect((await succeed(operation, { appId })).onlineStatus).toBe(onlineStatus)
    expect(await detail(appId)).toMatchObject({ onlineStatus, status: 1 })
  }
})

test('freeze sets status 2 with its reason, unfreeze sets 1, and both leave the online state alone', async () => {
  const { appId } = await newIdleApplication()
  await succeed('takeApplicationOffline', { appId })
  const frozen = { status: 2, frozenReason: '欠费', onlineStatus: 2 }
  expect(await succeed('freezeApplication', { appId, reason: '欠费' })).toMatchObject(frozen)
  expect(await detail(appId)).toMatchObject(frozen)
  await succeed('freezeApplication', { appId, reason: 'another' })
  expect((await detail(appId)).frozenReason).toBe('another')
  const lifted = { status: 1, frozenReason: null, onlineStatus: 2 }
  for (const _ of [1, 2]) {
    expect(await succeed('unfreezeApplication', { appId })).toMatchObject(lifted)
  }
})

test('pageApplications finds applications by a part of their name, their online state and their status', async () => {
  const part = crypto.randomUUID()
  const normal = await newIdleApplication({ appName: `a ${part} b` })
  const offline = await newIdleApplication({ appName: part })
  const frozen = await newIdleApplication({ appName: `${part}c` })
  await succeed('takeApplicationOffline', { appId: offline.appId })
  await succeed('freezeApplication', { appId: frozen.appId, reason: 'test' })
  const found = async (filter: Record<string, unknown>) => {
    const page = await succeed('pageApplications', { appName: part, ...filter })
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
