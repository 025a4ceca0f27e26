import type { ReactNode } from 'react'
import type { BillingRuleRecord, Period } from '../../../src/billing-rules/contract.ts'
import { useServiceClock } from '../pricing/clock.ts'
import { DayBar } from '../pricing/day-bar.tsx'
import { showMoney, totalPrice } from '../pricing/day-periods.ts'
import { OccupancyTerms } from '../pricing/terms.tsx'
import { useTexts } from '../pricing/texts.ts'
import { Card } from '../ui/page/page.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'

/** The present prices of a rule; its children say where they apply. */
export function RuleView({ rule, children }: { rule: BillingRuleRecord; children: ReactNode }) {
  const t = useTexts()
  const clock = useServiceClock()
  const { periods, ruleType } = rule
  return (
    <Card title={t(`type_${ruleType}` as 'type_1')}>
      <p className="text-links">
        {t('application')}: <ApplicationName appId={rule.appId} />
      </p>
      {periods === null ? (
        <OccupancyTerms {...rule} />
      ) : (
        <>
          <DayBar periods={periods} now={clock?.seconds} />
          <Rows<Period>
            label={t('periods')}
            isSmall
            rowKey={({ startTime }) => startTime}
            rows={periods}
            empty={null}
            columns={[
              { key: 'startTime', title: t('startTime'), className: 'number' },
              ...(['electricityPrice', 'servicePrice'] as const).map((field) => ({
                key: field,
                title: `${t(field)} (${t('unit')})`,
                align: 'end' as const,
                className: 'number',
              })),
              {
                key: 'total',
                title: t('total'),
                align: 'end',
                className: 'number',
                render: (_, period) => showMoney(totalPrice(period) ?? 0),
              },
            ]}
          />
        </>
      )}
      {children}
    </Card>
  )
}
