import { expect, test } from 'bun:test'
import { lockApplication } from '../../src/database/application-lock.ts'
import { type Answer, Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { sleepUntil, waitUntil } from '../kit/waits.ts'

// Price changes whose moment comes while nobody can write them down: while no process runs, or while another writer holds
// the application.

const place = ownWorkplace()

async function done<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { code, text, data } = await answer
  if (code !== 0) throw new Error(text)
  return data
}

const at = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0' }]

/** An application with a site whose prices change three times, a second after each other, the last change scheduled first. */
interface Waiting {
  app: TestApplication
  rules: [number, number]
  site: number
  /** The three moments, in order. */
  moments: [number, number, number]
  /** The price changes, in the order of their moments. */
  changes: number[]
}

/** Schedules the three changes, the first of which takes effect in some seconds. */
async function newWaiting(client: Client, inMs: number): Promise<Waiting> {
  const app = await newApplication(client)
  const newRule = async () =>
    (await done(client.call('saveBillingRule', { ruleName: 'rule', ruleType: 1, periods: at('0.1') }, app))).id
  const rules: [number, number] = [await newRule(), await newRule()]
  const site = (await done(client.call('saveSite', siteBody(app.appId, { fastChargeBillRuleId: rules[0] }), app))).id
  const first = Math.ceil((Date.now() + inMs) / 1000) * 1000
  const moments: [number, number, number] = [first, first + 1000, first + 2000]
  const wanted = [
    { billingRuleId: rules[0], periods: at('0.2') },
    { sites: { ids: [site] }, rules: { fastChargeBillRuleId: rules[1] } },
    { billingRuleId: rules[1], periods: at('0.3') },
  ]
  const changes: number[] = []
  for (const place of [2, 1, 0]) {
    const effectiveTime = new Date(moments[place] as number).toISOString()
    const { id } = await done(client.call('schedulePriceChange', { effectiveTime, ...wanted[place] }, app))
    changes.unshift(id as number)
  }
  return { app, rules, site, moments, changes }
}

/** Expects that all three changes have taken effect once, in the order of their moments, and that the history says when. */
async function expectInForce(client: Client, { app, rules, site, moments, changes }: Waiting): Promise<void> {
  const { list } = await done(client.call('pageEvents', { pageSize: '100' }, app))
  const told = list
    .filter(({ actor }) => actor === 'platform:prices')
    .map(({ type, data }) => [type, (data as { id: number }).id])
  expect(told).toEqual([
    ['billingRule.updated', rules[0]],
    ['priceChange.applied', changes[0] as number],
    ['site.updated', site],
    ['priceChange.applied', changes[1] as number],
    ['billingRule.updated', rules[1]],
    ['priceChange.applied', changes[2] as number],
  ])
  for (const id of changes) {
    const { status, appliedTime } = await done(client.call('getPriceChange', { id }, app))
    expect([status, appliedTime]).toEqual([2, expect.any(String)])
  }
  expect((await done(client.call('getSite', { id: site }, app))).fastChargeBillRuleId).toBe(rules[1])
  expect((await done(client.call('getBillingRule', { id: rules[1] }, app))).periods).toEqual(at('0.3'))
  const fastAt = async (moment: number) => {
    const { fast } = await done(client.call('getSitePrices', { id: site, time: new Date(moment).toISOString() }, app))
    return [fast?.billingRuleId, fast?.periods?.[0]?.electricityPrice, fast?.priceChangeId]
  }
  const [one, two, three] = moments
  expect(await fastAt(one - 1000)).toEqual([rules[0], '0.1', null])
  expect(await fastAt(one)).toEqual([rules[0], '0.2', changes[0]])
  expect(await fastAt(two)).toEqual([rules[1], '0.1', changes[1]])
  expect(await fastAt(three)).toEqual([rules[1], '0.3', changes[2]])
}

test('what came due while another writer holds the application is in force from its moment on, before it is written down', async () => {
  const database = await place.startDatabase()
  const client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
  const waiting = await newWaiting(client, 2_500)
  const { app, changes, moments } = waiting
  const detail = (id: number) => done(client.call('getPriceChange', { id }, app))
  const inForce = async () => (await done(client.call('pagePriceChanges', { status: 2 }, app))).list
  await database.run((sql) =>
    sql.begin(async (holder) => {
      await lockApplication(holder, app.appId)
      expect(Date.now(), 'the machine is too busy for this test').toBeLessThan(moments[0])
      await sleepUntil(moments[2] + 100)
      const told = [...(await Promise.all(changes.map(detail))), ...(await inForce())]
      expect(told.map(({ id, status, appliedTime }) => [id, status, appliedTime])).toEqual(
        [...changes, ...changes.toReversed()].map((id) => [id, 2, null]),
      )
    }),
  )
  const isWritten = async () => (await inForce()).every(({ appliedTime }) => appliedTime !== null)
  await waitUntil(isWritten)
  await expectInForce(client, waiting)
})

longTest('what came due while no process ran is written once, in order, before any is ready', async () => {
  const database = await place.startDatabase()
  const env = { DATABASE_URL: database.url() }
  const before = await place.startService({ env })
  const waiting = await newWaiting(new Client(before), 2_500)
  await before.kill('SIGKILL')
  expect(Date.now(), 'the machine is too busy for this test').toBeLessThan(waiting.moments[0])
  await sleepUntil(waiting.moments[2] + 100)
  const services: Service[] = await Promise.all([place.startService({ env }), place.startService({ env })])
  // The first request to each service: by then all changes must be in force.
  for (const service of services) await expectInForce(new Client(service), waiting)
})
