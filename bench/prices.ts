// Prices of very many sites that change at one moment: how late reads are, how long it takes until all rows and events
// are written, and how much slower creates and updates are meanwhile. One service on its embedded database.
//
//   bun bench/prices.ts [--applications 200] [--sites 1000] [--creators 64] [--runtime node] [--workers 2]
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { type Answer, Client } from '../test/kit/client.ts'
import { embeddedConnection } from '../test/kit/database.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'

const { values } = parseArgs({
  options: {
    applications: { type: 'string', default: '200' },
    sites: { type: 'string', default: '1000' },
    creators: { type: 'string', default: '64' },
    runtime: { type: 'string', default: 'bun' },
    workers: { type: 'string', default: '1' },
  },
})
const [applications, sitesOfEach, creators] = [
  Number(values.applications),
  Number(values.sites),
  Number(values.creators),
]
/** Applications that are made at once. */
const sideBySide = 4

const service = await startService({
  runtime: values.runtime === 'node' ? 'node' : 'bun',
  env: { FORECOURT_WORKERS: values.workers },
})
const client = new Client(service)
const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
const sql = postgres({ ...connection, max: 1, max_lifetime: null, onnotice: () => {} })
const tell = (words: string) => process.stdout.write(`${words}\n`)

async function done<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { code, text, data } = await answer
  if (code !== 0) throw new Error(text)
  return data
}

/**
 * The same for a request that may be repeated while the service is overloaded, because a refused one created nothing.
 */
async function made<Data>(send: () => Promise<Answer<Data>>): Promise<Data> {
  for (;;) {
    const answer = await send()
    if (answer.code !== 50003) return done(Promise.resolve(answer))
    await Bun.sleep(200)
  }
}

/** An application whose sites have one rule, and are to get another. */
interface Owner {
  app: TestApplication
  given: number
  sites: number[]
}

async function newOwner(): Promise<Owner> {
  const app = await newApplication(client)
  const periods = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }]
  const newRule = async () =>
    (await made(() => client.call('saveBillingRule', { ruleName: 'rule', ruleType: 1, periods }, app))).id
  const [had, given] = [await newRule(), await newRule()]
  const sites: number[] = []
  while (sites.length < sitesOfEach) {
    const rows = Array.from({ length: Math.min(1000, sitesOfEach - sites.length) }, () => ({
      ...siteBody('', { fastChargeBillRuleId: had }),
      appId: undefined,
    }))
    const { results } = await made(() => client.call('saveSites', { sites: rows }, app))
    sites.push(...results.map((row) => (row.data as { id: number }).id))
  }
  return { app, given, sites }
}

/** Runs a function for each item, some of them at the same time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(
    Array.from({ length: sideBySide }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
    }),
  )
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
const distribution = (took: number[]) => {
  const sorted = took.toSorted((a, b) => a - b)
  return `p50 ${at(sorted, 0.5).toFixed(1)} ms, p99 ${at(sorted, 0.99).toFixed(1)} ms, longest ${at(sorted, 1).toFixed(0)} ms`
}

/** Repeats requests until it is stopped. Returns how long each took. */
function repeat(count: number, send: () => Promise<Answer<unknown>>) {
  let isOver = false
  const took: number[] = []
  const running = Array.from({ length: count }, async () => {
    while (!isOver) {
      const beganAt = performance.now()
      const { code, text } = await send()
      if (code !== 0) throw new Error(text)
      took.push(performance.now() - beganAt)
    }
  })
  const beganAt = performance.now()
  return async () => {
    isOver = true
    await Promise.all(running)
    return { took, perSecond: (took.length * 1000) / (performance.now() - beganAt) }
  }
}

const beganAt = performance.now()
const owners: Owner[] = []
await forEach([...Array(applications).keys()], async () => {
  owners.push(await newOwner())
})
await sql`vacuum analyze`
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1)
tell(`${applications} applications with ${sitesOfEach} sites each are there after ${seconds(beganAt)} s`)

// The first change is scheduled alone, to find out how long all of them take.
const effectiveAt = (inMs: number) => Math.ceil((Date.now() + inMs) / 1000) * 1000
const schedule = (moment: number) => async (owner: Owner) => {
  const effectiveTime = new Date(moment).toISOString()
  const rules = { fastChargeBillRuleId: owner.given }
  await done(client.call('schedulePriceChange', { effectiveTime, sites: { all: true }, rules }, owner.app))
}
const [first, ...others] = owners as [Owner, ...Owner[]]
const probedAt = performance.now()
await schedule(Date.now() + 86_400_000 - (Date.now() % 1000))(first)
const measuredMs = 10_000
const moment = effectiveAt((performance.now() - probedAt) * applications * 2 + measuredMs + 10_000)
const scheduledAt = performance.now()
await forEach([first, ...others], schedule(moment))
tell(`scheduled for one moment after ${seconds(scheduledAt)} s`)

const beside = await newApplication(client)
const create = () => client.call('createDevice', deviceBody(beside.appId), beside)
/** Updates the sites whose prices change, one after the other. */
const update = () => {
  const { app, sites } = owners[Math.floor(Math.random() * owners.length)] as Owner
  const id = sites[Math.floor(Math.random() * sites.length)]
  return client.call('updateSite', { id, siteName: newSerial('site') }, app)
}
const measure = async (during: () => Promise<unknown>) => {
  const [stopCreates, stopUpdates] = [repeat(creators, create), repeat(1, update)]
  await during()
  return { creates: await stopCreates(), updates: await stopUpdates() }
}
const quiet = await measure(() => Bun.sleep(measuredMs))
const leftMs = moment - Date.now()
if (leftMs < 1_000) throw new Error(`The moment is ${-leftMs} ms ago: the machine is too busy to schedule everything.`)
await Bun.sleep(leftMs - 1_000)

/** Reads prices of sites around the moment until all is written down. */
async function watch(): Promise<{ late: number; took: number[] }> {
  let late = 0
  const took: number[] = []
  const isLeft = async () =>
    (await sql`select 1 from price_change where applied_at is null and effective_at <= now() limit 1`).length > 0
  for (let reads = 0; Date.now() < moment + 1_000 || (await isLeft()); reads++) {
    const { app, given, sites } = owners[reads % owners.length] as Owner
    const id = sites[Math.floor(Math.random() * sites.length)]
    const sentAt = Date.now()
    const beganAt = performance.now()
    const { fast } = await done(client.call('getSitePrices', { id }, app))
    took.push(performance.now() - beganAt)
    if (sentAt >= moment && fast?.billingRuleId !== given) late++
    if (fast?.billingRuleId === given && Date.now() < moment) throw new Error('A price was in force too early.')
  }
  return { late, took }
}
let seen = { late: 0, took: [] as number[] }
const busy = await measure(async () => {
  seen = await watch()
})
const [written] = await sql`
  select extract(epoch from max(applied_at) - max(effective_at))::float8 as seconds, count(*)::int as changes from price_change
  where applied_at is not null`
const [told] = await sql`
  select count(*)::int as events from event where actor = 'platform:prices' and type = 'site.updated'`
tell(
  `${written?.changes} price changes, ${told?.events} sites: written down and told ${written?.seconds.toFixed(1)} s behind the moment`,
)
tell(`reads of prices meanwhile: ${seen.took.length}, ${seen.late} late; ${distribution(seen.took)}`)
for (const [what, name] of [
  ['creates', `creates of ${creators} clients`],
  ['updates', 'updates of those sites'],
] as const) {
  const [before, during] = [quiet[what], busy[what]]
  const kept = (during.perSecond / before.perSecond).toFixed(2)
  tell(
    `${name}: ${before.perSecond.toFixed(0)}/s before (${distribution(before.took)}), ${during.perSecond.toFixed(0)}/s meanwhile (${distribution(during.took)}): ${kept}`,
  )
}
await sql.end()
await service.stop()
