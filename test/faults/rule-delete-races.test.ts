import { describe, expect, test } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import type { Answer, Client } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { deviceBody, newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { anyMoment, becomesTrue, sleepUntil } from '../kit/waits.ts'

const random = randomNumbers(seed)
const { database, clients } = await twoServices()

const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
const either = () => pick(clients)
const onePeriod = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }]
const occupancyTerms = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50' }
const fields = ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId'] as const

async function newRule({ appId, token }: TestApplication, ruleType: number): Promise<number> {
  const terms = ruleType === 3 ? occupancyTerms : { periods: onePeriod }
  const answer = await either().call('saveBillingRule', { appId, ruleName: 'rule', ruleType, ...terms }, { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.id
}

async function newSite({ appId, token }: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  const answer = await either().call('saveSite', siteBody(appId, members), { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data
}

/** Sites that name a rule which does not exist, in one snapshot of the database. */
function danglingSites(): Promise<object[]> {
  return database.run(async (sql) => [
    ...(await sql`
      select site.id, rule_id from site
      cross join lateral (values (fast_rule_id), (slow_rule_id), (occupancy_rule_id)) as named (rule_id)
      where rule_id is not null
        and not exists (select from billing_rule r where r.app_id = site.app_id and r.id = rule_id)`),
  ])
}

test('a rule or site deleted around the moment of its price change goes behind it or without it, and is told last', async () => {
  const app = await newApplication(either())
  const { appId, token } = app
  const ofEach = atScale(12, 60)
  const newOnes = (make: () => Promise<number>) => Promise.all(Array.from({ length: ofEach }, make))
  const [had, given] = [await newRule(app, 1), await newRule(app, 1)]
  const rules = await newOnes(() => newRule(app, 1))
  const sites = await newOnes(async () => (await newSite(app, { fastChargeBillRuleId: had })).id)
  const moment = 1000 * Math.ceil(Date.now() / 1000 + atScale(2, 10))
  const schedule = async (change: object) => {
    const body = { appId, effectiveTime: new Date(moment).toISOString(), ...change }
    const answer = await either().call('schedulePriceChange', body, { token })
    expect(answer.code, answer.text).toBe(0)
    return answer.data.id as number
  }
  await schedule({ sites: { ids: sites }, rules: { fastChargeBillRuleId: given } })
  const changes = new Map<number, number>()
  const periods = [{ ...onePeriod[0], electricityPrice: '0.9' }]
  for (const billingRuleId of rules) changes.set(billingRuleId, await schedule({ billingRuleId, periods }))
  const deleted = (operation: 'deleteBillingRule' | 'deleteSite') => async (id: number) => {
    await sleepUntil(moment + (random() * 2 - 1) * 300)
    const sentAt = Date.now()
    const { code, text } = await either().call(operation, { appId, id }, { token })
    expect(code, text).toBe(0)
    return { id, isBefore: Date.now() < moment, isBehind: sentAt >= moment }
  }
  const [goneRules, goneSites] = await Promise.all([
    Promise.all(rules.map(deleted('deleteBillingRule'))),
    Promise.all(sites.map(deleted('deleteSite'))),
  ])
  const areEnded = async () => {
    const ends =
      await database.sql`select 1 from event where app_id = ${appId} and type in ('priceChange.applied', 'priceChange.cancelled')`
    return ends.length === ofEach + 1
  }
  expect(await becomesTrue(areEnded, 30_000), 'each change ends once').toBe(true)

  const events = await database.sql`select type, actor, subject from event where app_id = ${appId} order by id`
  const toldOf = (noun: string, id: number) =>
    events.filter(({ type, subject }) => subject === String(id) && type.startsWith(`${noun}.`))
  const isWriters = ({ actor }: { actor?: string }) => actor === 'platform:prices'
  for (const { id, isBefore, isBehind } of goneRules) {
    const change = toldOf('priceChange', changes.get(id) as number)
    const ends = change.map(({ type }) => type).filter((type) => type !== 'priceChange.scheduled')
    const ofRule = toldOf('billingRule', id)
    const about = `rule ${id}, ${JSON.stringify({ isBefore, isBehind, ends })}`
    expect(ends, about).toHaveLength(1)
    if (isBefore || isBehind) expect(ends[0], about).toBe(isBefore ? 'priceChange.cancelled' : 'priceChange.applied')
    expect(ofRule.filter(isWriters), about).toHaveLength(ends[0] === 'priceChange.applied' ? 1 : 0)
    const all = events.filter((event) => ofRule.includes(event) || change.includes(event))
    expect(all.at(-1)?.type, about).toBe('billingRule.deleted')
  }
  for (const { id, isBefore, isBehind } of goneSites) {
    const about = `site ${id}, ${JSON.stringify({ isBefore, isBehind })}`
    const written = toldOf('site', id).filter(isWriters).length
    expect(written, about).toBeLessThanOrEqual(isBefore ? 0 : 1)
    expect(written, about).toBeGreaterThanOrEqual(isBehind ? 1 : 0)
    expect(toldOf('site', id).at(-1)?.type, about).toBe('site.deleted')
  }
  expect(await danglingSites()).toEqual([])
})

test('rules and sites that come, change and go side by side: at no time does a site name a deleted rule', async () => {
  const app = await newApplication(clients[0])
  const { appId, token } = app
  const rules = await Promise.all([1, 2, 3].map((type) => newRule(app, type)))
  const sites: number[] = [(await newSite(app)).id]
  const wrong: string[] = []
  const counts: Record<string, number> = {}
  let running = true

  const named = () => Object.fromEntries(fields.map((field, index) => [field, random() < 0.4 ? rules[index] : null]))
  const acts = {
    save: () => either().call('saveSite', siteBody(appId, named()), { token }),
    update: () => either().call('updateSite', { id: pick(sites), ...named() }, { token }),
    remove: () => either().call('deleteSite', { id: pick(sites) }, { token }),
    delete: () => either().call('deleteBillingRule', { id: pick(rules) }, { token }),
  }
  const expected = { save: [0, 40002], update: [0, 30002, 40002], remove: [0, 30002], delete: [0, 40002, 40004] }
  const workers = Array.from({ length: 12 }, async () => {
    while (running) {
      const act = pick(['save', 'update', 'update', 'remove', 'delete', 'delete'] as const)
      const answer = await acts[act]()
      const outcome = `${act} ${answer.code}`
      counts[outcome] = (counts[outcome] ?? 0) + 1
      if (!expected[act].includes(answer.code)) wrong.push(`${act}: ${answer.text}`)
      if (act === 'save' && answer.code === 0) sites.push((answer.data as SiteRecord).id)
      if (act === 'remove') await clear()
      if (act === 'delete' && answer.code !== 40004) await replace()
    }
  })
  /** Deletes most sites, so that now and then no site uses a rule. */
  async function clear() {
    for (const id of sites.splice(0, Math.max(0, sites.length - 3))) {
      await either().call('deleteSite', { id }, { token })
    }
  }
  async function replace() {
    for (const [index, id] of rules.entries()) {
      const answer = await either().call('getBillingRule', { id }, { token })
      if (answer.code === 40002 && rules[index] === id) rules[index] = await newRule(app, index + 1)
    }
  }
  const outcomes = ['save 0', 'save 40002', 'update 0', 'update 40002', 'delete 0', 'delete 40004']
  const isRaced = () => outcomes.every((outcome) => (counts[outcome] ?? 0) > 2)
  const began = performance.now()
  await becomesTrue(async () => {
    const dangling = await danglingSites()
    if (dangling.length > 0) wrong.push(`dangling: ${JSON.stringify(dangling)}`)
    return performance.now() - began > atScale(1500, 8000) && isRaced()
  })
  running = false
  await Promise.all(workers)
  expect(wrong).toEqual([])
  expect(isRaced(), `${JSON.stringify(counts)}`).toBe(true)
  expect(await danglingSites()).toEqual([])
})

/** Records that several callers have read with one ETag and then change; `make` returns what names a new one. */
const kinds = [
  {
    ...{ what: 'site', notFound: 30002, name: 'siteName' },
    operations: { get: 'getSite', update: 'updateSite', remove: 'deleteSite' },
    make: async (app) => ({ id: (await newSite(app)).id }),
  },
  {
    ...{ what: 'billing rule', notFound: 40002, name: 'ruleName' },
    operations: { get: 'getBillingRule', update: 'updateBillingRule', remove: 'deleteBillingRule' },
    make: async (app) => ({ id: await newRule(app, 1) }),
  },
  {
    ...{ what: 'device', notFound: 20002, name: 'deviceName' },
    operations: { get: 'getDevice', update: 'updateDevice', remove: 'unbindDevice' },
    make: async (app) => {
      const { data } = await either().call('createDevice', deviceBody(app.appId), { token: app.token })
      return { deviceNo: data.deviceNo }
    },
  },
] satisfies {
  operations: Record<string, OperationId>
  make(app: TestApplication): Promise<object>
  [member: string]: unknown
}[]

const etagOf = ({ headers }: Answer<unknown>) => headers.get('etag') ?? ''

describe.each(kinds)('with one ETag of a $what', ({ notFound, operations, name, make }) => {
  test('of two updates and a delete at once exactly one succeeds', async () => {
    const app = await newApplication(clients[0])
    const wins = [0, 0, 0]
    for (let round = 0; round < atScale(6, 60); round++) {
      const record = await make(app)
      const send = (client: Client, verb: keyof typeof operations, more: object = {}, headers = {}) =>
        client.call(contractOf(operations[verb]), { ...record, ...more }, { token: app.token, headers })
      const etag = { 'if-match': etagOf(await send(either(), 'get')) }
      const [one, other] = (round % 2 === 0 ? clients : clients.toReversed()) as typeof clients
      const sent = [
        () => send(one, 'update', { [name]: 'by 0' }, etag),
        () => send(other, 'update', { [name]: 'by 1' }, etag),
        () => send(other, 'remove', {}, etag),
      ]
      // Another one is a little ahead in each round.
      const answers = await Promise.all(
        sent.map((ask, index) => anyMoment(random, 2, 2 * ((index + round) % 3)).then(ask)),
      )
      const codes = answers.map(({ code }) => code)
      const winner = codes.indexOf(0)
      const told = `round ${round}: ${answers.map(({ text }) => text)}`
      const lost = winner === 2 ? notFound : 10009
      expect(codes, told).toEqual(codes.map((_, index) => (index === winner ? 0 : lost)))
      wins[winner] = (wins[winner] ?? 0) + 1
      const now = await send(either(), 'get')
      if (winner === 2) expect(now.code, told).toBe(notFound)
      else {
        expect([now.data, etagOf(now)], told).toEqual([answers[winner]?.data, etagOf(answers[winner] as typeof now)])
        expect(now.text, told).toContain(`"by ${winner}"`)
      }
    }
    // With a single winner there would have been no race.
    expect(wins.filter((count) => count > 0).length).toBeGreaterThan(1)
  })
})
