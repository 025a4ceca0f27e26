import type { BillingRuleRecord, Period } from '../../../src/billing-rules/contract.ts'
import { SmallDayBar } from './day-bar.tsx'
import { showMoney, totalPrice } from './day-periods.ts'
import { useTexts } from './texts.ts'

type Terms = Pick<BillingRuleRecord, 'freeMinutes' | 'unitMinutes' | 'unitPrice' | 'dailyCap'>

/** The price of occupancy, in a sentence. */
export function OccupancyTerms({ freeMinutes, unitMinutes, unitPrice, dailyCap }: Terms) {
  const t = useTexts()
  const values = { free: freeMinutes ?? 0, unit: unitMinutes ?? 0, price: unitPrice ?? '' }
  return (
    <span>
      {t(freeMinutes === 0 ? 'occupancyTermsNoFree' : 'occupancyTerms', values)}
      {dailyCap !== null && ` ${t('occupancyCap', { cap: dailyCap })}`}
    </span>
  )
}

/** The number of periods of a day, and the range of their prices. */
function PeriodsInWords({ periods }: { periods: readonly Period[] }) {
  const t = useTexts()
  const totals = periods.map((period) => totalPrice(period) ?? 0)
  const least = showMoney(Math.min(...totals))
  if (periods.length === 1) return <span>{t('onePeriodInWords', { least })}</span>
  return <span>{t('periodsInWords', { count: periods.length, least, most: showMoney(Math.max(...totals)) })}</span>
}

/** The terms of a rule in little space: a small bar and a line, or a sentence. */
export function TermsInShort({
  terms,
  now,
}: {
  terms: Terms & { periods: Period[] | null }
  now?: number | undefined
}) {
  const { periods } = terms
  if (periods === null) {
    return (
      <div className="wraps narrow-cell">
        <OccupancyTerms {...terms} />
      </div>
    )
  }
  return (
    <div className="stacked">
      <SmallDayBar periods={periods} now={now} />
      <span className="faint small">
        <PeriodsInWords periods={periods} />
      </span>
    </div>
  )
}
