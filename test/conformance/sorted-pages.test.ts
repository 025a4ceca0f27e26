import { describe, expect, test } from 'bun:test'
import { applicationSorts, pageApplications } from '../../src/applications/contract.ts'
import { pageBillingRules, ruleSorts } from '../../src/billing-rules/contract.ts'
import { deviceSorts, pageDevices } from '../../src/devices/contract.ts'
import { pageSites, siteSorts } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Answer, CallOptions } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newDevice,
  onePeriod,
  saveSiteOf,
  succeed,
  walk,
} from './support.ts'

// Pages over applications (contract §5): in their own order, by application and then newest first, and by `sort` and
// `order`, over all applications alike and in a total order.

const unique = newSerial('SORT')
const applications = await Promise.all(
  ['b', 'B', 'ä'].map((name) => newApplication(client, { appName: `${unique} ${name}` })),
)
const [first, second, third] = applications as [TestApplication, TestApplication, TestApplication]

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
    await succeed('saveBillingRule', rule, { token })
    const deviceNo = newSerial(`${(index * 7) % 5}${unique}`)
    expectSuccess(await createDeviceOf(application, { deviceNo, deviceName: `${unique} ${name}`, ...codes }))
    if (index % 3 > 0) {
      const state = { deviceNo, status: 2, runStatus: index % 3 }
      await succeed('reportDeviceState', state, { token })
    }
  }
}

type Row = Record<string, unknown>
type Ask = (query: object) => Promise<Answer<unknown>>
type Page = { list: Row[]; total: number; nextCursor: string | null }

const developer = await signIn(client, await newPerson(client, 'developer', [first.appId, third.appId]))
const stranger = await signIn(client, await newPerson(client, 'developer', []))

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
    ...(isOfApplications ? [] : [{ who: 'one', ask: (query: object) => client.call(operation, query, first) }]),
  ]
  const read = async (asked: Promise<Answer<unknown>>) => expectSuccess(await asked) as Page

  const walked = (ask: Ask, query: object) => walk((page) => read(ask({ ...query, ...page })))

  test.if(!isOfApplications)('without a sort answers the rows by application, newest first', async () => {
    const filter = { [name]: unique.toLowerCase() }
    const expectedOf = (apps: readonly TestApplication[]) =>
      apps
        .map(({ appId }) => appId)
        .sort()
        .flatMap((appId) => names.toReversed().map((each) => `${appId} ${unique} ${each}`))
    const told = (list: Row[]) => list.map((row) => `${row.appId} ${row[name]}`)
    for (const [index, expected] of [expectedOf(applications), expectedOf([first, third])].entries()) {
      const ask = whose[index]?.ask ?? expect.unreachable()
      expect(told(await walked(ask, { ...filter, pageSize: 4 }))).toEqual(expected)
      const second = await read(ask({ ...filter, pageSize: 5, pageNo: 2 }))
      expect([told(second.list), second.total]).toEqual([expected.slice(5, 10), expected.length])
    }
    // Without a filter it is what is a caller’s own.
    const own = async (as: object) => told((await read(client.call(operation, { pageSize: 100 }, as))).list)
    expect(await own({ headers: developer })).toEqual(expectedOf([first, third]))
    expect(await own({ token: second.token })).toEqual(expectedOf([second]))
    expect(await own({ headers: stranger })).toEqual([])
    const { nextCursor: cursor } = await read(client.call(operation, { pageSize: 1 }, { headers: developer }))
    expectFaults(await client.call(operation, { cursor }, { headers: stranger }), ['cursor'])
  })

  test.each(whose)('sorts the rows in $who by each member, up and down, on every page', async ({ ask }) => {
    const filter = { [name]: unique.toLowerCase() }
    const own = await read(ask({ ...filter, pageSize: 100 }))
    const keys = own.list.map((row) => row[key])
    for (const sort of sorts) {
      const up = await walked(ask, { ...filter, sort, order: 'asc', pageSize: 7 })
      expect(up.map((row) => row[key]).toSorted()).toEqual(keys.toSorted())
      const values = up.map((row) => memberOf(row, sort))
      expect(values).toEqual(values.toSorted(byOne))
      // The descending order is the reverse of the ascending one, also among rows with the same value.
      const down = await walked(ask, { ...filter, sort, order: 'desc', pageSize: 100 })
      expect(down).toEqual(up.toReversed())
      expect((await read(ask({ ...filter, sort, pageSize: 100 }))).list).toEqual(up)
      const second = await read(ask({ ...filter, sort, order: 'desc', pageSize: 2, pageNo: 2 }))
      expect([second.list, second.total]).toEqual([down.slice(2, 4), own.total])
    }
    expect(await read(ask({ ...filter, sort: '', order: '', pageSize: 100 }))).toEqual(own)
  })

  test('sorts without a filter, also over the end of a page', async () => {
    for (const query of sorts.flatMap((sort) => [
      { sort, order: 'asc' },
      { sort, order: 'desc' },
    ])) {
      // Other tests write meanwhile; still, each row comes after the one before it.
      const { list, nextCursor: cursor } = await read(client.operate(operation, { ...query, pageSize: 5 }))
      const next = cursor === null ? [] : (await read(client.operate(operation, { ...query, cursor }))).list
      const values = [...list, ...next].map((row) => memberOf(row, query.sort))
      const sorted = values.toSorted(byOne)
      expect([query, values]).toEqual([query, query.order === 'asc' ? sorted : sorted.toReversed()])
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

test.each(['devices', 'sites', 'billingRules'])('an export of %s has an order of its own', async (kind) => {
  expectFaults(await client.operate('createExport', { kind, format: 'csv', sort: 'createTime' }), ['sort'])
  expectFaults(await client.operate('createExport', { kind, format: 'csv', order: 'asc' }), ['order'])
})

test('a device is found without its application by who may see it, with its history', async () => {
  const deviceNo = await newDevice(second)
  const find = (as: CallOptions) => client.call('getDevice', { deviceNo }, as)
  const historyOf = (as: CallOptions) => client.call('getDeviceHistory', { deviceNo }, as)
  const [operator, member, other] = [{ token: client.operatorKey }, { headers: developer }, { headers: stranger }]
  expect(expectSuccess(await find(operator))).toMatchObject({ deviceNo, appId: second.appId })
  expect((await find(operator)).headers.get('etag')).not.toBeNull()
  for (const as of [member, other]) {
    expectRefusal(await find(as), 'deviceNotFound')
    expectRefusal(await historyOf(as), 'deviceNotFound')
  }
  for (const targetAppId of [first.appId, third.appId, second.appId]) {
    await succeed('transferDevice', { deviceNo, targetAppId, reason: 'moved' })
    const seen = await find(member)
    if (targetAppId === second.appId) expectRefusal(seen, 'deviceNotFound')
    else expect(expectSuccess(seen).appId).toBe(targetAppId)
  }
  const holders = async (as: CallOptions) => expectSuccess(await historyOf(as)).list.map(({ appId }) => appId)
  expect(await holders(operator)).toEqual([second.appId, third.appId, first.appId, second.appId])
  expect(await holders(member)).toEqual([third.appId, first.appId])
  expectRefusal(await historyOf(other), 'deviceNotFound')
})
