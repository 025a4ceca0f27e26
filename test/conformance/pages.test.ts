import { expect, test } from 'bun:test'
import { pageApplications } from '../../src/applications/contract.ts'
import { pageBillingRules } from '../../src/billing-rules/contract.ts'
import { pageDeliveries } from '../../src/deliveries/contract.ts'
import { pageDevices } from '../../src/devices/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { pageSites } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import { client, expectFaults, expectSuccess, newIdleApplication, newRule, onePeriod, saveSiteOf } from './support.ts'

interface Page {
  list: Record<string, unknown>[]
  total: number
  totalIsExact: boolean
  pageNo: number | null
  pageSize: number
  pages: number
  nextCursor: string | null
}

/** A page operation, and rows of this test that a filter finds. */
interface Paged {
  id: string
  /** The member that names a row. */
  name: string
  newestFirst: boolean
  /** Filters that `make` does not use. */
  other: Record<string, string | number>
  /**
   * Creates rows. Returns their names in order of creation, a filter that finds them, and how to add and remove rows.
   */
  make(
    count: number,
  ): Promise<{ names: string[]; filter: Record<string, string>; add(): Promise<string>; clear(): Promise<void> }>
  ask(query: Record<string, unknown>): Promise<Answer<unknown>>
}

const nothing = async () => {}

/** A page of records of one application, which each have a name. */
function ofApplication(
  id: string,
  operation: { id: string },
  name: string,
  other: Record<string, string | number>,
  create: (appId: string, named: string) => Promise<Answer<unknown>>,
): Paged {
  const page = untyped(operation)
  return {
    id,
    name,
    newestFirst: true,
    other: { [name]: 'record', ...other },
    async make(count) {
      const { appId } = await newIdleApplication({ thirdPartyConfig: { operatorName: 'Test operator' } })
      let made = 0
      const add = async () => {
        const named = `record ${made++}`
        expectSuccess(await create(appId, named))
        return named
      }
      return { names: await times(count, add), filter: { appId }, add, clear: nothing }
    },
    ask: async (query) => client.operate(page, { appId: (await newIdleApplication()).appId, ...query }),
  }
}

const paged: Paged[] = [
  {
    id: 'pageApplications',
    name: 'appName',
    newestFirst: true,
    other: { status: 1, onlineStatus: 1 },
    async make(count) {
      const unique = crypto.randomUUID()
      let made = 0
      const add = async () => {
        const appName = `${unique} ${made++}`
        expectSuccess(await client.operate('createApplication', { appName }))
        return appName
      }
      return { names: await times(count, add), filter: { appName: unique }, add, clear: nothing }
    },
    ask: (query) => client.operate('pageApplications', query),
  },
  ofApplication('pageSites', pageSites, 'siteName', { timeFrom: '2000-01-01 00:00:00' }, (appId, siteName) =>
    client.operate('saveSite', siteBody(appId, { siteName })),
  ),
  ofApplication(
    'pageBillingRules',
    pageBillingRules,
    'ruleName',
    { ruleType: 1, timeTo: '2999-01-01 00:00:00' },
    (appId, ruleName) => client.operate('saveBillingRule', { appId, ruleName, ruleType: 1, periods: onePeriod }),
  ),
  ofApplication('pageDevices', pageDevices, 'deviceName', { status: 1 }, async (appId, deviceName) => {
    // Devices of the same millisecond are sorted by serial number, so each create gets its own millisecond.
    await Bun.sleep(2)
    return client.operate('createDevice', deviceBody(appId, { deviceName }))
  }),
  {
    id: 'pageDeviceModels',
    name: 'serialPrefix',
    newestFirst: false,
    other: { modelName: 'p' },
    async make(count) {
      const base = newSerial('P')
      const names: string[] = []
      const add = async () => {
        const serialPrefix = `${base}${String(names.length).padStart(3, '0')}`
        expectSuccess(await client.operate('saveDeviceModel', { serialPrefix, modelName: 'paged' }))
        names.push(serialPrefix)
        return serialPrefix
      }
      const clear = async () => {
        for (const serialPrefix of names) await client.operate('deleteDeviceModel', { serialPrefix })
      }
      return { names: await times(count, add), filter: { serialPrefix: base }, add, clear }
    },
    ask: (query) => client.operate('pageDeviceModels', query),
  },
  {
    id: 'pageRegions',
    name: 'code',
    newestFirst: false,
    other: { name: 'p' },
    async make(count) {
      const names: string[] = []
      const add = async () => {
        const code = String(980101 + names.length)
        expectSuccess(await client.operate('saveRegion', { code, name: 'paged', parentCode: '980000' }))
        names.push(code)
        return code
      }
      const clear = async () => {
        for (const code of [...names, '980000']) await client.operate('deleteRegion', { code })
      }
      expectSuccess(await client.operate('saveRegion', { code: '980000', name: 'province' }))
      return { names: await times(count, add), filter: { code: '9801' }, add, clear }
    },
    ask: (query) => client.operate('pageRegions', query),
  },
  {
    id: 'pageDeviceInventory',
    name: 'deviceNo',
    newestFirst: false,
    other: { modelName: 'm' },
    async make(count) {
      const base = newSerial('P')
      const model = { serialPrefix: newSerial('P'), modelName: `model ${base}` }
      expectSuccess(await client.operate('saveDeviceModel', model))
      const names: string[] = []
      const add = async () => {
        const deviceNo = `${base}${String(names.length).padStart(3, '0')}`
        const entries = [{ deviceNo, modelName: model.modelName }]
        expectSuccess(await client.operate('importDeviceInventory', { entries }))
        names.push(deviceNo)
        return deviceNo
      }
      const clear = async () => {
        for (const deviceNo of names) await client.operate('deleteDeviceInventory', { deviceNo })
        await client.operate('deleteDeviceModel', { serialPrefix: model.serialPrefix })
      }
      return { names: await times(count, add), filter: { deviceNo: base }, add, clear }
    },
    ask: (query) => client.operate('pageDeviceInventory', query),
  },
]

async function times(count: number, make: () => Promise<string>): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index++) made.push(await make())
  return made
}

for (const { id, name, newestFirst, other, make, ask } of paged) {
  const page = async (query: Record<string, unknown>) => expectSuccess(await ask(query)) as Page
  const namesOf = ({ list }: Page) => list.map((row) => row[name])

  test(`${id} answers ten rows by default, with the total, the pages and a cursor for the next`, async () => {
    const { names, filter, clear } = await make(23)
    const first = await page(filter)
    expect({ ...first, list: first.list.length, nextCursor: typeof first.nextCursor }).toEqual({
      list: 10,
      total: 23,
      totalIsExact: true,
      pageNo: 1,
      pageSize: 10,
      pages: 3,
      nextCursor: 'string',
    })
    const ordered = newestFirst ? names.toReversed() : names
    expect(namesOf(first)).toEqual(ordered.slice(0, 10))
    expect(namesOf(await page({ ...filter, pageNo: 2 }))).toEqual(ordered.slice(10, 20))
    const last = await page({ ...filter, pageNo: 3 })
    expect(namesOf(last)).toEqual(ordered.slice(20))
    expect(last).toMatchObject({ total: 23, pageNo: 3, pages: 3, nextCursor: null })
    expect(await page({ ...filter, pageNo: 4 })).toMatchObject({ list: [], total: 23, pageNo: 4, nextCursor: null })
    expect(await page({ ...filter, pageSize: 100 })).toMatchObject({ pageSize: 100, pages: 1, nextCursor: null })
    expect(await page({ ...filter, pageSize: 23 })).toMatchObject({ pages: 1, nextCursor: null })
    await clear()
  })

  test(`${id} walks by cursor through every row once, and skips nothing that existed throughout`, async () => {
    const { names, filter, add, clear } = await make(9)
    const walked: unknown[] = []
    let cursor: string | null = ''
    let steps = 0
    while (cursor !== null) {
      const step: Page = await page({ ...filter, pageSize: 2, cursor })
      walked.push(...namesOf(step))
      expect(step.pageSize).toBe(2)
      expect(++steps).toBeLessThan(20)
      await (steps < 4 ? add() : nothing())
      cursor = step.nextCursor
    }
    expect(new Set(walked).size).toBe(walked.length)
    const ordered = newestFirst ? names.toReversed() : names
    expect(walked.filter((row) => names.includes(String(row)))).toEqual(ordered)
    await clear()
  })

  test(`${id} of nothing is an empty page`, async () => {
    const { filter } = await make(0)
    expect(await page(filter)).toEqual({
      list: [],
      total: 0,
      totalIsExact: true,
      pageNo: 1,
      pageSize: 10,
      pages: 0,
      nextCursor: null,
    })
  })

  test(`${id} takes a pageNo from 1 and a pageSize of 1 to 100`, async () => {
    const { filter } = await make(0)
    for (const good of [{ pageSize: 1 }, { pageSize: 100 }, { pageNo: 1 }, { pageNo: 1000, pageSize: 100 }]) {
      expect(await page({ ...filter, ...good })).toMatchObject(good)
    }
    for (const tooFar of [{ pageNo: 1001, pageSize: 100 }, { pageNo: 10_001 }, { pageNo: 1_000_000, pageSize: 1 }]) {
      expectFaults(await ask({ ...filter, ...tooFar }), ['pageNo'])
    }
    expect(await page({ ...filter, pageNo: '', pageSize: '', cursor: '' })).toMatchObject({ pageNo: 1, pageSize: 10 })
    const malformed = ['0', '-1', '1.5', 'x', '1e1', ' 1', '+1', '0x1', '9007199254740993', '9'.repeat(400), 'null']
    for (const value of malformed) {
      expectFaults(await ask({ ...filter, pageNo: value, pageSize: value }), ['pageNo', 'pageSize'])
    }
    expectFaults(await ask({ ...filter, pageSize: 101 }), ['pageSize'])
  })

  test(`${id} refuses its own cursor with another filter, and beside a page number`, async () => {
    const { filter, clear } = await make(3)
    const { nextCursor: cursor } = await page({ ...filter, pageSize: 1 })
    expect((await page({ ...filter, cursor, pageNo: '' })).list).toHaveLength(2)
    expectFaults(await ask({ ...filter, cursor, pageNo: 2 }), ['cursor'])
    expectFaults(await ask({ ...filter, cursor, pageNo: 1 }), ['cursor'])
    for (const [member, value] of Object.entries(other)) {
      expectFaults(await ask({ ...filter, cursor, [member]: value }), ['cursor'])
    }
    await clear()
  })

  test(`${id} refuses a cursor that it did not answer`, async () => {
    const { filter } = await make(0)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const foreign = [
      'x',
      'null',
      'e30',
      encode([]),
      encode({}),
      encode('x'),
      encode(['a', 'b', 'c']),
      encode([1]),
      encode([null]),
      encode(['\0']),
      encode(['\0', '\0']),
      encode(["'; drop table device; --", '1', '2', '3']),
      `${encode(['a'])}!`.repeat(100),
    ]
    for (const cursor of foreign) expectFaults(await ask({ ...filter, cursor }), ['cursor'])
    expectFaults(await ask({ ...filter, cursor: 'x'.repeat(3000) }), ['cursor'])
  })
}

/** Decodes a cursor: the list it belongs to, and the key of a row. */
const opened = (cursor: string | null) => JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as string[]
const sealed = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')

test('a cursor of the right shape that holds impossible values is refused', async () => {
  for (let index = 0; index < 2; index++) await newIdleApplication({ appName: 'for a cursor' })
  const [ofApplications] = opened(expectSuccess(await client.operate('pageApplications', { pageSize: 1 })).nextCursor)
  for (const moment of [
    '2026-13-45 25:61:61+00',
    '2026-02-30 00:00:00+00',
    '999999-01-01 00:00:00+00',
    '0000-00-00 00:00:00+00',
  ]) {
    expectFaults(await client.operate('pageApplications', { cursor: sealed([ofApplications, moment, 'x']) }), [
      'cursor',
    ])
  }
  const { appId } = await newIdleApplication()
  const twoRules = { appId, ruleName: 'rule', ruleType: 1, periods: onePeriod }
  for (let index = 0; index < 2; index++) expectSuccess(await client.operate('saveBillingRule', twoRules))
  const [ofRules] = opened(expectSuccess(await client.operate('pageBillingRules', { appId, pageSize: 1 })).nextCursor)
  for (const id of ['99999999999999999999', '1.5', '-', '1e3', ' 1', '0x1', '']) {
    expectFaults(await client.operate('pageBillingRules', { appId, cursor: sealed([ofRules, id]) }), ['cursor'])
  }
  expect(
    expectSuccess(await client.operate('pageBillingRules', { appId, cursor: sealed([ofRules, '1']) })).list,
  ).toEqual([])
})

test('a query member that is given twice is refused', async () => {
  const headers = { authorization: `Bearer ${client.operatorKey}` }
  const answer = await client.send<unknown>(`${pageApplications.path}?pageNo=1&pageNo=2&pageSize=5`, { headers })
  expectFaults(answer, ['pageNo'])
})

test('another operation’s cursor is refused, also where both have nothing but ids', async () => {
  const application = await newApplication(client)
  for (let index = 0; index < 2; index++) await newRule(application, 3)
  for (let index = 0; index < 2; index++) expectSuccess(await saveSiteOf(application))
  const { token } = application
  const pages = [pageBillingRules, pageSites, pageEvents, pageDeliveries] as const
  const { nextCursor } = expectSuccess(await client.call('pageBillingRules', { pageSize: 1 }, { token }))
  for (const page of pages.slice(1))
    expectFaults(await client.call(page as Operation, { cursor: nextCursor }, { token }), ['cursor'])
  expectFaults(await client.operate('pageDeviceModels', { cursor: nextCursor }), ['cursor'])
})
