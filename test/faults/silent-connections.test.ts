import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createApplication, getApplication } from '../../src/applications/contract.ts'
import { pageBillingRules } from '../../src/billing-rules/contract.ts'
import { unbindDevice } from '../../src/device-ownership/contract.ts'
import { reportDeviceState } from '../../src/device-state/contract.ts'
import { createDevice, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { pageAudit, pageEvents } from '../../src/events/contract.ts'
import { getOverview } from '../../src/overview/contract.ts'
import { getMetrics, getReadiness } from '../../src/service/contract.ts'
import { createSession } from '../../src/sessions/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { issueToken } from '../../src/tokens/contract.ts'
import { type Answer, Client, deviceBody, newApplication, siteBody } from '../harness.ts'
import { DatabaseLink } from './database-link.ts'
import { sleep, tell, Workplace } from './support.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

test('connections that fall silent are replaced, and every operation is back within 10 s', async () => {
  const database = await place.startDatabase()
  const { host, port, user, password } = database.connection
  const link = new DatabaseLink({ path: join(host, `.s.PGSQL.${port}`) })
  const url = `postgres://${user}:${password}@127.0.0.1:${await link.start()}/forecourt`
  const service = await place.startService({ env: { DATABASE_URL: url } })
  const client = new Client(service)
  const app = await newApplication(client)
  const { appId, appSecret, token } = app
  const device = deviceBody(appId)
  await client.call(createDevice, device, { token })
  const { deviceNo } = device
  const operations: Record<string, () => Promise<Answer<unknown>>> = {
    issueToken: () =>
      client.call(issueToken, { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }),
    createSession: () => client.call(createSession, { operatorKey: service.operatorKey }),
    createDevice: () => client.call(createDevice, deviceBody(appId), { token }),
    saveSite: () => client.call(saveSite, siteBody(appId), { token }),
    reportDeviceState: () =>
      client.call(reportDeviceState, { deviceNo, statusRemark: String(Math.random()) }, { token }),
    updateDevice: () => client.call(updateDevice, { deviceNo, tag: String(Math.random()) }, { token }),
    unbindDevice: async () => {
      const made = deviceBody(appId)
      const created = await client.call(createDevice, made, { token })
      return created.status === 200 ? client.call(unbindDevice, { deviceNo: made.deviceNo }, { token }) : created
    },
    getDevice: () => client.call(getDevice, { deviceNo }, { token }),
    pageDevices: () => client.call(pageDevices, {}, { token }),
    pageBillingRules: () => client.call(pageBillingRules, {}, { token }),
    pageEvents: () => client.call(pageEvents, {}, { token }),
    getApplication: () => client.operate(getApplication, { appId }),
    createApplication: () => client.operate(createApplication, { appName: 'test' }),
    pageAudit: () => client.operate(pageAudit, {}),
    getOverview: () => client.operate(getOverview, {}),
    getMetrics: () => client.operate(getMetrics, {}),
    getReadiness: () => client.call(getReadiness, {}),
  }
  // So that every pool has its connections, some of them at rest.
  for (let round = 0; round < 3; round++) await Promise.all(Object.values(operations).map((operation) => operation()))
  const lost = link.silence()
  const began = performance.now()
  expect(lost).toBeGreaterThan(15)
  const backAfter = await Promise.all(
    Object.entries(operations).map(async ([name, operation]) => {
      let answer = await operation()
      while (answer.status !== 200 && performance.now() - began < 30_000) {
        expect([answer.status, answer.code], name).toEqual([503, 50003])
        await sleep(100)
        answer = await operation()
      }
      return { name, ms: Math.round(performance.now() - began) }
    }),
  )
  backAfter.sort((a, b) => b.ms - a.ms)
  tell(`${lost} silent connections: ${backAfter.map(({ name, ms }) => `${name} ${ms}`).join(', ')}`)
  expect(backAfter.filter(({ ms }) => ms > 10_000)).toEqual([])
  // Not only once: no connection is left that says nothing.
  for (let round = 0; round < 8; round++) {
    const answers = await Promise.all(Object.values(operations).map((operation) => operation()))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  }
  expect(await service.stop()).toBe(0)
  link.stop()
  await database.stop()
}, 120_000)
