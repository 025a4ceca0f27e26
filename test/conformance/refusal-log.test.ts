import { describe, expect, test } from 'bun:test'
import type { RefusalRecord } from '../../src/events/refusal-log/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication, takeOffline } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newDevice,
  succeed,
} from './support.ts'

/** Refusals are written after their responses, so this reads until all expected rows exist. */
async function refusalsOf(
  { token }: Pick<TestApplication, 'token'>,
  count: number,
  query: Record<string, unknown> = {},
): Promise<RefusalRecord[]> {
  let list: RefusalRecord[] = []
  await becomesTrue(async () => {
    list = (await succeed('pageRefusals', { pageSize: 100, ...query }, { token })).list
    return list.length >= count
  }, 20_000)
  expect(list).toHaveLength(count)
  return list
}

describe('pageRefusals', () => {
  test('tells of each refused write what it was about and why, newest first', async () => {
    const app = await newApplication(client)
    const { appId } = app
    const deviceNo = await newDevice(app)
    const again = await createDeviceOf(app, { deviceNo })
    expectRefusal(again, 'deviceAlreadyYours')
    const wrong = { coordinates: '28.6,115.8', deviceName: ' ' }
    expectFaults(await createDeviceOf(app, { deviceNo, ...wrong }), Object.keys(wrong))
    expectRefusal(await client.call('updateSite', { id: 1, siteName: 'x' }, app), 'siteNotFound')

    const [site, faulty, bound] = await refusalsOf(app, 3)
    expect(bound).toEqual({
      ...{ time: expect.any(String), requestId: again.headers.get('x-request-id') ?? '', appId },
      ...{ operation: 'createDevice', code: 20017, name: 'deviceAlreadyYours', errors: null },
      ...{ subject: deviceNo, actor: `application:${appId}` },
    })
    expectNow(bound?.time ?? '')
    expect(faulty).toMatchObject({ code: 10001, subject: deviceNo })
    expect(faulty?.errors?.map(({ field }) => field).sort()).toEqual(Object.keys(wrong))
    expect(site).toMatchObject({ operation: 'updateSite', code: 30002, subject: '1' })
  })

  test('tells of rows of a batch, and not of those that were made', async () => {
    const app = await newApplication(client)
    const there = await newDevice(app)
    const devices = [deviceRow({ deviceNo: there }), deviceRow(), { deviceNo: 'a b' }, null]
    const batch = await client.call('createDevices', { devices }, app)
    expectSuccess(batch)
    const list = await refusalsOf(app, 3)
    expect(new Set(list.map((row) => row.requestId))).toEqual(new Set([batch.headers.get('x-request-id') ?? '']))
    expect(list.map((row) => [row.operation, row.code, row.subject]).sort()).toEqual([
      ['createDevices', 10001, null],
      ['createDevices', 10001, 'a b'],
      ['createDevices', 20017, there],
    ])
  })

  test('tells what is refused before a body is read, and of a frozen application afterwards', async () => {
    const app = await newApplication(client, { rateLimitPerSecond: 1 })
    const { appId, token } = app
    await Promise.all(Array.from({ length: 10 }, () => client.call('createDevice', '{}', app)))
    await succeed('updateApplication', { appId, rateLimitPerSecond: null })
    await succeed('freezeApplication', { appId, reason: 'test' })
    expectRefusal(await createDeviceOf(app), 'applicationFrozen')
    await succeed('unfreezeApplication', { appId })
    const plain = await client.call('createDevice', '{}', { token, headers: { 'content-type': 'text/plain' } })
    expectRefusal(plain, 'invalidRequest', { status: 415 })
    expectRefusal(await client.call('freezeApplication', { appId, reason: 'mine' }, { token }), 'notPermitted')
    await refusalsOf(app, 1, { operation: 'freezeApplication', code: 10003 })
    await refusalsOf(app, 1, { code: 10005 })
    const { list } = await succeed('pageRefusals', { appId, code: 10007 })
    expect(list.length).toBeGreaterThan(0)
    expect(list[0]).toMatchObject({ subject: null, actor: `application:${appId}`, name: 'tooManyRequests' })
  })

  test('leaves out reads, successes, and calls of nobody that is known', async () => {
    const app = await newApplication(client)
    const { appId, appSecret, token } = app
    expectRefusal(await client.call('getDevice', { deviceNo: 'none' }, { token }), 'deviceNotFound')
    expectRefusal(await client.call('createDevice', deviceBody(appId), { token: 'x' }), 'tokenInvalid')
    const wrong = { grant_type: 'client_credentials', client_id: appId, client_secret: `${appSecret}x` }
    expect((await client.call('issueToken', wrong)).code).toBe(10030)
    expectSuccess(await createDeviceOf(app))
    expectRefusal(await client.call('updateSite', { id: 7 }, { token }), 'siteNotFound')
    expect((await refusalsOf(app, 1)).map((row) => row.subject)).toEqual(['7'])
  })

  test('keeps neither bodies nor secrets, whatever is sent', async () => {
    const app = await newApplication(client)
    const { appId, token, appSecret } = app
    const odd = { deviceNo: `a\u0000b\ud800${'c'.repeat(100)}`, deviceName: appSecret, tag: token }
    expectRefusal(await createDeviceOf(app, odd), 'invalidRequest')
    expectRefusal(await client.call('createDevice', { appId, deviceNo: [appSecret] }, { token }), 'invalidRequest')
    expectRefusal(await client.call('createDevice', `{"x":"${appSecret}`, app), 'invalidRequest')
    const text = JSON.stringify(await refusalsOf(app, 3))
    expect(text).not.toContain(appSecret)
    expect(text).not.toContain(token)
    expect(text).toContain('a\ufffdb\ufffdccc')
    expect(text).not.toContain('c'.repeat(65))
  })

  test('is narrowed by code, operation, serial, subject, request and time', async () => {
    const app = await newBareApplication()
    const { appId, token } = app
    const deviceNo = newSerial('Find')
    await takeOffline(client, appId)
    const refused = await createDeviceOf(app, { deviceNo })
    expectRefusal(refused, 'applicationOffline')
    const site = await client.call('saveSite', siteBody(appId, { siteName: 'Find me' }), { token })
    expectRefusal(site, 'thirdPartyConfigMissing')
    expectFaults(await client.call('saveBillingRule', { appId, ruleType: 3 }, { token }), [
      ...['ruleName', 'freeMinutes', 'unitMinutes', 'unitPrice'],
    ])
    await refusalsOf(app, 3)
    const requestId = refused.headers.get('x-request-id') ?? ''
    for (const query of [{ code: 10006 }, { operation: 'createDevice' }, { deviceNo: 'find-' }, { requestId }]) {
      expect((await refusalsOf(app, 1, query)).map((row) => row.subject)).toEqual([deviceNo])
    }
    for (const query of [{ subject: 'Find me' }, { code: 30003 }]) {
      expect((await refusalsOf(app, 1, query)).map((row) => row.operation)).toEqual(['saveSite'])
    }
    await refusalsOf(app, 0, { deviceNo: 'Find me' })
    const [{ time = '' } = {}] = await refusalsOf(app, 1, { code: 10006 })
    await refusalsOf(app, 3, { timeFrom: time })
    await refusalsOf(app, 1, { timeFrom: time, timeTo: time, code: 10006 })
    await refusalsOf(app, 0, { timeTo: '2020-01-01 00:00:00' })
    const faulty = { code: 0, timeFrom: 'x' }
    expectFaults(await client.call('pageRefusals', { ...faulty, cursor: 'y' }, { token }), Object.keys(faulty))
  })

  test('lists a refused file under the application that its query names', async () => {
    const app = await newApplication(client)
    const csv = { headers: { 'content-type': 'text/csv' } }
    const named = { appId: app.appId, kind: 'devices' }
    expectRefusal(await client.operate('createImport', { ...named, file: 'serial\n1\n' }, csv), 'invalidRequest')
    expectFaults(await client.operate('createImport', { ...named, mode: 'x', file: 'deviceNo\n1\n' }, csv), ['mode'])
    const listed = { operation: 'createImport', code: 10001, actor: 'operator:operator' }
    expect(await refusalsOf(app, 2)).toMatchObject([listed, listed])
  })

  test('shows operators every application, or the one that they name, and developers theirs', async () => {
    const [mine, other] = await Promise.all([newApplication(client), newApplication(client)])
    const requestId = newSerial('req')
    const headers = { 'x-request-id': requestId }
    for (const app of [mine, other]) await client.call('updateSite', { id: 1 }, { token: app.token, headers })
    // A refused write of an operator is listed under the application that it names.
    await client.operate('createDevice', { appId: mine.appId }, { headers })
    await Promise.all([refusalsOf(mine, 2), refusalsOf(other, 1)])
    const apps = async (query: Record<string, unknown>, options = {}) =>
      expectSuccess(await client.operate('pageRefusals', { requestId, ...query }, options)).list.map((row) => row.appId)
    expect(await apps({})).toEqual(
      [mine.appId, other.appId].sort().flatMap((appId) => (appId === mine.appId ? [appId, appId] : [appId])),
    )
    expect(await apps({ appId: other.appId })).toEqual([other.appId])
    const developer = await signIn(client, await newPerson(client, 'developer', [mine.appId]))
    expect(await apps({}, { token: undefined, headers: developer })).toEqual([mine.appId, mine.appId])
    // A caller cannot add rows to the log of another application by naming it.
    await client.call('createDevice', { appId: other.appId }, { headers: { ...developer, ...headers } })
    await client.call('createDevice', deviceBody(other.appId), { token: mine.token, headers })
    expect((await refusalsOf(mine, 3)).map((row) => row.code)).toContain(10003)
    await refusalsOf(other, 1)
  })
})
