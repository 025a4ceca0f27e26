import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import {
  deleteBillingRule,
  getBillingRule,
  saveBillingRule,
  updateBillingRule,
} from '../../src/billing-rules/contract.ts'
import { deleteSite, saveSite, updateSite } from '../../src/sites/contract.ts'
import {
  cancelPriceChange,
  getPriceChange,
  pagePriceChanges,
  schedulePriceChange,
  undoPriceChange,
} from '../../src/sites/price-changes/contract.ts'
import { getSitePrices } from '../../src/sites/prices/contract.ts'
import { type Answer, type Client, siteBody, type TestApplication } from '../harness.ts'
import { Timeline, type Turn, type When } from './price-timeline.ts'
import { anyMoment, randomNumbers, seed, untilAdmitted } from './support.ts'

// A random walk through schedules, updates, cancels, undos and deletions, with a simple model of what is in force.

const prices = ['1', '2', '3'] as const
const periods = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0' }]
const second = (moment: number) => Math.floor(moment / 1000) * 1000

interface Change {
  id: number
  at: number
  /** What changes: the terms of a rule, or the rules of sites. */
  of: { rule: number } | { sites: Set<number> }
  /** The rule that the sites get; null for none. */
  given: number | null
  isCancelled: boolean
}

/** One application: its expected state, and the random operations on it. */
export class Walk {
  readonly rules = new Map<number, Timeline<string>>()
  /** Deleted rules are kept, because sites have had them. */
  readonly allRules = new Map<number, Timeline<string>>()
  readonly sites = new Map<number, { createdAt: number; rule: Timeline<number | null> }>()
  readonly changes: Change[] = []
  readonly counts = new Map<string, number>()
  /** Price changes for which it is unknown whether an update to the same value came before them. */
  private readonly vague = new Set<number>()
  /** The service processes; the clock of the first is right. */
  private readonly clients: readonly Client[]
  private readonly app: TestApplication
  private readonly random: () => number
  private readonly said: string

  constructor(clients: readonly Client[], app: TestApplication, ownSeed: number) {
    this.clients = clients
    this.app = app
    this.random = randomNumbers(ownSeed)
    this.said = `seed ${seed}, application ${app.appId}`
  }

  private pick<Item>(items: Iterable<Item>): Item {
    const all = [...items]
    return all[Math.floor(this.random() * all.length)] as Item
  }

  /** Sends a request; returns the answer, and when it was sent and answered. A create goes to the process whose clock is right. */
  private async ask<Data>(
    send: (client: Client, caller: TestApplication & { headers: Record<string, string> }) => Promise<Answer<Data>>,
    isCreate = false,
  ) {
    const from = Date.now()
    // A request that timed out may have been carried out.
    const caller = { ...this.app, headers: { 'idempotency-key': randomUUID() } }
    const client = isCreate ? (this.clients[0] as Client) : this.pick(this.clients)
    let answer = await untilAdmitted(() => send(client, caller))
    while (answer.code === 50003) answer = await send(client, caller)
    return { answer, when: { from, to: Date.now() } }
  }

  private count(what: string, { code }: Answer<unknown>): void {
    const name = `${what} ${code}`
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  private check(actual: unknown, expected: unknown, words: string): void {
    expect(actual, `${this.said}: ${words}`).toEqual(expected)
  }

  async newRule(): Promise<void> {
    const price = this.pick(prices)
    const body = { ruleName: 'rule', ruleType: 1, periods: periods(price) }
    const { answer, when } = await this.ask((client, caller) => client.call(saveBillingRule, body, caller), true)
    this.check(answer.code, 0, answer.text)
    const terms = new Timeline<string>({ ...when, value: price, change: null })
    this.rules.set(answer.data.id, terms)
    this.allRules.set(answer.data.id, terms)
  }

  async newSite(): Promise<void> {
    const rule = this.pick([...this.rules.keys(), null])
    const body = siteBody(this.app.appId, { fastChargeBillRuleId: rule })
    const { answer, when } = await this.ask((client, caller) => client.call(saveSite, body, caller), true)
    this.check(answer.code, 0, answer.text)
    const first = { ...when, value: rule, change: null }
    this.sites.set(answer.data.id, { createdAt: when.to, rule: new Timeline<number | null>(first) })
  }

  /** A moment that comes soon, or one that lies a day ahead. */
  private moment(): number {
    const soon = second(Date.now()) + 1000 * (1 + Math.floor(this.random() * 4))
    return this.random() < 0.7 ? soon : soon + 86_400_000
  }

  /** Whether a price change of the same rule, or of one of these sites, waits for this moment. */
  private clash(at: number, of: Change['of']): boolean {
    return this.changes.some((other) => {
      if (other.isCancelled || other.at !== at) return false
      if ('rule' in of) return 'rule' in other.of && other.of.rule === of.rule
      return 'sites' in other.of && [...other.of.sites].some((id) => of.sites.has(id))
    })
  }

  private async schedule(members: object, at: number, of: Change['of'], given: number | null): Promise<number | null> {
    const body = { effectiveTime: new Date(at).toISOString(), ...members }
    const { answer, when } = await this.ask((client, caller) => client.call(schedulePriceChange, body, caller))
    this.count('schedule', answer)
    if (answer.code === 10001) {
      this.check(when.to >= at, true, `too late at ${when.to} for ${at}: ${answer.text}`)
      return null
    }
    if (when.from >= at) this.check(answer.code, 10001, `${when.from} is behind ${at}: ${answer.text}`)
    this.check(answer.code, this.clash(at, of) ? 40007 : 0, answer.text)
    if (answer.code !== 0) return null
    const id = answer.data.id as number
    this.changes.push({ id, at, of, given, isCancelled: false })
    return id
  }

  async scheduleTerms(): Promise<void> {
    const [rule, terms] = this.pick(this.rules)
    const [price, at] = [this.pick(prices), this.moment()]
    const change = await this.schedule({ billingRuleId: rule, periods: periods(price) }, at, { rule }, null)
    if (change !== null) terms.add({ from: at, to: at, value: price, change })
  }

  async scheduleRules(): Promise<void> {
    const ids = [...this.sites.keys()].filter(() => this.random() < 0.6)
    if (ids.length === 0) return
    const [rule, at] = [this.pick([...this.rules.keys(), null]), this.moment()]
    const members = { sites: { ids }, rules: { fastChargeBillRuleId: rule } }
    const change = await this.schedule(members, at, { sites: new Set(ids) }, rule)
    if (change === null) return
    for (const id of ids) this.siteOf(id).rule.add({ from: at, to: at, value: rule, change })
  }

  private siteOf(id: number) {
    return this.sites.get(id) as { createdAt: number; rule: Timeline<number | null> }
  }

  /** Records an update. If a price change became due meanwhile, a read shows which of the two came first. */
  private async update<Value>(
    timeline: Timeline<Value>,
    value: Value,
    { from, to }: When,
    read: () => Promise<Value | undefined>,
  ): Promise<void> {
    const within = timeline.within({ from, to })
    const moment = within[0]?.from
    if (moment === undefined) return timeline.add({ from, to, value, change: null })
    if (within.some((turn) => turn.value === value)) {
      for (const { change } of within) this.vague.add(change as number)
      return timeline.add({ from, to, value, change: undefined })
    }
    const isLast = (await read()) === value
    timeline.add({ from: isLast ? moment : from, to: isLast ? to : moment - 1, value, change: null })
  }

  private readPrice = async (id: number) => {
    const { answer } = await this.ask((client, caller) => client.call(getBillingRule, { id }, caller))
    return answer.data.periods?.[0]?.electricityPrice
  }

  async updateRule(): Promise<void> {
    const [id, terms] = this.pick(this.rules)
    const price = this.pick(prices)
    const { answer, when } = await this.ask((client, caller) =>
      client.call(updateBillingRule, { id, periods: periods(price) }, caller),
    )
    this.count('updateRule', answer)
    this.check(answer.code, 0, answer.text)
    await this.update(terms, price, when, () => this.readPrice(id))
  }

  async updateSite(): Promise<void> {
    const [id, site] = this.pick(this.sites)
    const rule = this.pick([...this.rules.keys(), null])
    const { answer, when } = await this.ask((client, caller) =>
      client.call(updateSite, { id, fastChargeBillRuleId: rule }, caller),
    )
    this.count('updateSite', answer)
    this.check(answer.code, 0, answer.text)
    await this.update(site.rule, rule, when, async () => {
      const { answer } = await this.ask((client, caller) => client.call(getSitePrices, { id }, caller))
      return answer.data.fast?.billingRuleId ?? null
    })
  }

  async cancel(): Promise<void> {
    if (this.changes.length === 0) return
    const change = this.pick(this.changes.slice(-6))
    const { answer, when } = await this.ask((client, caller) =>
      client.call(cancelPriceChange, { id: change.id, reason: 'walk' }, caller),
    )
    this.count('cancel', answer)
    if (change.isCancelled || when.from >= change.at) this.check(answer.code, 40006, answer.text)
    else if (when.to < change.at) this.check(answer.code, 0, answer.text)
    else expect([0, 40006], this.said).toContain(answer.code)
    if (answer.code === 0) this.forget(change)
  }

  /** Removes a price change that never takes effect from the model. */
  private forget(change: Change): void {
    change.isCancelled = true
    for (const terms of this.allRules.values()) terms.remove(change.id)
    for (const { rule } of this.sites.values()) rule.remove(change.id)
  }

  async undo(): Promise<void> {
    const over = this.changes.filter(({ isCancelled, at }) => !isCancelled && at < Date.now())
    if (over.length === 0) return
    const change = this.pick(over.slice(-4))
    const at = Date.now()
    const terms = 'rule' in change.of ? this.rules.get(change.of.rule) : undefined
    const ofSites = 'sites' in change.of ? [...change.of.sites].map((id) => [id, this.siteOf(id).rule] as const) : []
    const formerTerms = terms && formerIn(terms, change.id, at)
    const formerRules = ofSites.flatMap(([id, line]) => {
      const former = formerIn(line, change.id, at)
      return former === undefined || (former !== null && !this.rules.has(former)) ? [] : [[id, former] as const]
    })
    const back = new Map(formerRules)
    const { answer, when } = await this.ask((client, caller) =>
      client.call(undoPriceChange, { id: change.id, reason: 'walk' }, caller),
    )
    this.count('undo', answer)
    // What the undo restores depends on which of two changes came first, so the model stops here.
    const lines = [...(terms === undefined ? [] : [terms]), ...ofSites.map(([, line]) => line)]
    // What the undo restores depends on which of two changes came first.
    const isKnown = !this.vague.has(change.id) && !lines.some((line) => line.isMoving({ from: at, to: when.to }))
    const isPossible = formerTerms !== undefined || back.size > 0
    if (isKnown) this.check(answer.code, isPossible ? 0 : 40006, `undo of ${change.id}: ${answer.text}`)
    if (answer.code !== 0) return
    const moment = Date.parse(answer.data.effectiveAt)
    const turn = { from: moment, to: moment, change: answer.data.id }
    this.check(moment >= when.from - 1 && moment <= when.to, true, `undo at ${moment}`)
    if (terms !== undefined) terms.add({ ...turn, value: answer.data.periods?.[0]?.electricityPrice ?? '' })
    else if (!isKnown) throw new Uncertain()
    for (const [id, value] of back) this.siteOf(id).rule.add({ ...turn, value })
    if (isKnown && terms !== undefined) this.check(answer.data.periods, periods(formerTerms ?? ''), answer.text)
    if (terms === undefined) this.check(answer.data.siteCount, back.size, answer.text)
    const of = terms === undefined ? { sites: new Set(back.keys()) } : change.of
    this.changes.push({ id: answer.data.id, at: moment, of, given: null, isCancelled: false })
  }

  async deleteSite(): Promise<void> {
    if (this.sites.size < 3) return
    const [id] = this.pick(this.sites)
    const { answer } = await this.ask((client, caller) => client.call(deleteSite, { id }, caller))
    this.check(answer.code, 0, answer.text)
    this.sites.delete(id)
    for (const { of } of this.changes) if ('sites' in of) of.sites.delete(id)
  }

  async deleteRule(): Promise<void> {
    if (this.rules.size < 3) return
    const [id] = this.pick(this.rules)
    const { answer, when } = await this.ask((client, caller) => client.call(deleteBillingRule, { id }, caller))
    this.count('deleteRule', answer)
    const isMoving = [...this.sites.values()].some(({ rule }) => rule.isMoving(when))
    const isNamed = [...this.sites.values()].some(({ rule }) => rule.before(when.from).held.value === id)
    const isGiven = this.changes.some((change) => !change.isCancelled && change.given === id && change.at > when.to)
    const isDue = this.changes.some((change) => change.at >= when.from && change.at <= when.to)
    if (!isMoving && !isDue)
      this.check(answer.code, isNamed || isGiven ? 40004 : 0, `deletion of rule ${id}: ${answer.text}`)
    if (answer.code !== 0) return
    this.rules.delete(id)
    for (const change of this.changes) {
      if ('rule' in change.of && change.of.rule === id && !change.isCancelled && change.at > when.from) {
        const { answer } = await this.ask((client, caller) => client.call(getPriceChange, { id: change.id }, caller))
        if (change.at > when.to) this.check(answer.data.status, 3, `change ${change.id} of a deleted rule`)
        if (answer.data.status === 3) this.forget(change)
      }
    }
  }

  /** Reads the prices of a site at a moment, or now. */
  async read(id = this.pick(this.sites.keys()), time = this.anyTime(id)): Promise<void> {
    const site = this.sites.get(id)
    if (site === undefined) return
    const query = time === undefined ? { id } : { id, time: new Date(time).toISOString() }
    const { answer, when } = await this.ask((client, caller) => client.call(getSitePrices, query, caller))
    this.check(answer.code, 0, answer.text)
    const bound = time === undefined ? when.to : time + 1000
    if (site.rule.isUncertain(bound) || (time === undefined && site.rule.isMoving(when))) return
    const { held, next } = site.rule.before(bound)
    const told = answer.data.fast
    const words = `site ${id} at ${time ?? `${when.from} to ${when.to}`}: ${answer.text}`
    if (held.value === null) return this.check(told, null, words)
    const terms = this.allRules.get(held.value) as Timeline<string>
    if (terms.isUncertain(bound) || (time === undefined && terms.isMoving(when))) return
    const price = terms.before(bound)
    this.check([told?.billingRuleId, told?.periods?.[0]?.electricityPrice], [held.value, price.held.value], words)
    const since = price.held.from > held.to ? price.held : held
    const areKnown = [price.held, held].every((turn) => turn.from === turn.to)
    if (!areKnown && price.held.to >= held.from && price.held.from <= held.to) return
    if (since.change !== undefined) this.check(told?.priceChangeId ?? null, since.change, `since, ${words}`)
    expectWithin(told?.sinceAt, since, `${this.said}: since, ${words}`)
    const [until] = [next, price.next].filter((turn) => turn !== undefined).sort((one, other) => one.from - other.from)
    if (until === undefined) this.check(told?.untilAt, null, `until, ${words}`)
    else expectWithin(told?.untilAt, until, `${this.said}: until, ${words}`)
  }

  private anyTime(id: number): number | undefined {
    const chance = this.random()
    if (chance < 0.3) return undefined
    const from = this.sites.get(id)?.createdAt ?? 0
    if (chance < 0.8) return second(from + this.random() * (Date.now() - from)) + (second(from) < from ? 1000 : 0)
    const waiting = this.changes.filter(({ at, isCancelled }) => at > Date.now() && !isCancelled)
    return waiting.length === 0 ? undefined : this.pick(waiting).at - this.pick([0, 1000])
  }

  async readRule(): Promise<void> {
    const [id, terms] = this.pick(this.rules)
    const { answer, when } = await this.ask((client, caller) => client.call(getBillingRule, { id }, caller))
    if (terms.isMoving(when)) return
    this.check(answer.data.periods?.[0]?.electricityPrice, terms.before(when.to).held.value, answer.text)
  }

  async pageWaiting(): Promise<void> {
    const { answer, when } = await this.ask((client, caller) =>
      client.call(pagePriceChanges, { status: 1, pageSize: 100 }, caller),
    )
    if (this.changes.some(({ at }) => at >= when.from && at <= when.to)) return
    const waiting = this.changes.filter(({ at, isCancelled }) => !isCancelled && at > when.to).map(({ id }) => id)
    this.check(answer.data.list.map(({ id }) => id).sort(), waiting.sort(), answer.text)
  }

  async run(steps: number): Promise<void> {
    for (let rule = 0; rule < 3; rule++) await this.newRule()
    for (let site = 0; site < 3; site++) await this.newSite()
    const acts = [
      ...Array(4).fill(() => this.scheduleTerms()),
      ...Array(4).fill(() => this.scheduleRules()),
      ...Array(3).fill(() => this.updateRule()),
      ...Array(3).fill(() => this.updateSite()),
      ...Array(3).fill(() => this.cancel()),
      ...Array(2).fill(() => this.undo()),
      ...Array(5).fill(() => this.read()),
      ...Array(2).fill(() => anyMoment(this.random, 1_000)),
      ...[() => this.readRule(), () => this.pageWaiting(), () => this.deleteSite(), () => this.deleteRule()],
      ...[() => this.newRule(), () => this.newSite()],
    ] as (() => Promise<void>)[]
    for (let step = 0; step < steps; step++) await this.pick(acts)()
    await this.readEverySecond()
  }

  /** Reads the whole history of every site, and the waiting changes. */
  private async readEverySecond(): Promise<void> {
    for (const [id, { createdAt }] of this.sites) {
      for (let time = second(createdAt) + 1000; time < Date.now() + 4_000; time += 1000) await this.read(id, time)
    }
  }
}

/**
 * The value that an undo of a price change restores: the one before it, if the value that it brought is still in force.
 */
function formerIn<Value>(line: Timeline<Value>, change: number, now: number): Value | undefined {
  return line.before(now + 1).held.value === line.broughtBy(change) ? line.formerOf(change) : undefined
}

/** Thrown if the responses alone do not show what happened. */
export class Uncertain extends Error {}

/** The service shows a moment as its second. */
function expectWithin(told: string | null | undefined, { from, to }: Turn<unknown>, words: string): void {
  const moment = Date.parse(told ?? '')
  expect(moment >= second(from) && moment <= second(to), `${words}, not ${from} to ${to}`).toBe(true)
}
