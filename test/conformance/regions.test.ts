import { describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { getRegion, getRegionTree } from '../../src/regions/contract.ts'
import { deviceBody, newApplication } from '../harness.ts'
import { client, expectFaults, expectRefusal, expectSuccess } from './support.ts'

interface Region {
  code: string
  name: string
  level: number
  children: Region[]
}

const { appId, token } = await newApplication(client)

async function tree(query: Record<string, unknown> = {}): Promise<Region[]> {
  const data = expectSuccess(await client.call(getRegionTree, query, { token }))
  expect(Object.keys(data)).toEqual(['list'])
  return data.list as unknown as Region[]
}

async function detail(code: string) {
  return expectSuccess(await client.call(getRegion, { code }, { token }))
}

function flat(list: Region[]): Region[] {
  return list.flatMap((region) => [region, ...flat(region.children)])
}

const withoutChildren = (list: Region[]) => list.map((region) => ({ ...region, children: [] }))

describe('getRegionTree', () => {
  test('answers provinces, their cities and their districts', async () => {
    const whole = await tree()
    const all = flat(whole)
    for (const region of all) {
      expect(Object.keys(region)).toEqual(['code', 'name', 'level', 'children'])
      expect(region.code).toMatch(/^[1-9]\d{5}$/)
      expect(region.name).not.toBe('')
      const [least] = region.children.map(({ level }) => level).toSorted()
      expect(least ?? 4).toBeGreaterThan(region.level)
    }
    expect(whole.map(({ level }) => level)).toEqual(whole.map(() => 1))
    expect(whole).toHaveLength(34)
    const jiangxi = whole.find(({ code }) => code === '360000')
    expect(jiangxi).toMatchObject({ name: '江西省', level: 1 })
    const nanchang = jiangxi?.children.find(({ code }) => code === '360100')
    expect(nanchang).toMatchObject({ name: '南昌市', level: 2 })
    expect(nanchang?.children).toContainEqual({ code: '360102', name: '东湖区', level: 3, children: [] })
  })

  test('reaches each code once, districts of municipalities and of provinces themselves too', async () => {
    const codes = flat(await tree()).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect(codes).toEqual(codes.toSorted())
    expect(codes.length).toBeGreaterThan(3000)
    // Districts of a municipality, of a municipality's county, of a province without a city between, and of a city
    // without districts; a province without any.
    for (const code of ['110101', '500229', '429004', '659001', '441900', '710000']) expect(codes).toContain(code)
  })

  test('answers what lies below a code, and nothing below a district', async () => {
    const whole = await tree()
    for (const { code, children } of flat(whole).filter(({ code }) => /^(36|11|71|4419)/.test(code))) {
      expect(await tree({ code })).toEqual(children)
    }
    expect(await tree({ code: '360102' })).toEqual([])
  })

  test('answers as many levels as depth says, from where it begins', async () => {
    const whole = await tree()
    expect(await tree({ depth: 3 })).toEqual(whole)
    expect(await tree({ depth: 1 })).toEqual(withoutChildren(whole))
    const two = whole.map((region) => ({ ...region, children: withoutChildren(region.children) }))
    expect(await tree({ depth: 2 })).toEqual(two)
    const below = await tree({ code: '360000' })
    expect(await tree({ code: '360000', depth: 1 })).toEqual(withoutChildren(below))
    expect(await tree({ code: '360000', depth: 2 })).toEqual(below)
    expect(await tree({ code: '', depth: '' })).toEqual(whole)
  })

  test('refuses a depth that is not 1 to 3, and a code that the table does not have', async () => {
    for (const depth of ['0', '4', '-1', '1.5', 'x']) {
      expectFaults(await client.call(getRegionTree, { depth }, { token }), ['depth'])
    }
    for (const code of ['360199', '999999', '36', '36010', 'x', '江西省', '__proto__']) {
      expectRefusal(await client.call(getRegionTree, { code }, { token }), 'regionNotFound')
    }
    expectFaults(await client.call(getRegionTree, { code: 'x'.repeat(13) }, { token }), ['code'])
  })
})

describe('getRegion', () => {
  test('answers a region with its parent and its full name', async () => {
    expect(await detail('360102')).toEqual({
      code: '360102',
      name: '东湖区',
      level: 3,
      parentCode: '360100',
      fullName: '江西省南昌市东湖区',
    })
    expect(await detail('360100')).toMatchObject({ level: 2, parentCode: '360000', fullName: '江西省南昌市' })
    expect(await detail('360000')).toMatchObject({ level: 1, parentCode: null, fullName: '江西省' })
  })

  test('leaves out of a full name what is only a heading in the table', async () => {
    expect((await detail('110101')).fullName).toBe('北京市东城区')
    expect((await detail('110100')).fullName).toBe('北京市')
    expect((await detail('500229')).fullName).toBe('重庆市城口县')
    expect((await detail('429004')).fullName).toBe('湖北省仙桃市')
    expect((await detail('659001')).fullName).toBe('新疆维吾尔自治区石河子市')
  })

  test('names the parent under which the tree shows the region', async () => {
    const whole = await tree()
    const parents = flat(whole).flatMap(({ code, children }) => children.map((child) => [child.code, code] as const))
    const sample = parents.filter((_, index) => index % 97 === 0)
    expect(sample.length).toBeGreaterThan(20)
    for (const [code, parentCode] of sample) expect((await detail(code)).parentCode).toBe(parentCode)
  })

  test('has the names that a device shows for the same codes', async () => {
    const { deviceBattery } = expectSuccess(await client.call(createDevice, deviceBody(appId), { token }))
    expect((await detail(deviceBattery.districtCode)).name).toBe(deviceBattery.districtName as string)
    expect((await detail(deviceBattery.cityCode)).name).toBe(deviceBattery.cityName as string)
  })

  test('wants a code, and refuses one that the table does not have in the caller’s language', async () => {
    expectFaults(await client.call(getRegion, {}, { token }), ['code'])
    expectFaults(await client.call(getRegion, { code: '' }, { token }), ['code'])
    const unknown = await client.call(getRegion, { code: '360199' }, { token })
    expectRefusal(unknown, 'regionNotFound')
    expect(unknown.msg).toBe('There is no such region.')
    const headers = { 'accept-language': 'zh-CN' }
    expect((await client.call(getRegion, { code: '360199' }, { token, headers })).msg).toBe('行政区划不存在。')
  })
})
