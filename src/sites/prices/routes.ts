import type { Static } from 'typebox'
import { areSameTerms, type RuleTerms } from '../../billing-rules/rules.ts'
import { takesEffect } from '../../billing-rules/store.ts'
import { requireApplicationOf } from '../../callers/permissions.ts'
import type { Statements } from '../../database/open.ts'
import { type Handler, read } from '../../http/handler.ts'
import type { ReadMoment, ShowMoment } from '../../vocabulary/moments.ts'
import { invalidRequest } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { getSitePrices, type PriceInForce } from './contract.ts'
import { type Held, heldBefore, periodAt, wholeSecond } from './rules.ts'
import { type KnownSite, readKnownRule, readKnownSite } from './store.ts'

interface Parts {
  showMoment: ShowMoment
  readMoment: ReadMoment
}

type SitePrices = Static<typeof getSitePrices.data>

export function sitePriceRoutes({ showMoment, readMoment }: Parts): Handler[] {
  return [
    read(getSitePrices, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const time = given(query.time)
      const asked = time === null ? null : wholeSecond(readMoment(time))
      for (;;) {
        const prices = await readPrices(sql, { appId, siteId: query.id, asked }, showMoment)
        if (prices !== undefined) return prices
      }
    }),
  ]
}

interface Asked {
  appId: string
  siteId: number
  /** The moment in whole seconds; null for now. */
  asked: Date | null
}

/**
 * The prices of a site at the end of a second. Undefined if a price change that was read has been cancelled meanwhile,
 * by a transaction that was about to commit. Throws 10001 and 30002.
 */
async function readPrices(
  sql: Statements,
  { appId, siteId, asked }: Asked,
  showMoment: ShowMoment,
): Promise<SitePrices | undefined> {
  const site = await readKnownSite(sql, appId, siteId, asked && new Date(asked.getTime() + 1000))
  const at = asked ?? wholeSecond(site.now)
  // Another process's clock may have dated the site ahead of the database's.
  const madeAt = site.createdAt < site.now ? site.createdAt : site.now
  if (at < wholeSecond(madeAt)) {
    const reason = { en: 'is before the site was created', zh: '早于站点的创建时间' }
    throw invalidRequest([{ field: 'time', reason }])
  }
  const uncertain = new Set<number>()
  const prices: (PriceInForce | null)[] = []
  for (const field of [1, 2, 3])
    prices.push(await readPrice(sql, { appId, site, field, at, madeAt, uncertain }, showMoment))
  for (const changeId of uncertain) if (!(await takesEffect(sql, appId, changeId))) return undefined
  const [fast = null, slow = null, occupancy = null] = prices
  return { siteId, appId, time: showMoment(at), at: at.toISOString(), fast, slow, occupancy }
}

interface AskedField {
  appId: string
  site: KnownSite
  field: number
  at: Date
  madeAt: Date
  /** Collects the price changes that are in force and not written down yet. */
  uncertain: Set<number>
}

async function readPrice(
  sql: Statements,
  { appId, site, field, at, madeAt, uncertain }: AskedField,
  showMoment: ShowMoment,
): Promise<PriceInForce | null> {
  const { now, bound } = site
  const known = site.fields.get(field)
  if (known === undefined) return null
  const rule = heldBefore(known, bound, (one, other) => one === other)
  if (rule === undefined || rule.value === null) return null
  const knownRule = await readKnownRule(sql, appId, rule.value, bound)
  if (knownRule === undefined) return null
  const terms = heldBefore(knownRule.terms, bound, areSameTerms)
  if (terms === undefined) return null
  const waiting = [...known.waiting, ...knownRule.terms.waiting]
  for (const { at: from, changeId } of waiting) if (from <= now && from < bound) uncertain.add(changeId)
  const since = sinceOf(rule, terms, { madeAt, createdAt: knownRule.createdAt, at })
  const until = [rule.until, terms.until]
    .filter((moment) => moment !== undefined)
    .sort((one, other) => +one - +other)[0]
  const untilAt = until === undefined ? null : wholeSecond(until)
  return {
    billingRuleId: rule.value,
    ruleName: knownRule.ruleName,
    periods: terms.value.periods,
    period: periodAt(terms.value.periods, showMoment(at).slice(-8)),
    freeMinutes: terms.value.freeMinutes,
    unitMinutes: terms.value.unitMinutes,
    unitPrice: terms.value.unitPrice,
    dailyCap: terms.value.dailyCap,
    sinceTime: showMoment(since.at),
    sinceAt: since.at.toISOString(),
    untilTime: untilAt && showMoment(untilAt),
    untilAt: untilAt?.toISOString() ?? null,
    priceChangeId: since.changeId,
  }
}

/** Since when the site has had this rule with these terms, and which price change brought that. */
function sinceOf(
  rule: Held<number | null>,
  terms: Held<RuleTerms>,
  { madeAt, createdAt, at }: { madeAt: Date; createdAt: Date; at: Date },
): { at: Date; changeId: number | null } {
  const ofSite = rule.since ?? { at: madeAt, changeId: null }
  const ofRule = terms.since ?? { at: createdAt, changeId: null }
  const { at: moment, changeId } = ofRule.at > ofSite.at ? ofRule : ofSite
  const from = wholeSecond(moment)
  return { at: from < at ? from : at, changeId }
}
