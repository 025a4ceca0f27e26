import { type ReactNode, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import {
  type BillingRuleRecord,
  deleteBillingRule,
  getBillingRule,
  type Period,
  updateBillingRule,
} from '../../../src/billing-rules/contract.ts'
import { schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { useMay, useRead, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { FollowingSites } from '../prices/following-sites.tsx'
import { PriceLine } from '../prices/price-line.tsx'
import { useTexts as usePriceTexts } from '../prices/texts.ts'
import { useServiceClock } from '../pricing/clock.ts'
import { DayBar } from '../pricing/day-bar.tsx'
import { showMoney, totalPrice } from '../pricing/day-periods.ts'
import { OccupancyTerms } from '../pricing/terms.tsx'
import { useTexts } from '../pricing/texts.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'

/** One billing rule: its prices in the course of time, and the sites that follow it. */
export function Page() {
  const t = useTexts()
  const { appId = '', id } = useParams()
  const { data: rule, error, refetch } = useRead(getBillingRule, { appId, id: Number(id) }, { live: appId })
  return (
    <PageFrame
      title={rule?.ruleName ?? t('billingRules')}
      operation={getBillingRule}
      actions={rule && <Actions rule={rule} />}
    >
      {rule !== undefined ? (
        <>
          <RuleView rule={rule}>
            <FollowingSites appId={appId} billingRuleId={rule.id} />
          </RuleView>
          <PriceLine rule={rule} />
        </>
      ) : (
        <Unread error={error} refetch={refetch} />
      )}
    </PageFrame>
  )
}

function Actions({ rule }: { rule: BillingRuleRecord }) {
  const prices = usePriceTexts()
  const may = useMay()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const { appId, id } = rule
  return (
    <>
      {may(schedulePriceChange) && (
        <LinkButton type="primary" to={paths.newPrices(appId, id)}>
          {prices('pricesFrom')}
        </LinkButton>
      )}
      {may(updateBillingRule) && <LinkButton to={paths.editBillingRule(appId, id)}>{prices('edit')}</LinkButton>}
      {may(deleteBillingRule) && (
        <Button danger onClick={() => setDeleting(true)}>
          {prices('delete')}
        </Button>
      )}
      <DeleteRule
        rule={isDeleting ? rule : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate(paths.billingRules({ appId }))}
      />
    </>
  )
}

/** The present prices of a rule; its children say where they apply. */
function RuleView({ rule, children }: { rule: BillingRuleRecord; children: ReactNode }) {
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
                render: (period) => showMoney(totalPrice(period) ?? 0),
              },
            ]}
          />
        </>
      )}
      {children}
    </Card>
  )
}

interface DeleteRuleProps {
  /** The dialog is closed while it is undefined. */
  rule: BillingRuleRecord | undefined
  onClose: () => void
  onDeleted: () => void
}

/** Asks before a rule is deleted; if sites use it, links to them. */
function DeleteRule({ rule, onClose, onDeleted }: DeleteRuleProps) {
  const t = useTexts()
  const remove = useWrite(deleteBillingRule)
  const [isInUse, setInUse] = useState(false)
  const { appId = '', id = 0, ruleName = '' } = rule ?? {}

  async function run(): Promise<void> {
    setInUse(false)
    try {
      await remove.mutateAsync({ input: { appId, id } })
    } catch (refusal) {
      setInUse((refusal as ForecourtError).code === 40004)
      throw refusal
    }
    showSuccess(t('deleted'))
    onDeleted()
  }

  function close(): void {
    setInUse(false)
    onClose()
  }

  return (
    <Confirm
      isOpen={rule !== undefined}
      title={t('deleteTitle', { name: ruleName })}
      verb={t('delete')}
      isDangerous
      run={run}
      onClose={close}
    >
      <p>
        {t(isInUse ? 'inUse' : 'deleteWords')} <Link to={paths.sites({ appId, billingRuleId: id })}>{t('sites')}</Link>
      </p>
    </Confirm>
  )
}
