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
const [near, far] = [{ coordinates: '115.899918,28.676493' }, { coordinates: '-180,-90' }]
const beijing = { provinceCode: '110000', cityCode: '110100', districtCode: '110101', coordinates: '116.4,39.9' }
const north = await newSite(owner, { siteName: 'North Gate 100%', contacts: 'Wang Fang', fastChargeBillRuleId: fast })
const south = await newSite(owner, { siteName: 'south_gate', contacts: 'Li Na', rushingBillRuleId: slow, ...near })
const ofLake = { siteName: '东湖充电站', contacts: '王芳', placeholderBillRuleId: occupancy }
const lake = await newSite(owner, { ...ofLake, ...beijing })
const ofWest = { siteName: 'West', contacts: 'Li Wei', districtCode: '360103', fastChargeBillRuleId: fast }
const west = await newSite(owner, { ...ofWest, ...far })

test('pageSites answers the records as they were saved, the newest first', async () => {
  const { list } = await succeed('pageSites', {}, owner)
  expect(JSON.stringify(list)).toBe(JSON.stringify([west, lake, south, north]))
})

/** Filters, and the sites that they find, the newest first. */
const filters: [filter: object, found: SiteRecord[]][] = [
  // A part of the name or of the contact person, whatever its case.
  [{ siteName: 'gate' }, [south, north]],
  [{ siteName: 'SOUTH' }, [south]],
  [{ siteName: '湖充' }, [lake]],
  [{ siteName: '%' }, [north]],
  [{ siteName: '_' }, [south]],
  [{ siteName: '\\' }, []],
  [{ contacts: 'Li ' }, [west, south]],
  [{ contacts: '王' }, [lake]],
  [{ contacts: 'wang', siteName: 'north' }, [north]],
  // The codes of its region.
  [{ provinceCode: '360000' }, [west, south, north]],
  [{ cityCode: '110100' }, [lake]],
  [{ districtCode: '360103' }, [west]],
  [{ provinceCode: '110000', districtCode: '360103' }, []],
  [{ provinceCode: '36' }, []],
  // A box, its edges included, which holds no site without coordinates.
  [{ bbox: '-180,-90,180,90' }, [west, lake, south]],
  [{ bbox: '115.899918,28.676493,115.899918,28.676493' }, [south]],
  [{ bbox: '115 , 28, 117 ,40' }, [lake, south]],
  [{ bbox: '115.9,28,117,40' }, [lake]],
  [{ bbox: '-180,-90,-180,-90' }, [west]],
  [{ bbox: '0,0,10,10' }, []],
]

test.each(filters)('pageSites finds by %j exactly what fits', async (filter, found) => {
  const { list, total } = await succeed('pageSites', filter, owner)
  expect([list.map(({ siteName }) => siteName), total]).toEqual([found.map(({ siteName }) => siteName), found.length])
})

test('pageSites refuses boxes and moments that are none, and says why in the caller’s language', async () => {
  const reasonIn = async (language: string, filter: Record<string, string>, field: string) => {
    const as = { token: owner.token, headers: { 'accept-language': language } }
    return expectFaults(await client.call('pageSites', filter, as), Object.keys(filter))[field]
  }
  for (const bbox of [
    ...['1,2,3', '1,2,3,4,5', '1,2,3,x', '181,0,181,0', '0,91,0,91', '1e1,0,11,1', '1;2;3;4', ' 1,2,3,4'],
    ...['10,0,9.9999,1', '0,1,1,0', `0,0,1,0.${'0'.repeat(200)}`],
  ]) {
    expect(await reasonIn('en', { bbox }, 'bbox')).toContain('no minimum above its maximum')
  }
  expect(await reasonIn('zh', { bbox: '10,0,9,1' }, 'bbox')).toContain('最小值不得大于最大值')
  for (const moment of ['2026-02-29 00:00:00', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01 24:00:00', 'x', '0']) {
    const times = { timeFrom: moment, timeTo: moment }
    expect(await reasonIn('en', times, 'timeFrom')).toContain('yyyy-MM-dd HH:mm:ss')
  }
  expect(await reasonIn('zh-CN', { timeFrom: 'x' }, 'timeFrom')).toContain('RFC 3339')
})

test('pageSites finds sites by their creation time, both ends included to the second', async () => {
  const application = await newApplication(client)
  const first = await newSite(application)
  await Bun.sleep(2100)
  const second = await newSite(application)
  expect(second.createTime > first.createTime).toBe(true)
  const rfc3339 = `${second.createTime.replace(' ', 'T')}+08:00`
  const between = new Date(Date.parse(`${first.createTime.replace(' ', 'T')}+08:00`) + 1000).toISOString()
  const ranges: [object, SiteRecord[]][] = [
    [{ timeFrom: first.createTime, timeTo: second.createTime }, [second, first]],
    [{ timeTo: first.createTime }, [first]],
    [{ timeFrom: second.createTime }, [second]],
    [{ timeFrom: second.createTime, timeTo: first.createTime }, []],
    [{ timeFrom: '1900-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }, [second, first]],
    [{ timeFrom: '', timeTo: '' }, [second, first]],
    [{ timeTo: between }, [first]],
    [{ timeFrom: between }, [second]],
    [{ timeFrom: rfc3339, timeTo: rfc3339 }, [second]],
  ]
  for (const [range, found] of ranges) expect((await succeed('pageSites', range, application)).list).toEqual(found)
})
