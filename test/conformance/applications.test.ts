import { expect, test } from 'bun:test'
import type { OperationId } from '../kit/contracts.ts'
import { newApplication, newToken, shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectNow, expectSuccess, newIdleApplication, saveSiteOf, succeed } from './support.ts'

async function detail(appId: string) {
  return await succeed('getApplication', { appId })
}

test('createApplication makes an application that is online and normal, with the defaults, and shows its secret', async () => {
  const created = await succeed('createApplication', { appName: 'Parking Ltd' })
  const { appId, appSecret, createTime, ...rest } = created
  expect(rest).toEqual({
    ...{ appName: 'Parking Ltd', onlineStatus: 1, status: 1, tokenLifetimeSeconds: 7200, rateLimitPerSecond: 1000 },
    ...{ frozenReason: null, overlapUntil: null, thirdPartyConfig: null },
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

test('createApplication with a thirdPartyConfig makes a ready application in one call; absent, null and empty are none', async () => {
  const thirdPartyConfig = { operatorName: 'Operator', operatorId: 'MA1234567', callbackUrl: 'https://example.com/cb' }
  const { appId, appSecret, ...created } = await newIdleApplication({ thirdPartyConfig })
  expect(created.thirdPartyConfig).toMatchObject({ appId, ...thirdPartyConfig })
  expectSuccess(await saveSiteOf({ appId, appSecret, token: await newToken(client, appId, appSecret) }))
  for (const none of [undefined, null, '']) {
    expect((await newIdleApplication({ thirdPartyConfig: none })).thirdPartyConfig).toBeNull()
  }
})

test('createApplication names the faulty fields of its thirdPartyConfig by their paths, and makes nothing', async () => {
  const appName = `never-${crypto.randomUUID()}`
  const create = (members: object) => client.operate('createApplication', { appName, ...members })
  const faulty = { operatorName: '', operatorId: 'short', callbackUrl: 'x'.repeat(2049), callbackEvents: ['x'] }
  expectFaults(await create({ tokenLifetimeSeconds: 0, thirdPartyConfig: faulty }), [
    'tokenLifetimeSeconds',
    ...['operatorName', 'operatorId', 'callbackUrl', 'callbackEvents[0]'].map((field) => `thirdPartyConfig.${field}`),
  ])
  const noHttps = { operatorName: 'x', callbackUrl: 'http://x.com' }
  expectFaults(await create({ thirdPartyConfig: noHttps }), ['thirdPartyConfig.callbackUrl'])
  for (const thirdPartyConfig of [5, 'x', [], true]) {
    expectFaults(await create({ thirdPartyConfig }), ['thirdPartyConfig'])
  }
  expect((await succeed('pageApplications', { appName })).total).toBe(0)
})

test('rateLimitPerSecond is 1000 where it is not given, and null for none', async () => {
  expect((await newIdleApplication({ rateLimitPerSecond: null })).rateLimitPerSecond).toBeNull()
  const { appId, ...made } = await newIdleApplication({ rateLimitPerSecond: '' })
  expect(made.rateLimitPerSecond).toBe(1000)
  const unchanged = await succeed('updateApplication', { appId, rateLimitPerSecond: '', appName: 'other' })
  expect(unchanged).toMatchObject({ rateLimitPerSecond: 1000, appName: 'other' })
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

test('updateApplication changes the members that are given and no others; null clears an optional one', async () => {
  const { appId } = await newIdleApplication({ appName: 'before', tokenLifetimeSeconds: 60, rateLimitPerSecond: 5 })
  const changes: [change: object, shown?: object][] = [
    ...[{ appName: 'after' }, { tokenLifetimeSeconds: 90 }, { rateLimitPerSecond: 7 }, {}].map(
      (one) => [one] as [object],
    ),
    [{ rateLimitPerSecond: null }],
    [{ tokenLifetimeSeconds: null }, { tokenLifetimeSeconds: 7200 }],
  ]
  for (const [change, shown = change] of changes) {
    const expected = { ...(await detail(appId)), ...shown }
    expect(await succeed('updateApplication', { appId, ...change })).toEqual(expected)
    expect(await detail(appId)).toEqual(expected)
  }
  for (const appName of [null, '', ' ']) {
    expectFaults(await client.operate('updateApplication', { appId, appName }), ['appName'])
  }
})

test('online, offline, freeze and unfreeze set what they say, also where it is so already, and nothing else', async () => {
  const { appId } = await newIdleApplication()
  const [online, offline] = [{ onlineStatus: 1 }, { onlineStatus: 2 }]
  const [normal, frozen] = [{ status: 1, frozenReason: null }, { status: 2 }]
  const acts: [OperationId, object, reason?: string][] = [
    ['takeApplicationOnline', { ...online, ...normal }],
    ['takeApplicationOffline', { ...offline, ...normal }],
    ['takeApplicationOffline', { ...offline, ...normal }],
    ['freezeApplication', { ...offline, ...frozen }, '欠费'],
    ['freezeApplication', { ...offline, ...frozen }, 'another'],
    ['takeApplicationOnline', { ...online, ...frozen }],
    ['unfreezeApplication', { ...online, ...normal }],
    ['unfreezeApplication', { ...online, ...normal }],
  ]
  for (const [operation, members, reason] of acts) {
    const shown = reason === undefined ? members : { ...members, frozenReason: reason }
    expect<unknown>(await succeed(operation, { appId, reason })).toMatchObject(shown)
    expect(await detail(appId)).toMatchObject(shown)
  }
})

test('pageApplications finds applications by a part of their name, their online state and their status', async () => {
  const part = crypto.randomUUID()
  const normal = await newIdleApplication({ appName: `a ${part} b` })
  const offline = await newIdleApplication({ appName: part })
  const frozen = await newIdleApplication({ appName: `${part}c` })
  await succeed('takeApplicationOffline', { appId: offline.appId })
  await succeed('freezeApplication', { appId: frozen.appId, reason: 'test' })
  const filters: [object, { appId: string }[]][] = [
    [{}, [frozen, offline, normal]],
    [{ onlineStatus: 2 }, [offline]],
    [{ onlineStatus: 1 }, [frozen, normal]],
    [{ status: 2 }, [frozen]],
    [{ status: 1, onlineStatus: 1 }, [normal]],
    [{ status: '', onlineStatus: '' }, [frozen, offline, normal]],
    [{ appName: `${part.slice(1, -1)}%` }, []],
    [{ appName: part.replaceAll('-', '_') }, []],
  ]
  for (const [filter, found] of filters) {
    const page = await succeed('pageApplications', { appName: part, ...filter })
    expect([page.list.map(({ appId }) => appId), page.total]).toEqual([found.map(({ appId }) => appId), found.length])
  }
})
