import { describe, expect, test } from 'bun:test'
import { pageBillingRules, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { getDevice, pageDevices } from '../../src/devices/contract.ts'
import { getDeviceHistory, transferDevice } from '../../src/devices/ownership/contract.ts'
import { pageSites } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { type Answer, newApplication, newSerial, type TestApplication } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { untyped } from '../untyped.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess, onePeriod, saveSiteOf } from './support.ts'

// Contract §5: a caller who names no application gets the rows of all that it may see, sorted by application and then
// newest first.

const unique = newSerial('ACROSS')
const applications = (await Promise.all([newApplication(client), newApplication(client), newApplication(client)])).sort(
  (one, other) => (one.appId < other.appId ? -1 : 1),
)
const [first, second, third] = applications as [
  (typeof applications)[0],
  (typeof applications)[0],
  (typeof applications)[0],
]
const developer = await signIn(client, await newPerson(client, 'developer', [first.appId, third.appId]))
const stranger = await signIn(client, await newPerson(client, 'developer', []))

/** Three records of each kind, created in turns, so that the order of creation is not the order of the applications. */
for (let index = 0; index < 3; index++) {
  for (const application of applications.toReversed()) {
    const { token } = application
    expectSuccess(await saveSiteOf(application, { siteName: `${unique} ${index}` }))
    const rule = { ruleName: `${unique} ${index}`, ruleType: 1, periods: onePeriod }
    expectSuccess(await client.call(saveBillingRule, rule, { token }))
    expectSuccess(await createDeviceOf(application, { deviceNo: newSerial(unique), deviceName: `${unique} ${index}` }))
  }
}

type Row = Record<string, unknown>
interface Page {
  list: Row[]
  total: number
  nextCursor: string | null
}

const pages: [Operation, name: string][] = [
  [untyped(pageSites), 'siteName'],
  [untyped(pageBillingRules), 'ruleName'],
  [untyped(pageDevices), 'deviceName'],
]
const newestFirst = [2, 1, 0]
const expectedOf = (whose: TestApplication[]) =>
  whose.flatMap(({ appId }) => newestFirst.map((index) => `${appId} ${unique} ${index}`))

describe.each(pages)('%p', (operation, name) => {
  const asDeveloper = (query: object) => client.call(operation, query, { headers: developer })
  const asOperator = (query: object) => client.operate(operation, query)
  const told = (page: Page) => page.list.map((row) => `${row.appId} ${row[name]}`)
  const read = async (asked: Promise<Answer<unknown>>) => expectSuccess(await asked) as Page

  test.each([
    ['a developer', asDeveloper, [first, third]],
    ['an operator', asOperator, applications],
  ] as const)('answers %s the rows by application, newest first', async (_, ask, whose) => {
    const expected = expectedOf([...whose])
    const filter = { [name]: unique.toLowerCase() }
    expect(told(await read(ask({ ...filter, pageSize: 100 })))).toEqual(expected)
    for (const pageSize of [1, 2, 4]) {
      const [byNumber, byCursor]: [string[], string[]] = [[], []]
      for (let pageNo = 1; byNumber.length < expected.length; pageNo++) {
        const page = await read(ask({ ...filter, pageSize, pageNo }))
        expect([page.total, page.list.length > 0]).toEqual([expected.length, true])
        byNumber.push(...told(page))
      }
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page = await read(ask({ ...filter, pageSize, cursor }))
        expect(page.total).toBe(expected.length)
        byCursor.push(...told(page))
        cursor = page.nextCursor
      }
      expect([byNumber, byCursor]).toEqual([expected, expected])
    }
  })

  test('answers without any filter what is a caller’s own', async () => {
    expect(told(await read(asDeveloper({ pageSize: 100 })))).toEqual(expectedOf([first, third]))
    expect(told(await read(client.call(operation, {}, { token: second.token })))).toEqual(expectedOf([second]))
    expect(await read(client.call(operation, {}, { headers: stranger }))).toMatchObject({ list: [], total: 0 })
    const { nextCursor } = await read(asDeveloper({ pageSize: 1 }))
    expectFaults(await client.call(operation, { cursor: nextCursor }, { headers: stranger }), ['cursor'])
  })

  test('answers one application to who names it, and refuses one that is not theirs', async () => {
    expect(told(await read(asDeveloper({ appId: third.appId })))).toEqual(expectedOf([third]))
    expectRefusal(await asDeveloper({ appId: second.appId }), 'notPermitted')
    expectRefusal(await asOperator({ appId: 'no-such-application' }), 'applicationNotFound')
  })
})

test('a device is found without its application by who may see it, with its history', async () => {
  const { deviceNo } = expectSuccess(await createDeviceOf(second))
  const find = (headers: Record<string, string>) => client.call(getDevice, { deviceNo }, { headers })
  const historyOf = async (headers: Record<string, string>) => client.call(getDeviceHistory, { deviceNo }, { headers })
  const operator = { authorization: `Bearer ${client.operatorKey}` }
  expect(expectSuccess(await find(operator))).toMatchObject({ deviceNo, appId: second.appId })
  expect((await find(operator)).headers.get('etag')).not.toBeNull()
  for (const headers of [developer, stranger, { authorization: `Bearer ${first.token}` }]) {
    expectRefusal(await find(headers), 'deviceNotFound')
    expectRefusal(await historyOf(headers), 'deviceNotFound')
  }
  for (const targetAppId of [first.appId, third.appId, second.appId]) {
    expectSuccess(await client.operate(transferDevice, { deviceNo, targetAppId, reason: 'moved' }))
    const seen = await find(developer)
    if (targetAppId === second.appId) expectRefusal(seen, 'deviceNotFound')
    else expect(expectSuccess(seen).appId).toBe(targetAppId)
  }
  const holders = async (headers: Record<string, string>) =>
    expectSuccess(await historyOf(headers)).list.map(({ appId }) => appId)
  expect(await holders(operator)).toEqual([second.appId, third.appId, first.appId, second.appId])
  expect(await holders(developer)).toEqual([third.appId, first.appId])
  expectRefusal(await historyOf(stranger), 'deviceNotFound')
})
