import { describe, expect, test } from 'bun:test'
import type { Static } from 'typebox'
import { type EventRecord, type pageAudit, pageEvents } from '../../src/events/contract.ts'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newRule,
  saveSiteOf,
  succeed,
} from './support.ts'

type Page = Static<typeof pageEvents.data>

function page({ token }: TestApplication, query: Record<string, unknown> = {}) {
  return client.call('pageEvents', { pageSize: '100', ...query }, { token })
}

async function list(application: TestApplication, query: Record<string, unknown> = {}): Promise<EventRecord[]> {
  return expectSuccess(await page(application, query)).list
}

const timeZone = process.env.FORECOURT_TIME_ZONE ?? 'Asia/Shanghai'
const types = (events: { type: string }[]) => events.map(({ type }) => type)

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

  const events = await list(application)
  expect(events.map(({ type, actor }) => [type, actor])).toEqual([
    ['thirdPartyConfig.saved', 'operator:operator'],
    ['thirdPartyConfig.saved', by],
    ['billingRule.created', by],
    ['site.created', by],
    ['device.bound', by],
    ['application.offline', 'operator:operator'],
    ['application.online', 'operator:operator'],
    ['application.frozen', 'operator:operator'],
    ['application.unfrozen', 'operator:operator'],
  ])
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
    for (let count = 0; count < 7; count++) expectSuccess(await createDeviceOf(application))
    const whole = await list(application)
    for (const order of ['asc', 'desc']) {
      const walked: EventRecord[] = []
      let cursor: string | null = null
      do {
        const query: Record<string, unknown> = { order, pageSize: '3', ...(cursor === null ? {} : { cursor }) }
        const answered: Page = expectSuccess(await page(application, query))
        expect([answered.total, answered.totalIsExact]).toEqual([8, true])
        walked.push(...answered.list)
        cursor = answered.nextCursor
      } while (cursor !== null)
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
    expect(types(await list(application, { type: 'site.created' }))).toEqual(['site.created'])
    expect(types(await list(application, { type: 'device.bound' }))).toEqual(['device.bound', 'device.bound'])
    const ofDevice = await list(application, { deviceNo: device.deviceNo })
    expect(ofDevice.map(({ data }) => data)).toEqual([device])
    const ofSite = await list(application, { siteId: site.id })
    expect(ofSite.map(({ data }) => data)).toEqual([site])
    expect(types(await list(application, { billingRuleId: rule }))).toEqual(['billingRule.created'])
    expect(await list(application, { siteId: site.id, type: 'site.deleted' })).toEqual([])
  })

  test('filters by several types, with commas, and by all of a kind', async () => {
    const application = await newApplication(client)
    const rule = await newRule(application, 3)
    const { token } = application
    await succeed('deleteBillingRule', { id: rule }, { token })
    expectSuccess(await saveSiteOf(application))
    expectSuccess(await createDeviceOf(application))
    const found = async (type: string) => types(await list(application, { type }))
    expect(await found('device.bound,site.created')).toEqual(['site.created', 'device.bound'])
    expect(await found('billingRule.*')).toEqual(['billingRule.created', 'billingRule.deleted'])
    expect(await found('device.*,billingRule.created,device.bound')).toEqual(['billingRule.created', 'device.bound'])
    expect(await found('application.*')).toEqual([])
    expect(await found('')).toHaveLength(5)
    for (const type of [
      '*',
      'device',
      'device.',
      '*.created',
      'device.bound,',
      ',',
      'device.bound, site.created',
      'session.created',
      'test',
      'deviceXbound',
    ]) {
      expectFaults(await page(application, { type }), ['type'])
    }
    const headers = { authorization: `Bearer ${token}` }
    expectFaults(await client.send(`${pageEvents.path}?type=device.bound&type=site.created`, { headers }), ['type'])
    const { list: audited } = await succeed('pageAudit', {
      appId: application.appId,
      type: 'application.*,thirdPartyConfig.saved',
    })
    expect(new Set(types(audited).map((type) => type.replace(/\..*/, '')))).toEqual(
      new Set(['application', 'thirdPartyConfig']),
    )
  })

  test('filters by a range of time, both ends included', async () => {
    const application = await newApplication(client)
    const all = await list(application)
    const [{ time }] = all as [EventRecord]
    expect(await list(application, { timeFrom: time, timeTo: time })).toEqual(all)
    const [{ occurredAt }] = all as [EventRecord]
    const last = String(all.at(-1)?.occurredAt)
    expect(await list(application, { timeFrom: occurredAt, timeTo: last })).toEqual(all)
    const before = new Date(Date.parse(occurredAt) - 1).toISOString()
    expect(await list(application, { timeTo: before })).toEqual([])
    expect(await list(application, { timeTo: '2020-01-01 00:00:00' })).toEqual([])
    expect(await list(application, { timeFrom: '2020-01-01 00:00:00' })).toEqual(all)
    expect(await list(application, { timeFrom: '2999-01-01 00:00:00' })).toEqual([])
  })

  test('names every faulty member', async () => {
    const application = await newApplication(client)
    const faulty = {
      afterId: '-1',
      order: 'up',
      type: 'device.exploded',
      timeFrom: 'yesterday',
      timeTo: '2026-02-30 00:00:00',
      siteId: 'x',
    }
    expectFaults(await page(application, faulty), Object.keys(faulty))
    expectFaults(await client.operate('pageEvents', {}), ['appId'])
  })
})

test('getEvent answers one event as the feed tells it, to its application and to operators', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [event] = (await list(application)) as [EventRecord]
  const { id } = event
  expect(await succeed('getEvent', { id }, { token })).toEqual(event)
  expect(await succeed('getEvent', { appId, id })).toEqual(event)
  const stranger = await newApplication(client)
  expectRefusal(await client.call('getEvent', { id }, stranger), 'eventNotFound')
  expectRefusal(await client.call('getEvent', { appId, id }, stranger), 'notPermitted')
  for (const other of [0, id - 1, Number.MAX_SAFE_INTEGER]) {
    expectRefusal(await client.call('getEvent', { id: other }, { token }), 'eventNotFound')
  }
  expectFaults(await client.operate('getEvent', { id }), ['appId'])
  expectFaults(await client.call('getEvent', {}, { token }), ['id'])
})

test('the audit trail skips nothing of one moment in several logs, page by page', async () => {
  const appIds: string[] = []
  for (let made = 0; made < 12; made++) appIds.push((await newApplication(client)).appId)
  const timeFrom = new Date().toISOString()
  const trail = { type: 'device.bound', timeFrom }
  const keys = (events: { id: number; appId: string | null }[]) => events.map(({ id, appId }) => `${id} ${appId}`)
  let written: string[] = []
  // An event's id begins with its time, so events of different applications have the same id if they were written in one
  // batch.
  for (let round = 0; new Set(written.map((key) => Number.parseInt(key, 10))).size === written.length; round++) {
    if (round === 90) throw new Error('No two events had one id.')
    await Promise.all(appIds.map((appId) => client.operate('createDevice', deviceBody(appId))))
    const pages = await Promise.all(
      appIds.map((appId) => client.operate('pageAudit', { ...trail, appId, pageSize: '100' })),
    )
    written = pages.flatMap((answer) => keys(expectSuccess(answer).list))
  }
  const walked: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const found: Static<typeof pageAudit.data> = await succeed('pageAudit', { ...trail, pageSize: '1', cursor })
    walked.push(...keys(found.list).filter((key) => appIds.includes(key.split(' ')[1] as string)))
    cursor = found.nextCursor
  }
  expect(walked.sort()).toEqual(written.sort())
})
