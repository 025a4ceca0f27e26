import { describe, expect, test } from 'bun:test'
import { applicationSorts, pageApplications } from '../../src/applications/contract.ts'
import { pageBillingRules, ruleSorts, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createExport } from '../../src/bulk/contract.ts'
import { deviceSorts, pageDevices } from '../../src/devices/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { pageSites, siteSorts } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { type Answer, newApplication, newSerial } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { untyped } from '../untyped.ts'
import { client, createDeviceOf, expectFaults, expectSuccess, onePeriod, saveSiteOf } from './support.ts'

// `sort` and `order` of pages: over all applications alike, a total order, and the page's own order without them.

const unique = newSerial('SORT')
const applications = await Promise.all(
  ['b', 'B', 'ä'].map((name) => newApplication(client, { appName: `${unique} ${name}` })),
)
const [first, , third] = applications as [(typeof applications)[0], (typeof applications)[0], (typeof applications)[0]]

/**
 * The applications create in turn. Some names are equal, and their order is neither that of creation nor that of
 * applications.
 */
const names = ['m', 'a', 'Z', 'm', '站', 'a']
for (const [index, name] of names.entries()) {
  for (const application of applications.toReversed()) {
    const { token } = application
    const codes = { provinceCode: index % 2 === 0 ? '440000' : '110000', cityCode: `11010${index}` }
    expectSuccess(await saveSiteOf(application, { siteName: `${unique} ${name}`, ...codes }))
    const rule = { ruleName: `${unique} ${name}`, ruleType: 1 + (index % 2), periods: onePeriod }
    expectSuccess(await client.call(saveBillingRule, rule, { token }))
    const deviceNo = newSerial(`${(index * 7) % 5}${unique}`)
    expectSuccess(await createDeviceOf(application, { deviceNo, deviceName: `${unique} ${name}`, ...codes }))
    if (index % 3 > 0) {
      const state = { deviceNo, status: 2, runStatus: index % 3 }
      expectSuccess(await client.call(reportDeviceState, state, { token }))
    }
  }
}

type Row = Record<string, unknown>
interface Page {
  list: Row[]
  total: number
  nextCursor: string | null
}

const developer = await signIn(client, await newPerson(client, 'developer', [first.appId, third.appId]))

const byOne = (value: unknown, other: unknown) => {
  if (value === other) return 0
  if (typeof value === 'number') return value - Number(other)
  return Buffer.compare(Buffer.from(String(value ?? '')), Buffer.from(String(other ?? '')))
}
const memberOf = (row: Row, by: string): unknown =>
  by.endsWith('Code') ? ((row.deviceBattery as Row | undefined) ?? row)[by] : row[by]

const pages = (
  [
    [untyped(pageDevices), 'deviceName', 'deviceNo', deviceSorts],
    [untyped(pageSites), 'siteName', 'id', siteSorts],
    [untyped(pageBillingRules), 'ruleName', 'id', ruleSorts],
    [untyped(pageApplications), 'appName', 'appId', applicationSorts],
  ] as [Operation, filter: string, key: string, sorts: readonly string[]][]
).map(([operation, name, key, sorts]) => ({ id: operation.id, operation, name, key, sorts }))

describe.each(pages)('$id', ({ operation, name, key, sorts }) => {
  const isOfApplications = operation.id === pageApplications.id
  const whose = [
    { who: 'all applications', ask: (query: object) => client.operate(operation, query) },
    { who: 'two applications', ask: (query: object) => client.call(operation, query, { headers: developer }) },
    ...(isOfApplications
      ? []
      : [{ who: 'one', ask: (query: object) => client.call(operation, query, { token: first.token }) }]),
  ]
  const read = async (asked: Promise<Answer<unknown>>) => expectSuccess(await asked) as Page

  async function walk(ask: (query: object) => Promise<Answer<unknown>>, query: object): Promise<Row[]> {
    const rows: Row[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await read(ask({ ...query, cursor }))
      rows.push(...page.list)
      cursor = page.nextCursor
    }
    return rows
  }

  test.each(whose)('sorts the rows in $who by each member, up and down, on every page', async ({ ask }) => {
    const filter = { [name]: unique.toLowerCase() }
    const own = await read(ask({ ...filter, pageSize: 100 }))
    const keys = own.list.map((row) => row[key])
    for (const sort of sorts) {
      const up = await walk(ask, { ...filter, sort, order: 'asc', pageSize: 4 })
      expect(up.map((row) => row[key]).toSorted()).toEqual(keys.toSorted())
      const values = up.map((row) => memberOf(row, sort))
      expect(values).toEqual(values.toSorted(byOne))
      // The descending order is the reverse of the ascending one, also among rows with the same value.
      const down = await walk(ask, { ...filter, sort, order: 'desc', pageSize: 100 })
      expect(down).toEqual(up.toReversed())
      expect((await read(ask({ ...filter, sort, pageSize: 100 }))).list).toEqual(up)
      const second = await read(ask({ ...filter, sort, order: 'desc', pageSize: 2, pageNo: 2 }))
      expect([second.list, second.total]).toEqual([down.slice(2, 4), own.total])
    }
    expect(await read(ask({ ...filter, sort: '', order: '', pageSize: 100 }))).toEqual(own)
  })

  test('sorts without a filter, also of all applications and over the end of a page', async () => {
    for (const { ask } of whose) {
      for (const sort of sorts) {
        for (const order of ['asc', 'desc']) {
          // Other tests write meanwhile; still, each row comes after the one before it.
          const page = await read(ask({ sort, order, pageSize: 5 }))
          const next = page.nextCursor === null ? [] : (await read(ask({ sort, order, cursor: page.nextCursor }))).list
          const values = [...page.list, ...next].map((row) => memberOf(row, sort))
          const sorted = values.toSorted(byOne)
          expect(values).toEqual(order === 'asc' ? sorted : sorted.toReversed())
        }
      }
    }
  })

  test('refuses what cannot be sorted by, another direction, and a direction of nothing', async () => {
    const ask = (query: object) => client.operate(operation, query)
    for (const sort of ['secret', 'created_at', 'CREATETIME', 'createTime,id', "createTime'", 'constructor']) {
      expectFaults(await ask({ sort, order: 'asc' }), ['sort'])
    }
    expectFaults(await ask({ sort: 'createTime', order: 'up' }), ['order'])
    expectFaults(await ask({ order: 'asc' }), ['order'])
  })

  test('refuses a cursor of another order', async () => {
    const ask = (query: object) => client.operate(operation, { [name]: unique, pageSize: 1, ...query })
    const { nextCursor: cursor } = await read(ask({ sort: 'createTime', order: 'asc' }))
    for (const other of [{}, { sort: 'createTime', order: 'desc' }, { sort: sorts[1], order: 'asc' }]) {
      expectFaults(await ask({ ...other, cursor }), ['cursor'])
    }
    const forged = JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as string[]
    const sealed = Buffer.from(JSON.stringify([forged[0], ...forged.slice(1).map(() => 'x')])).toString('base64url')
    expectFaults(await ask({ sort: 'createTime', order: 'asc', cursor: sealed }), ['cursor'])
  })
})

test('an export has an order of its own', async () => {
  for (const kind of ['devices', 'sites', 'billingRules'] as const) {
    for (const member of ['sort', 'order']) {
      const query = { kind, format: 'csv', [member]: member === 'sort' ? 'createTime' : 'asc' }
      expectFaults(await client.operate(untyped(createExport), query), [member])
    }
  }
})
