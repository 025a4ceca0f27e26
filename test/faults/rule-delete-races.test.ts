import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Static } from 'typebox'
import {
  deleteBillingRule,
  getBillingRule,
  saveBillingRule,
  updateBillingRule,
} from '../../src/billing-rules/contract.ts'
import { createDevice, getDevice, updateDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { type EventRecord, pageEvents } from '../../src/events/contract.ts'
import { deleteSite, getSite, pageSites, type SiteRecord, saveSite, updateSite } from '../../src/sites/contract.ts'
import { type Answer, Client, deviceBody, newApplication, siteBody, type TestApplication } from '../harness.ts'
import { anyMoment, atScale, becomesTrue, type OwnDatabase, randomNumbers, seed, tell, Workplace } from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
let database: OwnDatabase
let clients: [Client, Client]

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url() }
  const services = await Promise.all([place.startService({ env }), place.startService({ env })])
  clients = services.map((service) => new Client(service)) as [Client, Client]
}, 120_000)
afterAll(() => place.clear(), 60_000)

const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
const either = () => pick(clients)
const onePeriod = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }]
const occupancyTerms = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50' }
const fields = ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId'] as const

async function newRule({ appId, token }: TestApplication, ruleType: number): Promise<number> {
  const terms = ruleType === 3 ? occupancyTerms : { periods: onePeriod }
  const answer = await either().call(saveBillingRule, { appId, ruleName: 'rule', ruleType, ...terms }, { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.id
}

async function newSite({ appId, token }: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  const answer = await either().call(saveSite, siteBody(appId, members), { token })
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

test('a rule that is deleted while sites are saved with it and changed to it: either they all have it or it is gone', async () => {
  const app = await newApplication(clients[0])
  const { appId, token } = app
  const outcomes = { deleted: 0, inUse: 0 }
  /**
   * How many ms earlier than the others the delete is sent. It changes in favour of the last loser, so that both sides
   * win on any machine.
   */
  let lead = 0
  for (let round = 0; round < atScale(20, 2_000); round++) {
    const type = 1 + (round % 3)
    const field = fields[type - 1] as (typeof fields)[number]
    const id = await newRule(app, type)
    const plain = await Promise.all([newSite(app), newSite(app)])
    const within = <Answer>(milliseconds: number, notBeforeMs: number, send: () => Promise<Answer>) =>
      anyMoment(random, milliseconds, Math.max(0, notBeforeMs)).then(send)
    const naming = [
      ...[1, 2, 3].map(() => () => either().call(saveSite, siteBody(appId, { [field]: id }), { token })),
      ...plain.map((site) => () => either().call(updateSite, { id: site.id, [field]: id }, { token })),
    ]
    const [deleted, ...named] = await Promise.all([
      within(2, -lead, () => either().call(deleteBillingRule, { id }, { token })),
      ...naming.map((send) => within(4, lead, send)),
    ])
    const codes = named.map(({ code }) => code)
    const page = await either().call(pageSites, { billingRuleId: id, pageSize: 100 }, { token })
    const rule = await either().call(getBillingRule, { id }, { token })
    const told = `${said}, round ${round}: delete ${deleted.text}, sites ${codes}`
    lead += deleted.code === 0 ? -1 : 1
    if (deleted.code === 0) {
      outcomes.deleted++
      expect(codes, told).toEqual(codes.map(() => 40002))
      expect([page.data.total, rule.code], told).toEqual([0, 40002])
    } else {
      outcomes.inUse++
      expect(deleted.code, told).toBe(40004)
      expect(codes, told).toEqual(codes.map(() => 0))
      expect([page.data.total, rule.code], told).toEqual([codes.length, 0])
    }
  }
  tell(`the rule was deleted ${outcomes.deleted} times and in use ${outcomes.inUse} times`)
  // Otherwise there was no race.
  expect(Math.min(outcomes.deleted, outcomes.inUse), JSON.stringify(outcomes)).toBeGreaterThan(5)
  expect(await danglingSites()).toEqual([])
}, 900_000)

test('rules and sites that come, change and go side by side: at no point in the log does a site name a deleted rule', async () => {
  const app = await newApplication(clients[0])
  const { appId, token } = app
  const rules = await Promise.all([1, 2, 3].map((type) => newRule(app, type)))
  const sites: number[] = [(await newSite(app)).id]
  const wrong: string[] = []
  const counts: Record<string, number> = {}
  let running = true

  const named = () => Object.fromEntries(fields.map((field, index) => [field, random() < 0.4 ? rules[index] : null]))
  const acts = {
    save: () => either().call(saveSite, siteBody(appId, named()), { token }),
    update: () => either().call(updateSite, { id: pick(sites), ...named() }, { token }),
    remove: () => either().call(deleteSite, { id: pick(sites) }, { token }),
    delete: () => either().call(deleteBillingRule, { id: pick(rules) }, { token }),
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
      await either().call(deleteSite, { id }, { token })
    }
  }
  async function replace() {
    for (const [index, id] of rules.entries()) {
      const answer = await either().call(getBillingRule, { id }, { token })
      if (answer.code === 40002 && rules[index] === id) rules[index] = await newRule(app, index + 1)
    }
  }
  const outcomes = ['save 0', 'save 40002', 'update 0', 'update 40002', 'delete 0', 'delete 40004']
  const isRaced = () => outcomes.every((outcome) => (counts[outcome] ?? 0) > 5)
  const began = performance.now()
  await becomesTrue(async () => {
    const dangling = await danglingSites()
    if (dangling.length > 0) wrong.push(`dangling: ${JSON.stringify(dangling)}`)
    return performance.now() - began > atScale(1500, 8000) && isRaced()
  })
  running = false
  await Promise.all(workers)
  tell(
    Object.entries(counts)
      .toSorted()
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
  )
  expect(wrong, said).toEqual([])
  expect(isRaced(), `${said}: ${JSON.stringify(counts)}`).toBe(true)
  expect(contradictions(await eventsOf(app)), said).toEqual([])
  expect(await danglingSites()).toEqual([])
})

async function eventsOf({ token }: TestApplication): Promise<EventRecord[]> {
  const events: EventRecord[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: Static<typeof pageEvents.data> } = await either().call(
      pageEvents,
      { pageSize: 100, cursor },
      { token },
    )
    events.push(...page.data.list)
    cursor = page.data.nextCursor
  }
  return events
}

/** Replays the log: each event must be possible after those before it. */
function contradictions(events: EventRecord[]): string[] {
  const rules = new Set<number>()
  const sites = new Map<number, SiteRecord>()
  return events.flatMap(({ id, type, data }) => {
    const record = data as SiteRecord
    if (type === 'billingRule.created') rules.add(record.id)
    if (type === 'billingRule.deleted') rules.delete(record.id)
    if (type === 'site.created' || type === 'site.updated') sites.set(record.id, record)
    if (type === 'site.deleted') sites.delete(record.id)
    return [...sites.values()].flatMap((site) =>
      fields.flatMap((field) => {
        const rule = site[field]
        return rule === null || rules.has(rule) ? [] : [`event ${id}, ${type}: site ${site.id} names ${rule}`]
      }),
    )
  })
}

/** A record that two callers have read with its ETag and then change. */
interface Contended {
  read(client: Client): Promise<Answer<unknown>>
  rename(client: Client, name: string, etag: string): Promise<Answer<unknown>>
  remove(client: Client, etag: string): Promise<Answer<unknown>>
}

const kinds: { what: string; notFound: number; make(app: TestApplication): Promise<Contended> }[] = [
  {
    what: 'site',
    notFound: 30002,
    async make(app) {
      const { id } = await newSite(app)
      return {
        read: (client) => client.call(getSite, { id }, { token: app.token }),
        rename: (client, siteName, etag) => client.call(updateSite, { id, siteName }, matching(app, etag)),
        remove: (client, etag) => client.call(deleteSite, { id }, matching(app, etag)),
      }
    },
  },
  {
    what: 'billing rule',
    notFound: 40002,
    async make(app) {
      const id = await newRule(app, 1)
      return {
        read: (client) => client.call(getBillingRule, { id }, { token: app.token }),
        rename: (client, ruleName, etag) => client.call(updateBillingRule, { id, ruleName }, matching(app, etag)),
        remove: (client, etag) => client.call(deleteBillingRule, { id }, matching(app, etag)),
      }
    },
  },
  {
    what: 'device',
    notFound: 20002,
    async make(app) {
      const body = deviceBody(app.appId)
      const { deviceNo } = body
      expect((await either().call(createDevice, body, { token: app.token })).code).toBe(0)
      return {
        read: (client) => client.call(getDevice, { deviceNo }, { token: app.token }),
        rename: (client, deviceName, etag) => client.call(updateDevice, { deviceNo, deviceName }, matching(app, etag)),
        remove: (client, etag) => client.call(unbindDevice, { deviceNo }, matching(app, etag)),
      }
    },
  },
]

function matching({ token }: TestApplication, etag: string) {
  return { token, headers: { 'if-match': etag } }
}

const etagOf = ({ headers }: Answer<unknown>) => headers.get('etag') ?? ''

describe.each(kinds)('with one ETag of a $what', ({ what, notFound, make }) => {
  test('of two updates at once exactly one succeeds, and the other is preconditionFailed', async () => {
    const app = await newApplication(clients[0])
    const wins = [0, 0]
    for (let round = 0; round < atScale(6, 40); round++) {
      const { read, rename } = await make(app)
      const etag = etagOf(await read(either()))
      const answers = await Promise.all(clients.map((client, index) => rename(client, `by ${index}`, etag)))
      const told = `${said}, round ${round}: ${answers.map(({ text }) => text)}`
      expect(answers.map(({ code }) => code).toSorted(), told).toEqual([0, 10009])
      const winner = answers.findIndex(({ code }) => code === 0)
      wins[winner] = (wins[winner] ?? 0) + 1
      const now = await read(either())
      expect([now.data, etagOf(now)], told).toEqual([answers[winner]?.data, etagOf(answers[winner] as typeof now)])
      expect(now.text, told).toContain(`"by ${winner}"`)
    }
    tell(`${what}: the first process won ${wins[0]} times, the second ${wins[1]} times`)
  })

  test('of an update and a delete at once exactly one succeeds', async () => {
    const app = await newApplication(clients[0])
    const wins = { update: 0, delete: 0 }
    for (let round = 0; round < atScale(6, 40); round++) {
      const { read, rename, remove } = await make(app)
      const etag = etagOf(await read(either()))
      const [one, other] = round % 2 === 0 ? clients : clients.toReversed()
      const sent = [() => rename(one as Client, 'renamed', etag), () => remove(other as Client, etag)]
      const [updated, removed] = await Promise.all(sent.map((send) => anyMoment(random, 2).then(send)))
      const told = `${said}, round ${round}: ${updated?.text} ${removed?.text}`
      const codes = [updated?.code, removed?.code, (await read(either())).code]
      if (removed?.code === 0) expect(codes, told).toEqual([notFound, 0, notFound])
      else expect(codes, told).toEqual([0, 10009, 0])
      wins[removed?.code === 0 ? 'delete' : 'update']++
    }
    tell(`${what}: the update won ${wins.update} times, the delete ${wins.delete} times`)
  })
})
