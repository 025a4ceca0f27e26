import { describe, expect, test } from 'bun:test'
import type { Answer } from '../kit/client.ts'
import type { OperationId } from '../kit/contracts.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import {
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

interface Made {
  filter: Record<string, string>
  names: string[]
  addOne(): Promise<unknown>
}

interface Page {
  list: Record<string, unknown>[]
  total: number
  totalIsExact: boolean
  pageNo: number | null
  pageSize: number
  pages: number
  nextCursor: string | null
}

/** A page operation, and rows of a test that a filter finds. */
interface Paged {
  id: OperationId
  /** The member that names a row. */
  name: string
  newestFirst?: true
  /** Filters that `begin` does not use. */
  other: Record<string, string | number>
  /** Returns a filter that finds the rows of one test, how the nth is added, which returns its name, and removed. */
  begin(): Promise<{
    filter: Record<string, string>
    add(nth: number): Promise<string>
    remove?(name: string): Promise<unknown>
    end?(): Promise<unknown>
  }>
}

/** A page of records of one application, which each have a name. */
function ofApplication(
  id: OperationId,
  name: string,
  other: Record<string, string | number>,
  create: (appId: string, named: string) => Promise<unknown>,
): Paged {
  return {
    id,
    name,
    newestFirst: true,
    other: { [name]: 'record', ...other },
    async begin() {
      const { appId } = await newIdleApplication({ thirdPartyConfig: { operatorName: 'Test operator' } })
      return {
        filter: { appId },
        async add(nth) {
          await create(appId, `record ${nth}`)
          return `record ${nth}`
        },
      }
    },
  }
}

const numbered = (base: string, nth: number) => `${base}${String(nth).padStart(3, '0')}`

const paged: Paged[] = [
  {
    id: 'pageApplications',
    name: 'appName',
    newestFirst: true,
    other: { status: 1, onlineStatus: 1 },
    async begin() {
      const unique = crypto.randomUUID()
      const add = async (nth: number) => (await newIdleApplication({ appName: `${unique} ${nth}` })).appName
      return { filter: { appName: unique }, add }
    },
  },
  ofApplication('pageSites', 'siteName', { timeFrom: '2000-01-01 00:00:00' }, (appId, siteName) =>
    succeed('saveSite', siteBody(appId, { siteName })),
  ),
  ofApplication('pageBillingRules', 'ruleName', { ruleType: 1, timeTo: '2999-01-01 00:00:00' }, (appId, ruleName) =>
    succeed('saveBillingRule', { appId, ruleName, ruleType: 1, periods: onePeriod }),
  ),
  ofApplication('pageDevices', 'deviceName', { status: 1 }, async (appId, deviceName) => {
    // Devices of the same millisecond are sorted by serial number, so each create gets its own millisecond.
    await Bun.sleep(2)
    return succeed('createDevice', deviceBody(appId, { deviceName }))
  }),
  {
    id: 'pageDeviceModels',
    name: 'serialPrefix',
    other: { modelName: 'p' },
    async begin() {
      const base = newSerial('P')
      const save = (serialPrefix: string) => succeed('saveDeviceModel', { serialPrefix, modelName: 'paged' })
      return {
        filter: { serialPrefix: base },
        add: async (nth) => (await save(numbered(base, nth))).serialPrefix,
        remove: (serialPrefix) => succeed('deleteDeviceModel', { serialPrefix }),
      }
    },
  },
  {
    id: 'pageRegions',
    name: 'code',
    other: { name: 'p' },
    async begin() {
      await succeed('saveRegion', { code: '980000', name: 'province' })
      const save = (code: string) => succeed('saveRegion', { code, name: 'paged', parentCode: '980000' })
      return {
        filter: { code: '9801' },
        add: async (nth) => (await save(String(980101 + nth))).code,
        remove: (code) => succeed('deleteRegion', { code }),
        end: () => succeed('deleteRegion', { code: '980000' }),
      }
    },
  },
  {
    id: 'pageDeviceInventory',
    name: 'deviceNo',
    other: { modelName: 'm' },
    async begin() {
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
    },
  },
]

describe.each(paged)('$id', ({ id, name, newestFirst = false, other, begin }) => {
  const ask = (query: object): Promise<Answer<unknown>> => client.operate(id, query)
  const page = async (query: object) => expectSuccess(await ask(query)) as Page
  const namesOf = ({ list }: Page) => list.map((row) => row[name])

  /** Makes rows and hands them to a test, in the order of their page. */
  async function withRows(count: number, run: (made: Made) => Promise<void>): Promise<void> {
    const { filter, add, remove, end } = await begin()
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
