import { expect, test } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { client, expectFaults, expectSuccess, newRule, saveSiteOf, succeed } from './support.ts'

async function newSite(application: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  return expectSuccess(await saveSiteOf(application, members))
}

const owner = await newApplication(client)
const fast = await newRule(owner, 1)
const slow = await newRule(owner, 2)
const occupancy = await newRule(owner, 3)
const north = await newSite(owner, { siteName: 'North Gate 100%', contacts: 'Wang Fang', fastChargeBillRuleId: fast })
const south = await newSite(owner, {
  siteName: 'south_gate',
  contacts: 'Li Na',
  rushingBillRuleId: slow,
  coordinates: '115.899918,28.676493',
})
const lake = await newSite(owner, {
  siteName: '东湖充电站',
  contacts: '王芳',
  placeholderBillRuleId: occupancy,
  provinceCode: '110000',
  cityCode: '110100',
  districtCode: '110101',
  coordinates: '116.4,39.9',
})
const west = await newSite(owner, {
  siteName: 'West',
  contacts: 'Li Wei',
  districtCode: '360103',
  coordinates: '-180,-90',
  fastChargeBillRuleId: fast,
})

async function found(query: Record<string, unknown>): Promise<string[]> {
  const { list, total } = await succeed('pageSites', query, owner)
  expect(total).toBe(list.length)
  return list.map(({ siteName }) => siteName)
}
const namesOf = (...sites: SiteRecord[]) => sites.map(({ siteName }) => siteName)

test('pageSites answers the records as they were saved, the newest first', async () => {
  const { list } = await succeed('pageSites', {}, owner)
  expect(JSON.stringify(list)).toBe(JSON.stringify([west, lake, south, north]))
})

test('pageSites finds sites by a part of the name or of the contact person, whatever its case', async () => {
  expect(await found({ siteName: 'gate' })).toEqual(namesOf(south, north))
  expect(await found({ siteName: 'SOUTH' })).toEqual(namesOf(south))
  expect(await found({ siteName: '湖充' })).toEqual(namesOf(lake))
  expect(await found({ siteName: '%' })).toEqual(namesOf(north))
  expect(await found({ siteName: '_' })).toEqual(namesOf(south))
  expect(await found({ siteName: '\\' })).toEqual([])
  expect(await found({ contacts: 'Li ' })).toEqual(namesOf(west, south))
  expect(await found({ contacts: '王' })).toEqual(namesOf(lake))
  expect(await found({ contacts: 'wang', siteName: 'north' })).toEqual(namesOf(north))
})

test('pageSites finds sites by the codes of their region', async () => {
  expect(await found({ provinceCode: '360000' })).toEqual(namesOf(west, south, north))
  expect(await found({ cityCode: '110100' })).toEqual(namesOf(lake))
  expect(await found({ districtCode: '360103' })).toEqual(namesOf(west))
  expect(await found({ provinceCode: '110000', districtCode: '360103' })).toEqual([])
  expect(await found({ provinceCode: '36' })).toEqual([])
})

test('pageSites finds the sites within a box, its edges included, and never one without coordinates', async () => {
  expect(await found({ bbox: '-180,-90,180,90' })).toEqual(namesOf(west, lake, south))
  expect(await found({ bbox: '115.899918,28.676493,115.899918,28.676493' })).toEqual(namesOf(south))
  expect(await found({ bbox: '115 , 28, 117 ,40' })).toEqual(namesOf(lake, south))
  expect(await found({ bbox: '115.9,28,117,40' })).toEqual(namesOf(lake))
  expect(await found({ bbox: '-180,-90,-180,-90' })).toEqual(namesOf(west))
  expect(await found({ bbox: '0,0,10,10' })).toEqual([])
})

test('pageSites refuses a box that is none, or whose minimum lies above its maximum, and says so', async () => {
  for (const bbox of [
    '1,2,3',
    '1,2,3,4,5',
    '1,2,3,x',
    '181,0,181,0',
    '0,91,0,91',
    '1e1,0,11,1',
    '1;2;3;4',
    ' 1,2,3,4',
    '10,0,9.9999,1',
    '0,1,1,0',
    `0,0,1,0.${'0'.repeat(200)}`,
  ]) {
    const answer = await client.call('pageSites', { bbox }, owner)
    expect(expectFaults(answer, ['bbox']).bbox).toContain('no minimum above its maximum')
  }
  const headers = { 'accept-language': 'zh' }
  const chinese = await client.call('pageSites', { bbox: '10,0,9,1' }, { token: owner.token, headers })
  expect(expectFaults(chinese, ['bbox']).bbox).toContain('最小值不得大于最大值')
})

test('pageSites finds sites by their creation time, both ends included to the second', async () => {
  const application = await newApplication(client)
  const pages = async (query: Record<string, unknown>) =>
    (await succeed('pageSites', query, application)).list.map(({ id }) => id)
  const first = await newSite(application)
  await Bun.sleep(2100)
  const second = await newSite(application)
  expect(second.createTime > first.createTime).toBe(true)
  expect(await pages({ timeFrom: first.createTime, timeTo: second.createTime })).toEqual([second.id, first.id])
  expect(await pages({ timeTo: first.createTime })).toEqual([first.id])
  expect(await pages({ timeFrom: second.createTime })).toEqual([second.id])
  expect(await pages({ timeFrom: second.createTime, timeTo: first.createTime })).toEqual([])
  expect(await pages({ timeFrom: '1900-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' })).toHaveLength(2)
  expect(await pages({ timeFrom: '', timeTo: '' })).toHaveLength(2)
  const between = new Date(Date.parse(`${first.createTime.replace(' ', 'T')}+08:00`) + 1000).toISOString()
  expect([await pages({ timeTo: between }), await pages({ timeFrom: between })]).toEqual([[first.id], [second.id]])
  const rfc3339 = `${second.createTime.replace(' ', 'T')}+08:00`
  expect(await pages({ timeFrom: rfc3339, timeTo: rfc3339 })).toEqual([second.id])
})

test('pageSites refuses a moment that no calendar or clock shows, in the caller’s language', async () => {
  for (const moment of ['2026-02-29 00:00:00', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01 24:00:00', 'x', '0']) {
    const answer = await client.call('pageSites', { timeFrom: moment, timeTo: moment }, owner)
    const reasons = expectFaults(answer, ['timeFrom', 'timeTo'])
    expect(reasons.timeFrom).toContain('yyyy-MM-dd HH:mm:ss')
  }
  const headers = { 'accept-language': 'zh-CN' }
  const chinese = await client.call('pageSites', { timeFrom: 'x' }, { token: owner.token, headers })
  expect(expectFaults(chinese, ['timeFrom']).timeFrom).toContain('RFC 3339')
})

test('pageSites shows a changed site as it is, in its place, and a deleted one no more', async () => {
  const application = await newApplication(client)
  const { token } = application
  const sites = [await newSite(application), await newSite(application), await newSite(application)] as const
  const [first, second, third] = sites
  const changed = await succeed('updateSite', { id: first.id, siteName: 'moved' }, { token })
  await succeed('deleteSite', { id: second.id }, { token })
  const page = await succeed('pageSites', {}, { token })
  expect(page).toMatchObject({ list: [third, changed], total: 2 })
})
