import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody, takeOffline } from '../kit/records.ts'
import { type Service, startService } from '../kit/service.ts'
import { expectFaults, expectNow, expectRefusal, expectSuccess, onePeriod } from './support.ts'

const timeZone = 'America/St_Johns'

// Skipped for a deployment given by address, because its settings cannot be chosen.
describe.skipIf(process.env.FORECOURT_BASE_URL !== undefined)('a service of other settings', () => {
  let service: Service
  let client: Client

  beforeAll(async () => {
    const env = {
      ...{ FORECOURT_INVENTORY_POLICY: 'required', FORECOURT_PRESENCE_SECONDS: '77', FORECOURT_COORDINATES: 'wgs84' },
      ...{ FORECOURT_PRIVATE_CALLBACKS: 'allow', FORECOURT_TIME_ZONE: timeZone },
    }
    service = await startService({ env })
    client = new Client(service)
    expectSuccess(await client.operate('saveDeviceModel', { serialPrefix: 'SN', modelName: 'Barrier' }))
  })

  afterAll(async () => {
    await service?.stop()
  })

  test('an application is told the settings that it has to know', async () => {
    const { token } = await newApplication(client)
    const known = { timeZone, presenceSeconds: 77, inventoryPolicy: 'required', coordinateSystem: 'wgs84' }
    expect(expectSuccess(await client.call('getApplication', {}, { token }))).toMatchObject(known)
  })

  type App = Awaited<ReturnType<typeof newApplication>>
  const create = ({ appId, token }: App, deviceNo: string, headers = {}) =>
    client.call('createDevice', deviceBody(appId, { deviceNo }), { token, headers })
  const stock = async (deviceNo = newSerial()) => {
    const entries = [{ deviceNo, modelName: 'Barrier' }]
    expectSuccess(await client.operate('importDeviceInventory', { entries }))
    return deviceNo
  }

  test('with the inventory policy "required", a serial that is not in the inventory is deviceUnknown until it is', async () => {
    const app = await newApplication(client)
    const deviceNo = newSerial()
    const headers = { 'idempotency-key': 'key' }
    const refused = await create(app, deviceNo, headers)
    expectRefusal(refused, 'deviceUnknown')
    expect(refused.data).toBeNull()
    expectRefusal(await client.operate('createDevice', deviceBody(app.appId)), 'deviceUnknown')
    await stock(deviceNo)
    expect(expectSuccess(await create(app, deviceNo, headers)).modelName).toBe('Barrier')
  })

  test('createDevice looks at whether the application is online, and at the serial, before the inventory policy', async () => {
    const [owner, other] = await Promise.all([newApplication(client), newApplication(client)])
    const deviceNo = await stock()
    expectSuccess(await create(owner, deviceNo))
    expectSuccess(await client.operate('deleteDeviceInventory', { deviceNo }))
    expectRefusal(await create(owner, deviceNo), 'deviceAlreadyYours')
    expectRefusal(await create(other, deviceNo), 'deviceBoundElsewhere')
    await takeOffline(client, other.appId)
    expectRefusal(await create(other, newSerial()), 'applicationOffline')
  })

  test('with private callbacks allowed, a callback may be http and go to a private address', async () => {
    const { appId, token } = await newApplication(client)
    const save = (callbackUrl: string) =>
      client.call('saveThirdPartyConfig', { appId, operatorName: 'Operator', callbackUrl }, { token })
    for (const url of ['http://127.0.0.1:9000/cb', 'http://localhost/cb', 'https://10.0.0.1/', 'http://example.com']) {
      expect(expectSuccess(await save(url)).callbackUrl).toBe(url)
    }
    for (const url of ['ftp://127.0.0.1/', 'nonsense', 'http://']) expectFaults(await save(url), ['callbackUrl'])
  })

  test('times are shown in the time zone of the setting', async () => {
    const app = await newApplication(client)
    expectNow(expectSuccess(await client.call('saveSite', siteBody(app.appId), app)).createTime, timeZone)
    expectNow(expectSuccess(await create(app, await stock())).createTime, timeZone)
  })

  test('a local moment that the clocks repeat is its first occurrence, and one that they skip is refused', async () => {
    const { appId, token } = await newApplication(client)
    const terms = { ruleName: 'rule', ruleType: 1, periods: onePeriod }
    const { id } = expectSuccess(await client.call('saveBillingRule', { appId, ...terms }, { token }))
    const ask = (effectiveTime: string) =>
      client.call('schedulePriceChange', { appId, effectiveTime, billingRuleId: id, periods: onePeriod }, { token })
    expectFaults(await ask('2027-03-14 02:30:00'), ['effectiveTime'])
    expect(expectSuccess(await ask('2027-03-14 03:00:00')).effectiveAt).toBe('2027-03-14T05:30:00.000Z')
    expect(expectSuccess(await ask('2027-11-07 01:30:00')).effectiveAt).toBe('2027-11-07T04:00:00.000Z')
  })
})
