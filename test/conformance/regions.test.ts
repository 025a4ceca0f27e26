import { describe, expect, test } from 'bun:test'
import { newApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess, exported, succeed } from './support.ts'

interface Region {
  code: string
  name: string
  level: number
  children: Region[]
}

const application = await newApplication(client)

async function tree(query: object = {}): Promise<Region[]> {
  const data = await succeed('getRegionTree', query, application)
  expect(Object.keys(data)).toEqual(['list', 'tableDate'])
  return data.list as unknown as Region[]
}

const detail = async (code: string) => await succeed('getRegion', { code }, application)
const ask = (operation: 'getRegion' | 'getRegionTree', query: object, headers = {}) =>
  client.call(operation, query, { token: application.token, headers })
const newDevice = async (members: Record<string, unknown>) => expectSuccess(await createDeviceOf(application, members))

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
    // Other tests of this service may leave saved ones.
    const saved = (await client.operate('pageRegions', { pageSize: 100 })).data.list.map(({ code }) => code)
    expect(whole.filter(({ code }) => !saved.includes(code))).toHaveLength(34)
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
    const [whole, below] = [await tree(), await tree({ code: '360000' })]
    const two = whole.map((region) => ({ ...region, children: withoutChildren(region.children) }))
    for (const [query, list] of [
      [{ depth: 3 }, whole],
      [{ depth: 2 }, two],
      [{ depth: 1 }, withoutChildren(whole)],
      [{ code: '', depth: '' }, whole],
      [{ code: '360000', depth: 1 }, withoutChildren(below)],
      [{ code: '360000', depth: 2 }, below],
    ] as const) {
      expect(await tree(query)).toEqual(list)
    }
  })

  test('refuses a depth that is not 1 to 3, and a code that the table does not have', async () => {
    for (const depth of ['0', '4', '-1', '1.5', 'x']) expectFaults(await ask('getRegionTree', { depth }), ['depth'])
    for (const code of ['360199', '999999', '36', '36010', 'x', '江西省', '__proto__']) {
      expectRefusal(await ask('getRegionTree', { code }), 'regionNotFound')
    }
    expectFaults(await ask('getRegionTree', { code: 'x'.repeat(13) }), ['code'])
  })
})

describe('getRegion', () => {
  test('answers a region with its parent and its full name, without what is only a heading in the table', async () => {
    const eastLake = { code: '360102', name: '东湖区', level: 3, parentCode: '360100' }
    expect(await detail('360102')).toEqual({ ...eastLake, fullName: '江西省南昌市东湖区' })
    expect(await detail('360100')).toMatchObject({ level: 2, parentCode: '360000' })
    expect(await detail('360000')).toMatchObject({ level: 1, parentCode: null })
    for (const [code, fullName] of Object.entries({
      ...{ 360000: '江西省', 360100: '江西省南昌市', 110100: '北京市', 110101: '北京市东城区', 500229: '重庆市城口县' },
      ...{ 429004: '湖北省仙桃市', 659001: '新疆维吾尔自治区石河子市' },
    })) {
      expect((await detail(code)).fullName).toBe(fullName)
    }
  })

  test('names the parent under which the tree shows the region', async () => {
    const whole = await tree()
    const parents = flat(whole).flatMap(({ code, children }) => children.map((child) => [child.code, code] as const))
    const sample = parents.filter((_, index) => index % 97 === 0)
    expect(sample.length).toBeGreaterThan(20)
    for (const [code, parentCode] of sample) expect((await detail(code)).parentCode).toBe(parentCode)
  })

  test('wants a code, and refuses one that the table does not have in the caller’s language', async () => {
    for (const query of [{}, { code: '' }]) expectFaults(await ask('getRegion', query), ['code'])
    for (const [language, msg] of [
      ['en', 'Region not found.'],
      ['zh-CN', '行政区划不存在。'],
    ]) {
      const unknown = await ask('getRegion', { code: '360199' }, { 'accept-language': language })
      expectRefusal(unknown, 'regionNotFound')
      expect(unknown.msg).toBe(msg as string)
    }
  })
})

describe('the table', () => {
  test('has the ministry’s changes up to its date, and tells the date', async () => {
    expect((await succeed('getRegionTree', { depth: 1 }, application)).tableDate).toBe('2025-12-31')
    const districts = (await tree({ code: '500100' })).map(({ code }) => code)
    expect(districts).toContain('500157')
    expect((await detail('500157')).fullName).toBe('重庆市两江新区')
  })

  test('keeps the names of codes that have ended, and offers none of them', async () => {
    const ended = { 500105: '江北区', 500112: '渝北区', 330104: '江干区', 540422: '米林县', 652200: '哈密地区' }
    const offered = new Set(flat(await tree()).map(({ code }) => code))
    for (const [code, name] of Object.entries(ended)) {
      expect(await detail(code)).toMatchObject({ code, name })
      expect(offered).not.toContain(code)
    }
    expect((await detail('330104')).fullName).toBe('浙江省杭州市江干区')
    const codes = { provinceCode: '330000', cityCode: '330100', districtCode: '330104' }
    const { deviceBattery } = await newDevice(codes)
    expect(deviceBattery).toMatchObject({ districtName: '江干区', cityName: '杭州市' })
  })
})

describe('saveRegion', () => {
  const save = (body: object) => client.operate('saveRegion', body)
  const remove = (code: string) => client.operate('deleteRegion', { code })
  const etag = async () => (await ask('getRegionTree', {})).headers.get('etag')

  test('adds a region to every answer that names codes, and deletion takes it away', async () => {
    const code = '360194'
    const device = await newDevice({ districtCode: code })
    expect(device.deviceBattery.districtName).toBeNull()
    const before = await etag()
    const saved = expectSuccess(await save({ code, name: '新城区', parentCode: '360100' }))
    expect(saved).toEqual({
      ...{ code, name: '新城区', parentCode: '360100', isEnded: false, builtInName: null },
      createTime: expect.any(String),
    })
    const read = async () => {
      const { deviceNo } = device
      const { deviceBattery } = await succeed('getDevice', { deviceNo }, application)
      return [
        deviceBattery.districtName,
        (await exported(application, 'devices', 'csv', { deviceNo })).includes('新城区'),
      ]
    }
    expect(await read()).toEqual(['新城区', true])
    expect(await detail(code)).toMatchObject({ name: '新城区', parentCode: '360100', fullName: '江西省南昌市新城区' })
    expect(await tree({ code: '360100' })).toContainEqual({ code, name: '新城区', level: 3, children: [] })
    expect(await etag()).not.toBe(before)
    expect((await client.operate('pageRegions', { code })).data.list).toEqual([saved])
    expect((await client.operate('pageRegions', { name: '新城' })).data.list).toEqual([saved])

    expect(expectSuccess(await remove(code))).toEqual(saved)
    expect(await read()).toEqual([null, false])
    expectRefusal(await ask('getRegion', { code }), 'regionNotFound')
    expectRefusal(await remove(code), 'regionNotFound')
    expect(await etag()).toBe(before)
    const { list } = (await client.operate('pageAudit', { type: 'region.saved,region.deleted', pageSize: 2 })).data
    expect(list.map(({ type, data }) => [type, (data as { code: string }).code])).toEqual([
      ['region.deleted', code],
      ['region.saved', code],
    ])
  })

  test('names a region otherwise, and ends it: it keeps its name', async () => {
    const code = '360103'
    const built = await detail(code)
    const renamed = expectSuccess(await save({ code, name: '西湖新区' }))
    expect(renamed).toMatchObject({ parentCode: null, builtInName: built.name })
    expect(await detail(code)).toMatchObject({ name: '西湖新区', parentCode: '360100' })
    expectSuccess(await save({ code, name: '西湖新区', isEnded: true }))
    expect((await detail(code)).name).toBe('西湖新区')
    expect((await tree({ code: '360100' })).map((region) => region.code)).not.toContain(code)
    expectSuccess(await remove(code))
    expect(await detail(code)).toEqual(built)
    expect((await tree({ code: '360100' })).map((region) => region.code)).toContain(code)
  })

  test('adds regions of every level, each below one that exists, and deletes none from under another', async () => {
    expectFaults(await save({ code: '970100', name: 'city' }), ['parentCode'])
    expectSuccess(await save({ code: '970000', name: 'province', parentCode: null }))
    expectSuccess(await save({ code: '970100', name: 'city', parentCode: '970000' }))
    expectSuccess(await save({ code: '970101', name: 'district', parentCode: '970100' }))
    // As a district that a province governs directly.
    expectSuccess(await save({ code: '979001', name: 'county', parentCode: '970000' }))
    const [province] = (await tree()).filter(({ code }) => code === '970000')
    expect(province?.children.map(({ code, level, children }) => [code, level, children.length])).toEqual([
      ['970100', 2, 1],
      ['979001', 3, 0],
    ])
    expectRefusal(await remove('970000'), 'regionInUse')
    for (const code of ['979001', '970101', '970100', '970000']) expectSuccess(await remove(code))
  })

  test('deletes no region from above one that was saved without its parent', async () => {
    for (const [code, name] of Object.entries({ 960000: 'province', 960100: 'city', 960101: 'district' })) {
      expectSuccess(await save({ code, name }))
    }
    expectRefusal(await remove('960000'), 'regionInUse')
    // The district then lies below the province.
    expectSuccess(await remove('960100'))
    expectRefusal(await remove('960000'), 'regionInUse')
    for (const code of ['960101', '960000']) expectSuccess(await remove(code))
  })

  test('offers a region below one that has ended, at the nearest one above that has not', async () => {
    expectSuccess(await save({ code: '371299', name: '新区' }))
    const below = async (code: string) => (await tree({ code, depth: 1 })).map((region) => region.code)
    expect(await below('370000')).toContain('371299')
    expect(await below('371200')).toEqual(['371299'])
    expectSuccess(await remove('371299'))
  })

  test('refuses what cannot be a region', async () => {
    const usual = { code: '360199', name: 'x' }
    for (const code of ['', '36', '0360101', '036010', '36010x', 360199, null]) {
      expectFaults(await save({ code, name: 'x' }), ['code'])
    }
    expectFaults(await save({ ...usual, name: ' ', isEnded: 'yes' }), ['name', 'isEnded'])
    for (const parentCode of ['360200', '110000', '360102', '360199', '36']) {
      expectFaults(await save({ ...usual, parentCode }), ['parentCode'])
    }
    expectFaults(await save({ code: '960000', name: 'x', parentCode: '360000' }), ['parentCode'])
    expectFaults(await save({ code: '960101', name: 'x', parentCode: '960000' }), ['parentCode'])
    expect((await client.operate('pageRegions', { code: '96' })).data.list).toEqual([])
  })
})
