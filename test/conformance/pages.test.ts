import { describe, expect, test } from 'bun:test'
import type { Answer } from '../kit/client.ts'
import type { OperationId } from '../kit/contracts.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import {
  bearer,
  client,
  expectFaults,
  expectSuccess,
  newIdleApplication,
  newRule,
  onePeriod,
  saveSiteOf,
  succeed,
  walk,
} from './support.ts'

test('10001 names every faulty member of a query, also those that depend on each other', async () => {
  for (const [id, query, fields] of [
    ['pageDevices', { status: 7, order: 'asc' }, ['order', 'status']],
    ['pageDevices', { '': 7, order: 'asc' }, ['', 'order']],
    ['pageDevices', { pageNo: 1001, pageSize: 100, order: 'asc' }, ['order', 'pageNo']],
    ['pageSites', { cursor: 'x', pageNo: 1, sort: 'x', order: 'asc' }, ['cursor', 'sort']],
    ['pageEvents', { pageNo: 100_001, pageSize: 0, order: 'x' }, ['appId', 'order', 'pageSize']],
    ['getDeviceState', { appId: ' ' }, ['appId', 'deviceNo', 'deviceNos']],
    ['pagePlacementHistory', { appId: ' ', deviceNo: 'x', siteId: 1 }, ['appId', 'deviceNo', 'siteId']],
    ['suggestPlacements', { meters: 0, siteId: 'x' }, ['appId', 'meters', 'siteId']],
    ['createExport', { kind: 'devices', status: 9, siteName: 'x', format: 'geojson' }, ['siteName', 'status']],
    ['createExport', { kind: 'events', status: 1, format: 'geojson' }, ['format', 'status']],
    ['createImport', { kind: 'devices', mode: 'x', file: '' }, ['appId', 'mode']],
    ['createImport', { kind: 'inventory', mode: 'x', file: '' }, ['mode']],
  ] as [OperationId, object, string[]][]) {
    const headers = { ...bearer(client.operatorKey), 'content-type': 'text/csv' }
    const answer = await client.call(id, query, {
      headers: id === 'createImport' ? headers : bearer(client.operatorKey),
    })
    expectFaults(answer, fields)
  }
})

test('10001 names every faulty member of a body, also those that depend on each other', async () => {
  const twice = { deviceNo: newSerial(), modelName: 'X' }
  for (const [id, body, fields] of [
    [
      'importDeviceInventory',
      { entries: [{ ...twice, modelName: '' }, twice] },
      ['entries[0].modelName', 'entries[1].deviceNo'],
    ],
    ['createOperator', { name: 'a#b', role: 'viewer', appIds: ['x'] }, ['appIds', 'name']],
    ['createOperatorKey', { name: 'a#b', role: 'viewer', expireTime: '2001-01-01 00:00:00' }, ['expireTime', 'name']],
    ['replayDeliveries', { appId: ' ', timeFrom: '2026-01-01 00:00:00' }, ['appId', 'timeTo']],
    ['startSignOn', { purpose: 'setUp', returnTo: '//x' }, ['returnTo', 'setUpToken']],
  ] as [OperationId, object, string[]][]) {
    expectFaults(await client.operate(id, body as never), fields)
  }
})

interface Made {
  filter: Record<string, string>
  names: string[]
  addOne(): Promise<unknown>
}

type Page = { list: Record<string, unknown>[]; pageSize: number; nextCursor: string | null }

/** Rows of one test: the filter that finds them, and how the nth is added, which returns its name, and removed. */
interface Rows {
  filter: Record<string, string>
  newestFirst?: true
  add(nth: number): Promise<string>
  remove?(name: string): Promise<unknown>
  end?(): Promise<unknown>
}

type Filters = Record<string, string | number>

const numbered = (base: string, nth: number) => `${base}${String(nth).padStart(3, '0')}`

/**
 * The promises of every page operation. `name` is the member that names a row; `other` has filters that `begin` does not
 * use.
 */
function pagesOf(id: OperationId, name: string, other: Filters, begin: () => Promise<Rows>): void {
  describe(id, () => {
    const ask = (query: object): Promise<Answer<unknown>> => client.operate(id, query)
    const page = async (query: object) => expectSuccess(await ask(query)) as Page
    const namesOf = ({ list }: Page) => list.map((row) => row[name])

    /** Makes rows and hands them to a test, in the order of their page. */
    async function withRows(count: number, run: (made: Made) => Promise<void>): Promise<void> {
      const { filter, newestFirst, add, remove, end } = await begin()
      const names: string[] = []
      const addOne = async () => names.push(await add(names.length))
      while (names.length < count) await addOne()
      await run({ filter, names: newestFirst ? names.toReversed() : [...names], addOne })
      for (const made of names) await remove?.(made)
      await end?.()
    }

    test('answers ten rows by default, with the total, the pages and a cursor for the next', () =>
      withRows(23, async ({ filter, names }) => {
        const first = await page(filter)
        const usual = { total: 23, totalIsExact: true, pageNo: 1, pageSize: 10, pages: 3 }
        expect(first).toEqual({ ...usual, list: first.list, nextCursor: expect.any(String) })
        expect(namesOf(first)).toEqual(names.slice(0, 10))
        expect(namesOf(await page({ ...filter, pageNo: 2 }))).toEqual(names.slice(10, 20))
        const last = await page({ ...filter, pageNo: 3 })
        expect(namesOf(last)).toEqual(names.slice(20))
        expect(last).toMatchObject({ total: 23, pageNo: 3, pages: 3, nextCursor: null })
        expect(await page({ ...filter, pageNo: 4 })).toMatchObject({ list: [], total: 23, pageNo: 4, nextCursor: null })
        expect(await page({ ...filter, pageSize: 100 })).toMatchObject({ pageSize: 100, pages: 1, nextCursor: null })
        expect(await page({ ...filter, pageSize: 23 })).toMatchObject({ pages: 1, nextCursor: null })
      }))

    test('walks by cursor through every row once, and skips nothing that existed throughout', () =>
      withRows(9, async ({ filter, names, addOne }) => {
        let steps = 0
        const rows = await walk(async (next) => {
          if (steps > 0 && steps < 4) await addOne()
          const step = await page({ ...filter, pageSize: 2, ...next })
          expect([step.pageSize, ++steps < 20]).toEqual([2, true])
          return step
        })
        const walked = rows.map((row) => String(row[name]))
        expect(new Set(walked).size).toBe(walked.length)
        expect(walked.filter((row) => names.includes(row))).toEqual(names)
      }))

    test('refuses its own cursor with another filter, and beside a page number', () =>
      withRows(3, async ({ filter }) => {
        const { nextCursor: cursor } = await page({ ...filter, pageSize: 1 })
        expect((await page({ ...filter, cursor, pageNo: '' })).list).toHaveLength(2)
        const others = Object.entries(other).map(([member, value]) => ({ [member]: value }))
        for (const beside of [{ pageNo: 2 }, { pageNo: 1 }, ...others]) {
          expectFaults(await ask({ ...filter, cursor, ...beside }), ['cursor'])
        }
      }))

    test('of nothing is an empty page, for a pageNo from 1, a pageSize of 1 to 100 and a cursor that it answered', () =>
      withRows(0, async ({ filter }) => {
        const nothing = { list: [], total: 0, totalIsExact: true, pageNo: 1, pageSize: 10, pages: 0, nextCursor: null }
        expect(await page(filter)).toEqual(nothing)
        expect(await page({ ...filter, pageNo: '', pageSize: '', cursor: '' })).toEqual(nothing)
        for (const good of [{ pageSize: 1 }, { pageSize: 100 }, { pageNo: 1 }, { pageNo: 1000, pageSize: 100 }]) {
          expect(await page({ ...filter, ...good })).toMatchObject(good)
        }
        for (const far of [{ pageNo: 1001, pageSize: 100 }, { pageNo: 10_001 }, { pageNo: 1_000_000, pageSize: 1 }]) {
          expectFaults(await ask({ ...filter, ...far }), ['pageNo'])
        }
        const malformed = ['0', '-1', '1.5', 'x', '1e1', ' 1', '+1', '0x1', '9007199254740993', '9'.repeat(400), 'null']
        for (const value of malformed) {
          expectFaults(await ask({ ...filter, pageNo: value, pageSize: value }), ['pageNo', 'pageSize'])
        }
        expectFaults(await ask({ ...filter, pageSize: 101 }), ['pageSize'])
        const injected = ["'; drop table device; --", '1', '2']
        const keys = [[], {}, 'x', ['a', 'b', 'c'], [1], [null], ['\0'], ['\0', '\0'], injected]
        const foreign = ['x', 'null', 'e30', ...keys.map(sealed), `${sealed(['a'])}!`.repeat(100), 'x'.repeat(3000)]
        for (const cursor of foreign) expectFaults(await ask({ ...filter, cursor }), ['cursor'])
      }))
  })
}

/** Of records of one application, which each have a name. */
function pagesOfApplication(
  id: OperationId,
  name: string,
  other: Filters,
  create: (appId: string, named: string) => Promise<unknown>,
): void {
  pagesOf(id, name, { [name]: 'record', ...other }, async () => {
    const { appId } = await newIdleApplication({ thirdPartyConfig: { operatorName: 'Test operator' } })
    const add = async (nth: number) => {
      await create(appId, `record ${nth}`)
      return `record ${nth}`
    }
    return { filter: { appId }, newestFirst: true, add }
  })
}

pagesOf('pageApplications', 'appName', { status: 1, onlineStatus: 1 }, async () => {
  const unique = crypto.randomUUID()
  const add = async (nth: number) => (await newIdleApplication({ appName: `${unique} ${nth}` })).appName
  return { filter: { appName: unique }, newestFirst: true, add }
})

pagesOfApplication('pageSites', 'siteName', { timeFrom: '2000-01-01 00:00:00' }, (appId, siteName) =>
  succeed('saveSite', siteBody(appId, { siteName })),
)

pagesOfApplication('pageBillingRules', 'ruleName', { ruleType: 1, timeTo: '2999-01-01 00:00:00' }, (appId, ruleName) =>
  succeed('saveBillingRule', { appId, ruleName, ruleType: 1, periods: onePeriod }),
)

pagesOfApplication('pageDevices', 'deviceName', { status: 1 }, async (appId, deviceName) => {
  // Devices of the same millisecond are sorted by serial number, so each create gets its own millisecond.
  await Bun.sleep(2)
  return succeed('createDevice', deviceBody(appId, { deviceName }))
})

pagesOf('pageDeviceModels', 'serialPrefix', { modelName: 'p' }, async () => {
  const base = newSerial('P')
  const save = (serialPrefix: string) => succeed('saveDeviceModel', { serialPrefix, modelName: 'paged' })
  return {
    filter: { serialPrefix: base },
    add: async (nth) => (await save(numbered(base, nth))).serialPrefix,
    remove: (serialPrefix) => succeed('deleteDeviceModel', { serialPrefix }),
  }
})

pagesOf('pageRegions', 'code', { name: 'p' }, async () => {
  await succeed('saveRegion', { code: '980000', name: 'province' })
  const save = (code: string) => succeed('saveRegion', { code, name: 'paged', parentCode: '980000' })
  return {
    filter: { code: '9801' },
    add: async (nth) => (await save(String(980101 + nth))).code,
    remove: (code) => succeed('deleteRegion', { code }),
    end: () => succeed('deleteRegion', { code: '980000' }),
  }
})

pagesOf('pageDeviceInventory', 'deviceNo', { modelName: 'm' }, async () => {
  const base = newSerial('P')
  const model = { serialPrefix: newSerial('P'), modelName: `model ${base}` }
  await succeed('saveDeviceModel', model)
  return {
    filter: { deviceNo: base },
    async add(nth) {
      const entries = [{ deviceNo: numbered(base, nth), modelName: model.modelName }]
      await succeed('importDeviceInventory', { entries })
      return numbered(base, nth)
    },
    remove: (deviceNo) => succeed('deleteDeviceInventory', { deviceNo }),
    end: () => succeed('deleteDeviceModel', { serialPrefix: model.serialPrefix }),
  }
})

/** Decodes a cursor: the list it belongs to, and the key of a row. */
const opened = (cursor: string | null) => JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as string[]
const sealed = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')

test('a cursor of the right shape that holds impossible values is refused', async () => {
  for (let index = 0; index < 2; index++) await newIdleApplication({ appName: 'for a cursor' })
  const [ofApplications] = opened((await succeed('pageApplications', { pageSize: 1 })).nextCursor)
  const moments = ['2026-13-45 25:61:61', '2026-02-30 00:00:00', '999999-01-01 00:00:00', '0000-00-00 00:00:00']
  for (const moment of moments) {
    const cursor = sealed([ofApplications, `${moment}+00`, 'x'])
    expectFaults(await client.operate('pageApplications', { cursor }), ['cursor'])
  }
  const { appId } = await newIdleApplication()
  const twoRules = { appId, ruleName: 'rule', ruleType: 1, periods: onePeriod }
  for (let index = 0; index < 2; index++) await succeed('saveBillingRule', twoRules)
  const [ofRules] = opened((await succeed('pageBillingRules', { appId, pageSize: 1 })).nextCursor)
  for (const id of ['99999999999999999999', '1.5', '-', '1e3', ' 1', '0x1', '']) {
    expectFaults(await client.operate('pageBillingRules', { appId, cursor: sealed([ofRules, id]) }), ['cursor'])
  }
  expect((await succeed('pageBillingRules', { appId, cursor: sealed([ofRules, '1']) })).list).toEqual([])
})

test('another operation’s cursor is refused, also where both have nothing but ids', async () => {
  const application = await newApplication(client)
  for (let index = 0; index < 2; index++) await newRule(application, 3)
  for (let index = 0; index < 2; index++) expectSuccess(await saveSiteOf(application))
  const { nextCursor: cursor } = await succeed('pageBillingRules', { pageSize: 1 }, application)
  for (const page of ['pageSites', 'pageEvents', 'pageDeliveries'] as const) {
    expectFaults(await client.call(page, { cursor }, application), ['cursor'])
  }
  expectFaults(await client.operate('pageDeviceModels', { cursor }), ['cursor'])
})
