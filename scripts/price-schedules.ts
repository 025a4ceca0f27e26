import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import postgres from 'postgres'
import {
  deleteBillingRule,
  getBillingRule,
  pageBillingRules,
  saveBillingRule,
  updateBillingRule,
} from '../src/billing-rules/contract.ts'
import { tryLock } from '../src/database/advisory-lock.ts'
import type { Statements } from '../src/database/open.ts'
import { pageEvents } from '../src/events/contract.ts'
import { deleteSite, getSite, pageSites, saveSite, saveSites, updateSite, updateSites } from '../src/sites/contract.ts'
import {
  cancelPriceChange,
  getPriceChange,
  pagePriceChanges,
  schedulePriceChange,
  undoPriceChange,
} from '../src/sites/price-changes/contract.ts'
import { getSitePrices } from '../src/sites/prices/contract.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { type Answer, Client } from '../test/kit/client.ts'
import { libfaketime, movedClock } from '../test/kit/clock.ts'
import { OldestServer } from '../test/kit/oldest-server.ts'
import { newApplication, siteBody, type TestApplication } from '../test/kit/records.ts'
import { randomNumbers } from '../test/kit/scale.ts'
import { becomesTrue, sleep } from '../test/kit/waits.ts'
import { Workplace } from '../test/kit/workplace.ts'

// Sends the same random schedule of saves, updates, price changes, cancels, undos and deletions to this checkout and to
// another one, and compares what both answer: each response, the prices of each site at each second, the pages, and at
// the end the events. Each seed is a new application with schedules of its own. Seeds with an odd number keep the worker
// from writing price changes down; each fifth one has more sites than one transaction writes.
//
//   bun scripts/price-schedules.ts --against DIR [--first 1] [--seeds 5] [--steps 150]
//
// Both have databases of one PostgreSQL 15 (as Debian installs it), and a clock that this program alone moves
// (libfaketime), so that they agree to the millisecond.

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    first: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '5' },
    steps: { type: 'string', default: '150' },
  },
})
if (values.against === undefined) throw new Error('--against needs the folder of another checkout')
if (!existsSync(libfaketime)) throw new Error(`There is no ${libfaketime}.`)

const manySites = 1_100

type Noun = 'rule' | 'site' | 'change'
type Members = Record<string, unknown>

const nounOf: Record<string, Noun> = {
  billingRuleId: 'rule',
  fastChargeBillRuleId: 'rule',
  rushingBillRuleId: 'rule',
  placeholderBillRuleId: 'rule',
  siteId: 'site',
  undoOf: 'change',
  priceChangeId: 'change',
}
const nounOfEvent = (type: string): Noun | undefined =>
  (({ billingRule: 'rule', site: 'site', priceChange: 'change' }) as Record<string, Noun>)[type.split('.')[0] as string]

/** One of the two services, with names for its ids, which differ. */
class Side {
  readonly client: Client
  readonly sql: postgres.Sql
  app!: TestApplication
  private readonly names = new Map<string, string>()
  private readonly ids = new Map<string, number>()
  private readonly counts: Record<Noun, number> = { rule: 0, site: 0, change: 0 }

  constructor(client: Client, host: string, database: string) {
    this.client = client
    this.sql = postgres({ host, user: 'forecourt', database, max: 2, max_lifetime: null, onnotice: () => {} })
  }

  nameOf(noun: Noun, id: number): string {
    const known = this.names.get(`${noun} ${id}`)
    if (known !== undefined) return known
    this.counts[noun]++
    const name = `${noun}${this.counts[noun]}`
    this.names.set(`${noun} ${id}`, name)
    this.ids.set(name, id)
    return name
  }

  /** The id behind a name; of a name that nothing has, an id that nothing has. */
  readonly idOf = (name: string) => this.ids.get(name) ?? 999_999_999

  /** What was answered, with names in the place of ids, and without what depends on when the worker has come. */
  shown(value: unknown, noun?: Noun, key = ''): unknown {
    if (typeof value === 'string') return value.replaceAll(this.app.appId, 'app')
    if (typeof value === 'number') {
      const named = key === 'id' ? noun : nounOf[key]
      return named === undefined ? value : this.nameOf(named, value)
    }
    if (Array.isArray(value)) return value.map((item) => this.shown(item, noun))
    if (typeof value !== 'object' || value === null) return value
    const { type, actor, data } = value as Members
    // Events, without their times and ids.
    if (typeof type === 'string' && typeof actor === 'string')
      return { type, actor: this.shown(actor), data: this.shown(data, nounOfEvent(type)) }
    // The count of a cancelled price change fell with the deletion of sites until a cancel removed its rows.
    const dropped = ['nextCursor', 'appliedTime', ...((value as Members).status === 3 ? ['siteCount'] : [])]
    // The words of a refused row.
    dropped.push('msg', ...('field' in value ? ['reason'] : []))
    const kept = Object.entries(value).filter(([member]) => !dropped.includes(member))
    return Object.fromEntries(kept.map(([member, of]) => [member, this.shown(of, noun, member)]))
  }
}

/** The clock of the services and their databases. It stands still between its moves. */
class Clock {
  ms = Date.parse('2027-03-01T00:00:00Z')
  private readonly file: string

  constructor(file: string) {
    this.file = file
    this.move(0)
  }

  move(byMs: number): void {
    this.ms += byMs
    writeFileSync(`${this.file}.new`, new Date(this.ms).toISOString().replace('T', ' ').replace('Z', ''), {
      mode: 0o644,
    })
    renameSync(`${this.file}.new`, this.file)
  }

  get second(): number {
    return Math.floor(this.ms / 1000)
  }
}

class Differs extends Error {}

class Walk {
  private readonly sides: readonly [Side, Side]
  private readonly random: () => number
  private readonly said: string
  private readonly rules = new Map<string, 1 | 2 | 3>()
  private readonly sites = new Set<string>()
  private readonly changes: string[] = []
  /** When changes take effect, but for undos. */
  private readonly moments = new Map<string, number>()
  private readonly etags = new Map<string, [string, string]>()
  private readonly clock: Clock
  private readonly startedAt: number
  readonly counts = new Map<string, number>()
  private readonly log: string[] = []

  constructor(sides: readonly [Side, Side], clock: Clock, seed: number) {
    this.sides = sides
    this.clock = clock
    this.startedAt = clock.second
    this.random = randomNumbers(seed)
    this.said = `seed ${seed}`
  }

  private below = (limit: number) => Math.floor(this.random() * limit)
  private chance = (share: number) => this.random() < share
  private pick<Item>(items: Iterable<Item>): Item {
    const all = [...items]
    return all[this.below(all.length)] as Item
  }

  /** Sends a request to both, and compares the answers. Ids in `input` are made by each side. */
  private async ask(
    // biome-ignore lint/suspicious/noExplicitAny: any operation
    operation: Operation<any, any, any>,
    input: (idOf: (name: string) => number, side: 0 | 1) => Members,
    { noun, isQuiet = false }: { noun?: Noun; isQuiet?: boolean } = {},
  ): Promise<Answer<Members>> {
    const answers = await Promise.all(
      this.sides.map(async (side, place) => {
        const { ifMatch, ...members } = input(side.idOf, place as 0 | 1)
        const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch as string }
        const { appId, token } = side.app
        for (;;) {
          const answer = await side.client.call(operation, { appId, ...members }, { token, headers })
          // Nothing of it has begun.
          if (answer.code !== 50003) return answer as Answer<Members>
          await sleep(50)
        }
      }),
    )
    const [one, other] = answers as [Answer<Members>, Answer<Members>]
    const shown = answers.map(({ status, code, data }, place) => {
      const fields = ((data as Members | null)?.errors as { field: string }[] | undefined)?.map(({ field }) => field)
      return { status, code, data: code === 0 ? (this.sides[place] as Side).shown(data, noun) : fields }
    })
    const asked = `${operation.id} ${JSON.stringify(input((name) => name as unknown as number, 0)).slice(0, 1_000)}`
    if (!isQuiet) this.log.push(`${new Date(this.clock.ms).toISOString()} ${asked}: ${one.code}`)
    if (!isDeepStrictEqual(shown[0], shown[1])) {
      const texts = shown.map((text) => JSON.stringify(text, null, 1).split('\n'))
      const at = (texts[0] as string[]).findIndex((line, place) => line !== texts[1]?.[place])
      const around = texts.map((lines) => lines.slice(Math.max(0, at - 30), at + 12).join('\n'))
      throw new Differs(
        `${this.said}: ${asked}\n${this.log.slice(-80).join('\n')}\nthe other:\n${around[0]}\nthis:\n${around[1]}\n${one.text.slice(0, 500)}\n${other.text.slice(0, 500)}`,
      )
    }
    const what = `${operation.id} ${one.code}`
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
    return one
  }

  private nameOf = (noun: Noun, id: unknown) => (this.sides[0] as Side).nameOf(noun, id as number)

  private periods(): Members[] {
    const price = () => this.pick(['0.5', '1', '2'])
    const day = { startTime: '00:00:00', electricityPrice: price(), servicePrice: '0' }
    return this.chance(0.7) ? [day] : [day, { startTime: '12:00:00', electricityPrice: price(), servicePrice: '0' }]
  }

  private terms(type: 1 | 2 | 3): Members {
    if (type !== 3) return { periods: this.periods() }
    return { freeMinutes: this.pick([0, 30]), unitMinutes: 60, unitPrice: this.pick(['1', '2']) }
  }

  async newRule(type = this.pick([1, 1, 1, 2, 3] as const)): Promise<void> {
    const terms = this.terms(type)
    const { code, data } = await this.ask(saveBillingRule, () => ({ ruleName: 'a', ruleType: type, ...terms }), {
      noun: 'rule',
    })
    if (code === 0) this.rules.set(this.nameOf('rule', data.id), type)
  }

  /** Rules for fields of a site: nearly always such as fit. */
  private given(share: number, unfitShare = 0.03): Record<string, string | null> {
    const ofType = (type: number) => [...this.rules].flatMap(([name, own]) => (own === type ? [name] : []))
    const fields = [
      ['fastChargeBillRuleId', 1],
      ['rushingBillRuleId', 2],
      ['placeholderBillRuleId', 3],
    ] as const
    return Object.fromEntries(
      fields.flatMap(([field, type]) => {
        if (!this.chance(type === 1 ? share + 0.3 : share)) return []
        const fitting = this.chance(unfitShare) ? [...this.rules.keys()] : ofType(type)
        return [[field, this.chance(0.15) || fitting.length === 0 ? null : this.pick(fitting)]]
      }),
    )
  }

  private withIds = (given: Record<string, string | null>, idOf: (name: string) => number) =>
    Object.fromEntries(Object.entries(given).map(([field, name]) => [field, name === null ? null : idOf(name)]))

  private place = () => this.pick([{}, {}, { districtCode: '360103', districtName: '西湖区' }])

  async newSite(): Promise<void> {
    const [given, place] = [this.given(0.4), this.place()]
    const body = (idOf: (name: string) => number, side: 0 | 1) =>
      siteBody((this.sides[side] as Side).app.appId, { ...this.withIds(given, idOf), ...place })
    const { code, data } = await this.ask(saveSite, (idOf, side) => ({ ...body(idOf, side) }), { noun: 'site' })
    if (code === 0) this.sites.add(this.nameOf('site', data.id))
  }

  async newSites(count: number): Promise<void> {
    const given = this.given(0.6, 0)
    for (let left = count; left > 0; left -= 550) {
      const { data } = await this.ask(
        saveSites,
        (idOf) => ({
          sites: Array.from({ length: Math.min(left, 550) }, () => {
            const { appId: _, ...row } = siteBody('', this.withIds(given, idOf))
            return row
          }),
        }),
        { noun: 'site' },
      )
      for (const row of data.results as { data: Members }[]) this.sites.add(this.nameOf('site', row.data.id))
    }
  }

  async updateRule(): Promise<void> {
    const [name, type] = this.pick(this.rules)
    const etag = this.chance(0.3) ? this.etags.get(name) : undefined
    const change = this.chance(0.8) ? this.terms(type) : { ruleName: this.pick(['a', 'b']) }
    await this.ask(
      updateBillingRule,
      (idOf, side) => ({ id: idOf(name), ...change, ...(etag && { ifMatch: etag[side] }) }),
      { noun: 'rule' },
    )
  }

  async updateSite(): Promise<void> {
    const name = this.pick(this.sites)
    const given = this.chance(0.7) ? this.given(0.4) : { siteName: this.pick(['x', 'y']) }
    const isText = 'siteName' in given
    await this.ask(
      updateSite,
      (idOf) => ({ id: idOf(name), ...(isText ? given : this.withIds(given as Record<string, string | null>, idOf)) }),
      { noun: 'site' },
    )
  }

  async updateSites(): Promise<void> {
    const rows = Array.from({ length: 1 + this.below(4) }, () => [this.pick(this.sites), this.given(0.4)] as const)
    await this.ask(
      updateSites,
      (idOf) => ({ sites: rows.map(([name, given]) => ({ id: idOf(name), ...this.withIds(given, idOf) })) }),
      { noun: 'site' },
    )
  }

  private moment(): string {
    const ahead = this.chance(0.75) ? 1 + this.below(4) : this.chance(0.5) ? 3600 : 86_400 * this.below(800)
    return new Date((this.clock.second + ahead) * 1000).toISOString().replace('.000', '')
  }

  private async schedule(members: (idOf: (name: string) => number) => Members): Promise<void> {
    const [effectiveTime, dryRun] = [this.moment(), this.chance(0.12)]
    const asked = (idOf: (name: string) => number) => ({ effectiveTime, ...members(idOf), ...(dryRun && { dryRun }) })
    const { code, data } = await this.ask(schedulePriceChange, asked, { noun: 'change' })
    if (code !== 0 || dryRun) return
    const name = this.nameOf('change', data.id)
    this.changes.push(name)
    this.moments.set(name, Date.parse(effectiveTime))
  }

  async scheduleTerms(): Promise<void> {
    const [name, type] = this.pick(this.rules)
    const terms = this.terms(this.chance(0.04) ? 3 : type)
    await this.schedule((idOf) => ({ billingRuleId: idOf(name), ...terms }))
  }

  async scheduleRules(): Promise<void> {
    const given = this.given(0.3)
    const names = Array.from({ length: 1 + this.below(4) }, () => this.pick(this.sites))
    const rule = this.pick(this.rules.keys())
    const form = this.below(5)
    await this.schedule((idOf) => {
      const chosen =
        form < 2
          ? { ids: names.map(idOf) }
          : form < 3
            ? { all: true }
            : form < 4
              ? { districtCode: '360103' }
              : { billingRuleId: idOf(rule) }
      return { sites: chosen, rules: this.withIds(given, idOf) }
    })
  }

  async cancel(): Promise<void> {
    if (this.changes.length === 0) return
    const name = this.chance(0.7) ? (this.changes.at(-1 - this.below(3)) ?? 'none') : this.pick(this.changes)
    await this.ask(cancelPriceChange, (idOf) => ({ id: idOf(name), reason: 'no' }), { noun: 'change' })
  }

  async undo(): Promise<void> {
    if (this.changes.length === 0) return
    const inForce = this.changes.filter((change) => (this.moments.get(change) ?? 0) <= this.clock.ms)
    const isLikely = this.chance(0.8) && inForce.length > 0
    const name = isLikely ? (inForce.at(-1 - this.below(4)) ?? 'none') : this.pick(this.changes)
    const { code, data } = await this.ask(undoPriceChange, (idOf) => ({ id: idOf(name), reason: 'back' }), {
      noun: 'change',
    })
    if (code === 0) this.changes.push(this.nameOf('change', data.id))
  }

  async deleteSite(): Promise<void> {
    if (this.sites.size < 4) return
    const name = this.pick(this.sites)
    const { code } = await this.ask(deleteSite, (idOf) => ({ id: idOf(name) }), { noun: 'site' })
    if (code === 0) this.sites.delete(name)
  }

  async deleteRule(): Promise<void> {
    if (this.rules.size < 4) return
    const name = this.pick(this.rules.keys())
    const { code } = await this.ask(deleteBillingRule, (idOf) => ({ id: idOf(name) }), { noun: 'rule' })
    if (code === 0) this.rules.delete(name)
  }

  /** Reads the prices of a site now, or at a second between the start and some seconds ahead. */
  async readPrices(name = this.pick(this.sites), second?: number): Promise<void> {
    const ahead = this.clock.second - this.startedAt + 6
    const time = second ?? (this.chance(0.3) ? undefined : this.startedAt + this.below(ahead))
    await this.ask(
      getSitePrices,
      (idOf) => ({ id: idOf(name), ...(time !== undefined && { time: new Date(time * 1000).toISOString() }) }),
      { noun: 'site', isQuiet: true },
    )
  }

  async readRule(name = this.pick(this.rules.keys())): Promise<void> {
    const etags: string[] = []
    const asked = await this.ask(getBillingRule, (idOf) => ({ id: idOf(name) }), { noun: 'rule', isQuiet: true })
    etags.push(asked.headers.get('etag') ?? '')
    // The tag of the other service: its ids, and so its tags, are its own.
    const [, other] = this.sides
    const { appId, token } = other.app
    const own = await other.client.call(getBillingRule, { appId, id: other.idOf(name) }, { token })
    this.etags.set(name, [etags[0] as string, own.headers.get('etag') ?? ''])
  }

  async readChange(name = this.pick(this.changes)): Promise<void> {
    if (name === undefined) return
    await this.ask(getPriceChange, (idOf) => ({ id: idOf(name) }), { noun: 'change', isQuiet: true })
  }

  async readPages(): Promise<void> {
    const [status, rule, site] = [1 + this.below(3), this.pick(this.rules.keys()), this.pick(this.sites)]
    const undone = this.changes.length === 0 ? 'none' : this.pick(this.changes)
    const isQuiet = true
    await this.ask(pagePriceChanges, () => ({ status, pageSize: 100 }), { noun: 'change', isQuiet })
    await this.ask(pagePriceChanges, (idOf) => ({ billingRuleId: idOf(rule), pageSize: 100 }), {
      noun: 'change',
      isQuiet,
    })
    for (const one of [1, 2])
      await this.ask(pagePriceChanges, (idOf) => ({ siteId: idOf(site), status: one, pageSize: 100 }), {
        noun: 'change',
        isQuiet,
      })
    await this.ask(pagePriceChanges, (idOf) => ({ undoOf: String(idOf(undone)) }), { noun: 'change', isQuiet })
    await this.ask(pageBillingRules, () => ({ pageSize: 100 }), { noun: 'rule', isQuiet })
  }

  async run(steps: number, isCrowded: boolean): Promise<void> {
    for (const type of [1, 1, 2, 2, 3, 3] as const) await this.newRule(type)
    for (let site = 0; site < 4; site++) await this.newSite()
    if (isCrowded) await this.newSites(manySites)
    const acts: [weight: number, act: () => Promise<void>][] = [
      [6, () => this.scheduleTerms()],
      [7, () => this.scheduleRules()],
      [4, () => this.updateRule()],
      [4, () => this.updateSite()],
      [2, () => this.updateSites()],
      [3, () => this.cancel()],
      [4, () => this.undo()],
      [6, () => this.readPrices()],
      [3, () => this.readRule()],
      [2, () => this.readChange()],
      [2, () => this.readPages()],
      [3, () => this.moveClock()],
      [1, () => this.deleteSite()],
      [1, () => this.deleteRule()],
      [1, () => this.newRule()],
      [1, () => this.newSite()],
    ]
    const all = acts.flatMap(([weight, act]) => Array<typeof act>(weight).fill(act))
    for (let step = 0; step < steps; step++) {
      await this.pick(all)()
      // Of two writes in the same millisecond, one would count for the next.
      this.clock.move(this.pick([2, 7, 60]))
    }
    await this.readEverything(isCrowded)
    this.clock.move(10_000)
  }

  /** To the next second, shortly before or behind it, or further; the worker may or may not come before what follows. */
  private async moveClock(): Promise<void> {
    const toSecond = 1000 - (this.clock.ms % 1000)
    this.clock.move(this.pick([toSecond - 1, toSecond, toSecond, toSecond + 1, 400, toSecond + 1000]))
    if (this.chance(0.3)) await sleep(this.below(1_200))
  }

  private async readEverything(isCrowded: boolean): Promise<void> {
    for (const name of this.rules.keys()) await this.readRule(name)
    for (const name of this.changes) await this.readChange(name)
    const last = this.clock.second + 6
    const sites = isCrowded ? [...this.sites].slice(0, 4) : this.sites
    for (const name of sites)
      for (let second = this.startedAt; second < last; second++) await this.readPrices(name, second)
    if (isCrowded) for (const name of [...this.sites].slice(4, 60)) await this.readPrices(name)
  }

  /** What is the same only once everything is written down: the sites' own records, and the events. */
  async compareWritten(): Promise<void> {
    for (const name of [...this.sites].slice(0, 100))
      await this.ask(getSite, (idOf) => ({ id: idOf(name) }), { noun: 'site', isQuiet: true })
    await this.ask(pageSites, () => ({ pageSize: 100 }), { noun: 'site', isQuiet: true })
    await this.ask(pageBillingRules, () => ({ pageSize: 100 }), { noun: 'rule', isQuiet: true })
    for (let last = [0, 0]; ; ) {
      const next: number[] = []
      const about = async (place: 0 | 1) => {
        const { client, app } = this.sides[place]
        const query = {
          appId: app.appId,
          type: 'site.*,billingRule.*,priceChange.*',
          afterId: last[place],
          pageSize: 100,
        }
        const { list } = (await client.call(pageEvents, query, { token: app.token })).data
        next[place] = list.at(-1)?.id ?? 0
        return (this.sides[place] as Side).shown(list) as Members[]
      }
      const [one, other] = await Promise.all([about(0), about(1)])
      const at = one.findIndex((event, place) => !isDeepStrictEqual(event, other[place]))
      if (at >= 0 || one.length !== other.length)
        throw new Differs(
          `${this.said}: events differ\n${this.log.join('\n')}\nthe other: ${JSON.stringify(one.slice(at, at + 3), null, 1)}\nthis: ${JSON.stringify(other.slice(at, at + 3), null, 1)}`,
        )
      this.counts.set('events', (this.counts.get('events') ?? 0) + one.length)
      if (one.length < 100) return
      last = next
    }
  }
}

/** Keeps the worker of a service from writing an application's price changes down, until the result is called. */
async function holdWorker({ sql, app }: Side): Promise<() => Promise<void>> {
  let release = () => {}
  const released = new Promise<void>((done) => {
    release = done
  })
  const holding = sql.begin(async (tx) => {
    while (!(await tryLock(tx as unknown as Statements, `prices ${app.appId}`))) await sleep(5)
    await released
  })
  return async () => {
    release()
    await holding
  }
}

async function untilWritten({ sql, app }: Side): Promise<void> {
  const isWritten = async () =>
    (
      await sql`select 1 from price_change where app_id = ${app.appId} and applied_at is null and cancelled_at is null
        and effective_at <= now() limit 1`
    ).length === 0
  if (!(await becomesTrue(isWritten))) throw new Error('a price change is not written down')
}

async function walkWith(sides: readonly [Side, Side], clock: Clock, seed: number): Promise<Walk> {
  for (const side of sides) side.app = await newApplication(side.client)
  const walk = new Walk(sides, clock, seed)
  const held = seed % 2 === 1 ? await Promise.all(sides.map(holdWorker)) : []
  try {
    await walk.run(Number(values.steps), seed % 5 === 0)
    for (const release of held) await release()
    await Promise.all(sides.map(untilWritten))
    await walk.compareWritten()
    return walk
  } finally {
    for (const release of held) await release()
    for (const { sql } of sides) await sql.end()
  }
}

const place = new Workplace()
let server: OldestServer | undefined
let isSame = true
try {
  const clock = new Clock(join(place.home, 'clock'))
  const clocked = { ...movedClock(join(place.home, 'clock')), TZ: 'UTC' }
  const host = place.newFolder()
  server = await OldestServer.start(host, [], undefined, clocked)
  const databases = ['other', 'own']
  const services = []
  for (const database of databases) {
    const admin = postgres({ host, user: 'forecourt', database: 'postgres', max: 1 })
    await admin.unsafe(`create database ${database}`)
    await admin.end()
    const env = { ...clocked, DATABASE_URL: server.url.replace('/postgres?', `/${database}?`) }
    const checkout = database === 'other' ? { checkout: values.against } : {}
    services.push(await place.startService({ env, ...checkout }))
  }
  const total = new Map<string, number>()
  for (let seed = Number(values.first); seed < Number(values.first) + Number(values.seeds); seed++) {
    const walk = await walkWith(
      services.map((service, at) => new Side(new Client(service), host, databases[at] as string)) as [Side, Side],
      clock,
      seed,
    )
    for (const [what, count] of walk.counts) total.set(what, (total.get(what) ?? 0) + count)
    console.log(`seed ${seed}: the same, ${[...walk.counts.values()].reduce((sum, one) => sum + one, 0)} answers`)
  }
  console.log(
    [...total]
      .sort()
      .map(([what, count]) => `${what}: ${count}`)
      .join('\n'),
  )
} catch (error) {
  isSame = false
  console.log(error instanceof Differs ? error.message : error)
} finally {
  await server?.stop()
  await place.clear()
}
process.exit(isSame ? 0 : 1)
