import { describe, expect, test } from 'bun:test'
import { type EventRecord, pageEvents } from '../../src/events/contract.ts'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newDevice,
  newRule,
  saveSiteOf,
  succeed,
  typesOf,
  walk,
} from './support.ts'

const page = ({ token }: TestApplication, query: Record<string, unknown> = {}) =>
  client.call('pageEvents', { pageSize: '100', ...query }, { token })

const timeZone = process.env.FORECOURT_TIME_ZONE ?? 'Asia/Shanghai'

test('every change is told once, oldest first, with who did it and the record as its operation answered it', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const by = `application:${appId}`
  const config = await succeed('saveThirdPartyConfig', { appId, operatorName: 'New name' }, { token })
  await newRule(application, 3)
  const site = expectSuccess(await saveSiteOf(application))
  const device = expectSuccess(await createDeviceOf(application))
  const offline = await succeed('takeApplicationOffline', { appId })
  const online = await succeed('takeApplicationOnline', { appId })
  // The application is online already, so nothing changes and no event is written.
  await succeed('takeApplicationOnline', { appId })
  const frozen = await succeed('freezeApplication', { appId, reason: 'test' })
  const unfrozen = await succeed('unfreezeApplication', { appId })

  const events = await feedOf(application)
  expect(typesOf(events)).toEqual([
    ...['thirdPartyConfig.saved', 'thirdPartyConfig.saved', 'billingRule.created', 'site.created', 'device.bound'],
    ...['application.offline', 'application.online', 'application.frozen', 'application.unfrozen'],
  ])
  const operator = 'operator:operator'
  const actors = [operator, ...Array(4).fill(by), ...Array(4).fill(operator)]
  expect(events.map(({ actor }) => actor)).toEqual(actors)
  const data = events.map((event) => event.data)
  expect([data[1], ...data.slice(3)]).toEqual([config, site, device, offline, online, frozen, unfrozen])
  for (const [index, event] of events.entries()) {
    expect(Object.keys(event)).toEqual(['id', 'type', 'appId', 'time', 'occurredAt', 'actor', 'data'])
    expect(event.appId).toBe(appId)
    expectNow(event.time)
    expect(event.occurredAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(momentFormat(timeZone)(new Date(event.occurredAt))).toBe(event.time)
    if (index > 0) expect(event.id).toBeGreaterThan(events[index - 1]?.id as number)
  }
})

describe('pageEvents', () => {
  test('walks by cursor in either order', async () => {
    const application = await newApplication(client)
    for (let count = 0; count < 7; count++) await newDevice(application)
    const whole = await feedOf(application)
    for (const order of ['asc', 'desc']) {
      const walked = await walk(async (next) => {
        const answered = expectSuccess(await page(application, { order, pageSize: '3', ...next }))
        expect([answered.total, answered.totalIsExact]).toEqual([8, true])
        return answered
      })
      expect(walked).toEqual(order === 'asc' ? whole : whole.toReversed())
    }
  })

  test('filters by type, by device, by site and by billing rule', async () => {
    const application = await newApplication(client)
    const rule = await newRule(application, 3)
    const site = expectSuccess(await saveSiteOf(application))
    const device = expectSuccess(await createDeviceOf(application))
    // A device whose serial number equals the site's id must not appear among the site's events.
    expectSuccess(await createDeviceOf(application, { deviceNo: `${site.id}` }))
    expect(typesOf(await feedOf(application, { type: 'site.created' }))).toEqual(['site.created'])
    expect(typesOf(await feedOf(application, { type: 'device.bound' }))).toEqual(['device.bound', 'device.bound'])
    const ofDevice = await feedOf(application, { deviceNo: device.deviceNo })
    expect(ofDevice.map(({ data }) => data)).toEqual([device])
    const ofSite = await feedOf(application, { siteId: site.id })
    expect(ofSite.map(({ data }) => data)).toEqual([site])
    expect(typesOf(await feedOf(application, { billingRuleId: rule }))).toEqual(['billingRule.created'])
    expect(await feedOf(application, { siteId: site.id, type: 'site.deleted' })).toEqual([])
  })

  test('filters by several types, with commas, and by all of a kind', async () => {
    const application = await newApplication(client)
    const rule = await newRule(application, 3)
    const { token } = application
    await succeed('deleteBillingRule', { id: rule }, { token })
    expectSuccess(await saveSiteOf(application))
    expectSuccess(await createDeviceOf(application))
    const found = async (type: string) => typesOf(await feedOf(application, { type }))
    expect(await found('device.bound,site.created')).toEqual(['site.created', 'device.bound'])
    expect(await found('billingRule.*')).toEqual(['billingRule.created', 'billingRule.deleted'])
    expect(await found('device.*,billingRule.created,device.bound')).toEqual(['billingRule.created', 'device.bound'])
    expect(await found('application.*')).toEqual([])
    expect(await found('')).toHaveLength(5)
    const faulty = ['*', 'device', 'device.', '*.created', 'device.bound,', ',', 'device.bound, site.created']
    for (const type of [...faulty, 'session.created', 'test', 'deviceXbound']) {
      expectFaults(await page(application, { type }), ['type'])
    }
    const headers = { authorization: `Bearer ${token}` }
    expectFaults(await client.send(`${pageEvents.path}?type=device.bound&type=site.created`, { headers }), ['type'])
    const query = { appId: application.appId, type: 'application.*,thirdPartyConfig.saved' }
    const { list: audited } = await succeed('pageAudit', query)
    const kinds = new Set(typesOf(audited).map((type) => type.replace(/\..*/, '')))
    expect(kinds).toEqual(new Set(['application', 'thirdPartyConfig']))
  })

  test('filters by a range of time, both ends included', async () => {
    const application = await newApplication(client)
    const all = await feedOf(application)
    const [{ time, occurredAt }] = all as [EventRecord]
    const last = String(all.at(-1)?.occurredAt)
    const before = new Date(Date.parse(occurredAt) - 1).toISOString()
    for (const [range, found] of [
      [{ timeFrom: time, timeTo: time }, all],
      [{ timeFrom: occurredAt, timeTo: last }, all],
      [{ timeTo: before }, []],
      [{ timeTo: '2020-01-01 00:00:00' }, []],
      [{ timeFrom: '2020-01-01 00:00:00' }, all],
      [{ timeFrom: '2999-01-01 00:00:00' }, []],
    ] as const) {
      expect<unknown>(await feedOf(application, range)).toEqual(found)
    }
  })

  test('names every faulty member', async () => {
    const application = await newApplication(client)
    const times = { timeFrom: 'yesterday', timeTo: '2026-02-30 00:00:00' }
    const faulty = { afterId: '-1', order: 'up', type: 'device.exploded', siteId: 'x', ...times }
    expectFaults(await page(application, faulty), Object.keys(faulty))
  })
})

test('getEvent answers one event as the feed tells it, to its application and to operators', async () => {
  const application = await newApplication(client)
  const { appId } = application
  const [event] = (await feedOf(application)) as [EventRecord]
  const { id } = event
  expect(await succeed('getEvent', { id }, application)).toEqual(event)
  expect(await succeed('getEvent', { appId, id })).toEqual(event)
  for (const other of [0, id - 1, Number.MAX_SAFE_INTEGER]) {
    expectRefusal(await client.call('getEvent', { id: other }, application), 'eventNotFound')
  }
  expectFaults(await client.call('getEvent', {}, application), ['id'])
})

test('the audit trail skips nothing of one moment in several logs, page by page', async () => {
  const appIds: string[] = []
  for (let made = 0; made < 12; made++) appIds.push((await newApplication(client)).appId)
  const timeFrom = new Date().toISOString()
  const trail = { type: 'device.bound', timeFrom }
  const keys = (events: { id: number; appId: string | null }[]) => events.map(({ id, appId }) => `${id} ${appId}`)
  let written: string[] = []
  const { distributed } = (await client.call('getReadiness', {})).data
  // An event's id begins with its time, so events of different applications have the same id if two batches began in one
  // millisecond. On a cluster one batch begins after the other.
  for (let round = 0; new Set(written.map((key) => Number.parseInt(key, 10))).size === written.length; round++) {
    if (distributed && round === 3) break
    if (round === 90) throw new Error('No two events had one id.')
    await Promise.all(appIds.map((appId) => client.operate('createDevice', deviceBody(appId))))
    const pages = await Promise.all(
      appIds.map((appId) => client.operate('pageAudit', { ...trail, appId, pageSize: '100' })),
    )
    written = pages.flatMap((answer) => keys(expectSuccess(answer).list))
  }
  const walked = await walk((next) => succeed('pageAudit', { ...trail, pageSize: '1', ...next }))
  const own = keys(walked).filter((key) => appIds.includes(key.split(' ')[1] as string))
  expect(own.sort()).toEqual(written.sort())
})
