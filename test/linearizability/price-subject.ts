import { updateBillingRule } from '../../src/billing-rules/contract.ts'
import { updateSite } from '../../src/sites/contract.ts'
import {
  cancelPriceChange,
  getPriceChange,
  schedulePriceChange,
  undoPriceChange,
} from '../../src/sites/price-changes/contract.ts'
import { getSitePrices } from '../../src/sites/prices/contract.ts'
import type { Client } from '../kit/client.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import type { Exchange } from './checker.ts'
import type { PriceAnswer, PriceRequest } from './prices.ts'
import type { Subject } from './recorder.ts'

const operations = {
  read: getSitePrices,
  status: getPriceChange,
  updateRule: updateBillingRule,
  updateSite,
  scheduleTerms: schedulePriceChange,
  scheduleRule: schedulePriceChange,
  cancel: cancelPriceChange,
  undo: undoPriceChange,
  due: getSitePrices,
}
/** The actions, by the share of requests up to which each is chosen. */
const shares = [
  ...([
    [0.25, 'read'],
    [0.35, 'status'],
    [0.44, 'updateRule'],
    [0.5, 'updateSite'],
    [0.66, 'scheduleTerms'],
  ] as const),
  ...([
    [0.76, 'scheduleRule'],
    [0.84, 'cancel'],
    [1, 'undo'],
  ] as const),
] as const

export interface PricedSite {
  appId: string
  token: string
  id: number
  rules: number[]
}

const periods = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0' }]

/** A site of a new application, with the first of three billing rules, as the model begins with it. */
export async function newPricedSite(client: Client): Promise<PricedSite> {
  const app = await newApplication(client)
  const rules: number[] = []
  for (const price of ['0', '1', '2']) {
    const body = { appId: app.appId, ruleName: 'rule', ruleType: 1, periods: periods(price) }
    rules.push((await client.call('saveBillingRule', body, app)).data.id)
  }
  const site = await client.call('saveSite', siteBody(app.appId, { fastChargeBillRuleId: rules[0] }), app)
  return { ...app, id: site.data.id, rules }
}

/** What the records of these operations show. */
interface Told {
  appId: string
  id?: number
  status?: number
  fastChargeBillRuleId?: number | null
  fast?: { billingRuleId: number; periods: Period[] } | null
  periods?: Period[]
}

interface Period {
  electricityPrice: string
}

/** Sites whose prices are changed at once and at moments, and read. */
export class PricedSites implements Subject<PriceRequest, PriceAnswer> {
  private readonly sites = new Map<string, PricedSite>()
  private readonly unused: string[]
  /** By site: the price changes that were asked for. */
  private readonly changes = new Map<string, PriceRequest[]>()
  /** By the name of a price change: its id. */
  private readonly ids = new Map<string, number>()

  constructor(sites: PricedSite[]) {
    for (const site of sites) this.sites.set(site.appId, site)
    this.unused = [...this.sites.keys()]
  }

  begin(): string | undefined {
    return this.unused.shift()
  }

  compose(random: () => number, object: string, count: number): PriceRequest | undefined {
    const share = random()
    const [, action] = shares.find(([upTo]) => share < upTo) ?? shares[0]
    const rule = Math.floor(random() * 3)
    const changes = this.changes.get(object) ?? []
    if (action === 'scheduleTerms' || action === 'scheduleRule') {
      const at = 1000 * (Math.floor(Date.now() / 1000) + 1 + Math.ceil(random() * 2))
      const request = { action, rule, tag: String(100 + count), at, key: `k${count}` } as const
      this.changes.set(object, [...changes, request])
      return request
    }
    if (action === 'cancel' || action === 'undo' || action === 'status') {
      const isMeant = ({ tag = '', at = 0 }: PriceRequest) =>
        this.ids.has(tag) && (action !== 'undo' || at < Date.now())
      const known = changes.filter(isMeant).slice(-4)
      const tag = known[Math.floor(random() * known.length)]?.tag
      return tag === undefined ? undefined : { action, tag, ...(action !== 'status' && { key: `k${count}` }) }
    }
    if (action === 'read') return { action }
    return { action, rule, ...(action === 'updateRule' && { tag: String(100 + count) }) }
  }

  wire(object: string, { action, rule = 0, tag = '', at }: PriceRequest) {
    const { appId, token, id, rules } = this.sites.get(object) as PricedSite
    const ofChange = { id: this.ids.get(tag) }
    const effectiveTime = at !== undefined && new Date(at).toISOString()
    const fastChargeBillRuleId = rules[rule]
    const inputs: Partial<Record<PriceRequest['action'], () => object>> = {
      read: () => ({ id, ...(effectiveTime && { time: effectiveTime }) }),
      status: () => ofChange,
      updateRule: () => ({ id: rules[rule], periods: periods(tag) }),
      updateSite: () => ({ id, fastChargeBillRuleId }),
      scheduleTerms: () => ({ effectiveTime, billingRuleId: rules[rule], periods: periods(tag) }),
      scheduleRule: () => ({ effectiveTime, sites: { ids: [id] }, rules: { fastChargeBillRuleId } }),
    }
    const input = inputs[action]?.() ?? { ...ofChange, reason: 'race' }
    return { operation: operations[action], input: { appId, ...input }, token }
  }

  shown({ action, tag = '' }: PriceRequest, data: Told): Omit<PriceAnswer, 'code'> {
    const { rules } = this.sites.get(data.appId) as PricedSite
    if (action === 'read') {
      return { rule: rules.indexOf(data.fast?.billingRuleId ?? 0), tag: data.fast?.periods[0]?.electricityPrice }
    }
    if (action === 'status') return { status: data.status ?? 0 }
    if (action === 'updateRule') return { tag: data.periods?.[0]?.electricityPrice }
    if (action === 'updateSite') return { rule: rules.indexOf(data.fastChargeBillRuleId ?? 0) }
    if (action === 'scheduleTerms' || action === 'scheduleRule') this.ids.set(tag, data.id ?? 0)
    return action === 'undo' ? {} : { tag }
  }

  /** The moments at which the price changes of a site are due, each as an exchange that takes no time. */
  dues(object: string): Exchange<PriceRequest, PriceAnswer>[] {
    return (this.changes.get(object) ?? []).map(({ rule, tag, at = 0 }) => ({
      ...momentary(at - 0.3),
      request: { action: 'due', rule: rule as number, tag: tag as string, at },
      answer: { code: 0 },
    }))
  }
}

/**
 * Whether a price was written across a second's end: it may be dated in the second, and readers of the next one may not see
 * it yet, because it is not committed.
 */
export function isUnsettled(second: number, history: readonly Exchange<PriceRequest, PriceAnswer>[]): boolean {
  const end = second + 1000
  return history.some(
    ({ request, calledAt, answer, answeredAt }) =>
      datesPrices.includes(request.action) && answer?.code === 0 && calledAt < end && answeredAt >= end,
  )
}

const datesPrices: PriceRequest['action'][] = ['updateRule', 'updateSite', 'undo']

/** A read of what was in force in a second that is over, as if it had been sent at that second's end. */
export function readOf(second: number, answer: PriceAnswer): Exchange<PriceRequest, PriceAnswer> {
  return { ...momentary(second + 1000 - 0.6), request: { action: 'read', at: second }, answer }
}

/** Clients see whole milliseconds, so that nothing of theirs lies in the last part of one. */
const momentary = (calledAt: number) => ({ client: -1, calledAt, answeredAt: calledAt + 0.1 })
