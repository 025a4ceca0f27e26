import { afterAll, beforeAll, expect } from 'bun:test'
import { existsSync } from 'node:fs'
import type { Static, TObject, TSchema } from 'typebox'
import {
  deleteBillingRule,
  getBillingRule,
  saveBillingRule,
  updateBillingRule,
} from '../../src/billing-rules/contract.ts'
import { deleteSite, saveSite, saveSites, updateSite } from '../../src/sites/contract.ts'
import { cancelPriceChange, schedulePriceChange } from '../../src/sites/price-changes/contract.ts'
import { getSitePrices } from '../../src/sites/prices/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import {
  type Answer,
  Client,
  newApplication,
  newSerial,
  type Service,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { longTest } from '../long.ts'
import { fakeClock, libfaketime } from './clocks.ts'
import { type Asked, type Ended, priceFaults, type Seen } from './price-story.ts'
import { atScale, becomesTrue, type OwnDatabase, randomNumbers, seed, sleepUntil, tell, Workplace } from './support.ts'

// Writes and reads around the moment at which prices change, on several processes: whether a request comes before or
// after it, each change takes effect exactly once or was cancelled, and no read shows old prices.

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
/** Waves of requests, each around a moment of its own. */
const waves = atScale(1, 40)
/** Applications of a wave, and how many requests of each kind each of them sends around the moment. */
const [owners, ofEach] = [4, atScale(6, 13)]
/** How long before and after the moment requests are sent, in milliseconds. */
const aroundMs = 750
/** How much earlier cancels are sent. It changes in favour of the last loser, so that both sides win on any machine. */
let earlierMs = 500

const raced: Operation[] = [
  ...[getBillingRule, updateBillingRule, deleteBillingRule, cancelPriceChange],
  ...[getSitePrices, updateSite, deleteSite, saveSite],
]

let database: OwnDatabase
let env: Record<string, string>
let clients: Client[]

beforeAll(async () => {
  database = await place.findDatabase()
  env = { DATABASE_URL: database.url() }
  clients = await Promise.all([1, 2].map(async () => new Client(await place.startService({ env }))))
  // A first request now: the client prepares the check of an operation's responses at its first one, which must not be
  // at the moment.
  const app = await newApplication(clients[0] as Client)
  for (const operation of raced) await ask(clients, app, operation, { id: 1, reason: 'none' })
}, 120_000)
afterAll(() => place.clear(), 60_000)

const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
const times = <Item>(count: number, make: (index: number) => Promise<Item>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/**
 * Sends a request to one of the processes, and to another one if that was killed, under the same key. Returns the answer
 * with the time at which it was first sent and the time at which the answer came, by the machine's clock, which is the
 * database's.
 */
async function ask<Body extends TObject, Query extends TObject, Data extends TSchema>(
  of: readonly Client[],
  { appId, token }: TestApplication,
  operation: Operation<Body, Query, Data>,
  input: object,
) {
  const sentAt = Date.now()
  const headers = operation.idempotent === true ? { 'idempotency-key': newSerial('key') } : {}
  let left = [...of]
  let answer: Answer<Static<Data>> | undefined
  await becomesTrue(async () => {
    const client = pick(left)
    answer = await client.call(operation, { appId, ...input }, { token, headers }).catch(() => undefined)
    left = left.filter((other) => other !== client)
    if (left.length === 0) left = [...of]
    // A busy machine may refuse a request that has waited too long, or an application's many reads.
    return answer !== undefined && answer.code !== 50003 && answer.code !== 10007
  })
  return { sentAt, answeredAt: Date.now(), answer: answer as Answer<Static<Data>> }
}

type AskedOf = Awaited<ReturnType<typeof ask>>

function required({ answer }: AskedOf): { id: number } {
  if (answer.code !== 0) throw new Error(answer.text)
  return answer.data as { id: number }
}

const periods = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0' }]

/** The operations of an application around the moment. */
interface Owner {
  app: TestApplication
  /** Rules with new terms that wait: read, updated, cancelled, deleted, and named by sites that are created. */
  rules: { read: number[]; updated: number[]; cancelled: number[]; deleted: number[]; named: number[] }
  /** Sites that get another rule: left alone, updated, deleted; those of cancelled changes have one each. */
  sites: { left: number[]; updated: number[]; deleted: number[]; cancelled: number[] }
  /** The rule that sites have, the one that they get, and the one that updates give them. */
  had: number
  given: number
  other: number
  /** The price changes: of a rule by its id, of all sites, and of each cancelled site. */
  ofRule: Map<number, number>
  ofSites: number
  ofSite: Map<number, number>
}

const old = '0.1'
const fresh = '0.2'

async function newOwner(of: readonly Client[]): Promise<Omit<Owner, 'ofRule' | 'ofSites' | 'ofSite'>> {
  const app = await newApplication(pick(of))
  const newRule = async () =>
    required(await ask(of, app, saveBillingRule, { ruleName: 'rule', ruleType: 1, periods: periods(old) })).id
  const newRules = (count: number) => times(count, newRule)
  const [had, given, other] = (await newRules(3)) as [number, number, number]
  const newSites = async (count: number, fastChargeBillRuleId: number) => {
    const sites = Array.from({ length: count }, () => ({ ...siteBody('', { fastChargeBillRuleId }), appId: undefined }))
    const { answer } = await ask(of, app, saveSites, { sites })
    return answer.data.results.map((row) => (row.data as { id: number }).id)
  }
  const read = await newRules(2)
  for (const rule of read) await newSites(1, rule)
  const rules = {
    read,
    updated: await newRules(ofEach),
    cancelled: await newRules(Math.ceil(ofEach / 2)),
    deleted: await newRules(ofEach),
    named: await newRules(2),
  }
  const sites = {
    left: await newSites(2, had),
    updated: await newSites(ofEach, had),
    deleted: await newSites(ofEach, had),
    cancelled: await newSites(Math.floor(ofEach / 2), had),
  }
  return { app, rules, sites, had, given, other }
}

/** Schedules all changes for a moment. Returns undefined if the moment came too soon. */
async function scheduleAll(
  of: readonly Client[],
  owner: Awaited<ReturnType<typeof newOwner>>,
  moment: number,
): Promise<Owner | undefined> {
  const { app, rules, sites, given } = owner
  const effectiveTime = new Date(moment).toISOString()
  const schedule = async (members: object) => {
    const { answer } = await ask(of, app, schedulePriceChange, { effectiveTime, ...members })
    if (answer.code !== 0 && answer.code !== 10001) throw new Error(answer.text)
    return answer.code === 0 ? (answer.data as { id: number }).id : 0
  }
  const toGiven = { rules: { fastChargeBillRuleId: given } }
  const ofRule = new Map<number, number>()
  for (const id of Object.values(rules).flat()) {
    ofRule.set(id, await schedule({ billingRuleId: id, periods: periods(fresh) }))
  }
  const ids = [...sites.left, ...sites.updated, ...sites.deleted]
  const ofSites = await schedule({ sites: { ids }, ...toGiven })
  const ofSite = new Map<number, number>()
  for (const id of sites.cancelled) ofSite.set(id, await schedule({ sites: { ids: [id] }, ...toGiven }))
  const isWhole = [...ofRule.values(), ofSites, ...ofSite.values()].every((id) => id > 0)
  return isWhole ? { ...owner, ofRule, ofSites, ofSite } : undefined
}

/** New applications with price changes at one moment, which is far enough ahead for the present load of the machine. */
async function newWave(of: readonly Client[]): Promise<{ moment: number; owners: Owner[] }> {
  for (let leadMs = 2_000; ; leadMs *= 2) {
    const made = await times(owners, () => newOwner(of))
    const moment = Math.ceil((Date.now() + leadMs) / 1000) * 1000
    const scheduled = await Promise.all(made.map((owner) => scheduleAll(of, owner, moment)))
    if (scheduled.every((owner) => owner !== undefined) && Date.now() < moment - aroundMs - earlierMs) {
      return { moment, owners: scheduled as Owner[] }
    }
    if (leadMs > 60_000) throw new Error('the machine is too busy to schedule anything')
  }
}

/** Sends the requests of an application around the moment. */
async function race(of: readonly Client[], owner: Owner, moment: number) {
  const { app, rules, sites, other } = owner
  const around = async <Input, Told>(inputs: readonly Input[], send: (input: Input) => Promise<Told>, lead = 0) =>
    Promise.all(
      inputs.map(async (input) => {
        await sleepUntil(moment - lead + (random() * 2 - 1) * aroundMs)
        return send(input)
      }),
    )
  const asked = (operation: Operation, inputOf: (id: number) => object) => async (id: number) => {
    const { sentAt, answeredAt, answer } = await ask(of, app, operation, inputOf(id))
    return { id, sentAt, answeredAt, code: answer.code, text: answer.text } satisfies Asked
  }
  const changes = [
    ...rules.cancelled.map((id) => owner.ofRule.get(id) as number),
    ...sites.cancelled.map((id) => owner.ofSite.get(id) as number),
  ]
  const [updatedRules, deletedRules, cancels, updatedSites, deletedSites, created] = await Promise.all([
    around(
      rules.updated,
      asked(updateBillingRule, (id) => ({ id, periods: periods('0.3') })),
    ),
    around(
      rules.deleted,
      asked(deleteBillingRule, (id) => ({ id })),
    ),
    around(
      changes,
      asked(cancelPriceChange, (id) => ({ id, reason: 'race' })),
      earlierMs,
    ),
    around(
      sites.updated,
      asked(updateSite, (id) => ({ id, fastChargeBillRuleId: other })),
    ),
    around(
      sites.deleted,
      asked(deleteSite, (id) => ({ id })),
    ),
    around(
      Array.from({ length: ofEach }, () => pick(rules.named)),
      asked(saveSite, (id) => siteBody(app.appId, { fastChargeBillRuleId: id })),
    ),
  ])
  return { updatedRules, deletedRules, cancels, updatedSites, deletedSites, created }
}

/** Reads rules and the prices of sites around the moment, over and over. */
async function watch(of: readonly Client[], owner: Owner, moment: number, seen: Seen[]): Promise<void> {
  const { app, rules, sites } = owner
  const readRule = async (id: number) => {
    const { answer, ...when } = await ask(of, app, getBillingRule, { id })
    if (answer.code === 0) seen.push({ change: owner.ofRule.get(id) as number, isNew: isFresh(answer.data), ...when })
  }
  const readSite = async (id: number, change: number) => {
    const { answer, ...when } = await ask(of, app, getSitePrices, { id })
    if (answer.code === 0) seen.push({ change, isNew: answer.data.fast?.billingRuleId === owner.given, ...when })
  }
  await sleepUntil(moment - aroundMs)
  while (Date.now() < moment + aroundMs) {
    await readRule(pick([...rules.read, ...rules.cancelled]))
    const site = pick([...sites.left, ...sites.cancelled])
    await readSite(site, owner.ofSite.get(site) ?? owner.ofSites)
  }
}

const isFresh = (rule: { periods: { electricityPrice: string }[] | null }) =>
  rule.periods?.[0]?.electricityPrice === fresh

/** Runs one wave, with `atMoment` at its moment, and expects no faults. Returns the numbers of requests by outcome. */
async function wave(
  of: readonly Client[],
  atMoment: (moment: number) => Promise<void> = async () => {},
): Promise<Map<string, number>> {
  const { moment, owners } = await newWave(of)
  const seen: Seen[] = []
  const [striking, ...races] = [
    atMoment(moment),
    ...owners.map(async (owner): Promise<Ended> => {
      const [raced] = await Promise.all([race(of, owner, moment), watch(of, owner, moment, seen)])
      return { owner, ...raced }
    }),
  ]
  const ended = await Promise.all(races)
  await striking
  const isWritten = async () =>
    (await database
      .run(
        (sql) => sql`
        select 1 from price_change
        where applied_at is null and cancelled_at is null and effective_at <= now() limit 1`,
      )
      .then((rows) => rows.length)) === 0
  expect(await becomesTrue(isWritten, 30_000), `${said}: what came due is written down`).toBe(true)
  for (const one of ended) {
    const faults = await database.run((sql) => priceFaults(sql, one, { moment, fresh, seen }))
    expect(faults, said).toEqual([])
  }
  const cancelled = ended.flatMap(({ cancels }) => cancels.map(({ code }) => code === 0))
  earlierMs += cancelled.filter((isDone) => isDone).length < cancelled.length / 2 ? 250 : -250
  const outcomes = new Map<string, number>()
  const count = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  for (const { owner: _, ...kinds } of ended) {
    for (const [kind, asked] of Object.entries(kinds)) for (const { code } of asked) count(`${kind} ${code}`)
  }
  for (const { sentAt, answeredAt } of seen) {
    count(answeredAt < moment ? 'reads before' : sentAt >= moment ? 'reads behind' : 'reads across the moment')
  }
  return outcomes
}

/** Runs waves until there was a race: some cancels before the moment, and some after it. Prints the outcomes. */
async function runWaves(name: string, run: () => Promise<Map<string, number>>): Promise<void> {
  const total = new Map<string, number>()
  const wasRaced = () => total.has('cancels 0') && total.has('cancels 40006')
  for (let round = 0; round < waves || (!wasRaced() && round < waves + 5); round++) {
    for (const [outcome, count] of await run()) total.set(outcome, (total.get(outcome) ?? 0) + count)
  }
  tell(`${name}: ${[...total].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}`)
  expect(wasRaced(), said).toBe(true)
}

longTest(
  `around ${waves} moments, each change effective from once or was cancelled, and no read is late`,
  async () => {
    await runWaves('two processes', () => wave(clients))
  },
  1_800_000,
)

const hasFaketime = existsSync(libfaketime)
if (!hasFaketime) tell(`without libfaketime (${libfaketime}) no process has a clock of its own`)

longTest(
  'the same while one process has a clock an hour ahead and another one is killed at the moment',
  async () => {
    const early = new Client(await place.startService({ env: { ...env, ...(hasFaketime && fakeClock('+1h')) } }))
    await runWaves('three processes', async () => {
      const victim: Service = await place.startService({ env })
      return wave([clients[0] as Client, early, new Client(victim)], async (moment) => {
        await sleepUntil(moment + (random() - 0.3) * 100)
        await victim.kill('SIGKILL')
      })
    })
  },
  3_600_000,
)
