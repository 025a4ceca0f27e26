import { requireApplicationOf } from '../../callers/permissions.ts'
import { type Handler, read } from '../../http/handler.ts'
import { readMoment, showMoment } from '../../vocabulary/moments.ts'
import { invalidField } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { getSitePrices, type PriceInForce } from './contract.ts'
import { periodAt, wholeSecond } from './rules.ts'
import { type HeldPrice, readHeldPrices } from './store.ts'

export function sitePriceRoutes(): Handler[] {
  return [
    read(getSitePrices, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const time = given(query.time)
      const asked = time === null ? null : wholeSecond(readMoment(time))
      // What is in effect at the end of a second counts for the second.
      const bound = asked && new Date(asked.getTime() + 1000)
      const { now, createdAt, prices } = await readHeldPrices(sql, appId, query.id, bound)
      const at = asked ?? wholeSecond(now)
      // Another process's clock may have dated the site ahead of the database's.
      const madeAt = createdAt < now ? createdAt : now
      if (at < wholeSecond(madeAt)) throw invalidField('time', 'is before the site was created', '早于站点的创建时间')
      const priceOf = (field: number) => {
        const price = prices.find((one) => one.field === field)
        return price === undefined ? null : showPrice(price, { at, madeAt })
      }
      const shown = { time: showMoment(at), at: at.toISOString() }
      return { siteId: query.id, appId, ...shown, fast: priceOf(1), slow: priceOf(2), occupancy: priceOf(3) }
    }),
  ]
}

/** Shows a price at a time, with since when and until when the site has it. */
function showPrice(
  { ruleId, ruleName, ruleCreatedAt, terms, ofSite, ofRule }: HeldPrice,
  { at, madeAt }: { at: Date; madeAt: Date },
): PriceInForce {
  const [siteSince, ruleSince] = [ofSite.since ?? madeAt, ofRule.since ?? ruleCreatedAt]
  const [since, changeId] = ruleSince > siteSince ? [ruleSince, ofRule.changeId] : [siteSince, ofSite.changeId]
  const untils = [ofSite.until, ofRule.until].filter((moment) => moment !== undefined)
  const until = untils.length === 0 ? null : wholeSecond(new Date(Math.min(...untils.map(Number))))
  const sinceAt = wholeSecond(since < at ? since : at)
  return {
    billingRuleId: ruleId,
    ruleName,
    periods: terms.periods,
    period: periodAt(terms.periods, showMoment(at).slice(-8)),
    freeMinutes: terms.freeMinutes,
    unitMinutes: terms.unitMinutes,
    unitPrice: terms.unitPrice,
    dailyCap: terms.dailyCap,
    sinceTime: showMoment(sinceAt),
    sinceAt: sinceAt.toISOString(),
    untilTime: until && showMoment(until),
    untilAt: until?.toISOString() ?? null,
    priceChangeId: changeId,
  }
}
