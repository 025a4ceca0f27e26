import { Link, useNavigate } from 'react-router'
import { type BillingRuleRecord, pageBillingRules, saveBillingRule } from '../../../src/billing-rules/contract.ts'
import { pageSites } from '../../../src/sites/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { useTexts as usePriceTexts } from '../prices/texts.ts'
import { RuleMark } from '../prices/waiting.tsx'
import { useServiceClock } from '../pricing/clock.ts'
import { periodAt, showMoney, totalPrice } from '../pricing/day-periods.ts'
import { TermsInShort } from '../pricing/terms.tsx'
import { useTexts } from '../pricing/texts.ts'
import { ApplicationFilter, ChoiceFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { countOf } from '../ui/text/number.ts'
import { FilterBar } from '../views/filter-bar.tsx'

const filterNames = ['appId', 'ruleName', 'ruleType'] as const

/** Billing rules, of all applications or of one. */
export function Page() {
  const t = useTexts()
  const prices = usePriceTexts()
  const may = useMay()
  const navigate = useNavigate()
  const filters = useFilters(filterNames, ['appId'])
  const { values, of } = filters
  const { appId } = values
  return (
    <PageFrame
      operation={pageBillingRules}
      actions={
        <>
          <LinkButton to={paths.priceChanges({ appId })}>{prices('title')}</LinkButton>
          {may(saveBillingRule) && (
            <Button type="primary" onClick={() => void navigate(paths.newBillingRule({ appId }))}>
              {t('newBillingRule')}
            </Button>
          )}
        </>
      }
    >
      <section className="card">
        <FilterBar views="billingRules" values={values}>
          <ApplicationFilter isOptional {...of('appId')} />
          <TextFilter label={t('name')} {...of('ruleName')} />
          <ChoiceFilter
            label={t('type')}
            {...of('ruleType')}
            choices={{ 1: t('type_1'), 2: t('type_2'), 3: t('type_3') }}
          />
        </FilterBar>
        <Rules filters={filters} />
      </section>
    </PageFrame>
  )
}

interface RulesProps {
  filters: ReturnType<typeof useFilters<(typeof filterNames)[number]>>
}

function Rules({ filters }: RulesProps) {
  const t = useTexts()
  const may = useMay()
  const navigate = useNavigate()
  const { appId } = filters.values
  const columns = useColumns(appId)
  return (
    <Records
      name="billingRules"
      operation={pageBillingRules}
      isLive
      exportKind="billingRules"
      input={filters.values}
      columns={columns}
      rowKey={(rule) => `${rule.appId} ${rule.id}`}
      filters={filters}
      empty={
        <Nothing words={t('empty')}>
          {may(saveBillingRule) && (
            <Button onClick={() => void navigate(paths.newBillingRule({ appId }))}>{t('newBillingRule')}</Button>
          )}
        </Nothing>
      }
    />
  )
}

function useColumns(chosenApp: string): Column<BillingRuleRecord>[] {
  const t = useTexts()
  const clock = useServiceClock()
  const application = useApplicationColumn<BillingRuleRecord>(chosenApp, t('orderAcross'))
  return [
    {
      key: 'ruleName',
      sortBy: 'ruleName',
      title: t('name'),
      isFixed: true,
      most: 200,
      render: ({ appId, id, ruleName }) => (
        <>
          <Link to={paths.billingRule(appId, id)}>{ruleName}</Link>
          <RuleMark appId={appId} id={id} />
        </>
      ),
    },
    ...application,
    { key: 'id', sortBy: 'id', title: 'ID', className: 'number', isExtra: true },
    {
      key: 'ruleType',
      sortBy: 'ruleType',
      title: t('type'),
      render: ({ ruleType }) => t(`type_${ruleType}` as 'type_1'),
    },
    { key: 'terms', title: t('terms'), render: (rule) => <TermsInShort terms={rule} now={clock?.seconds} /> },
    {
      key: 'priceNow',
      title: t('priceNow'),
      align: 'end',
      className: 'number',
      render: (rule) => <PriceNow rule={rule} seconds={clock?.seconds} />,
    },
    {
      key: 'sites',
      title: t('sitesShort'),
      align: 'end',
      className: 'number',
      render: ({ appId, id }) => (
        <Link to={paths.sites({ appId, billingRuleId: id })}>
          <SiteCount appId={appId} id={id} /> <span className="spoken">{t('sites')}</span>
        </Link>
      ),
    },
    { key: 'createTime', isExtra: 1200, sortBy: 'createTime', title: t('createTime'), className: 'number' },
  ]
}

function PriceNow({ rule, seconds }: { rule: BillingRuleRecord; seconds: number | undefined }) {
  const t = useTexts()
  const { periods, unitPrice, unitMinutes } = rule
  if (unitPrice !== null) return t('perMinutes', { price: unitPrice, minutes: unitMinutes ?? 0 })
  const period = seconds === undefined ? undefined : periodAt(periods ?? [], seconds)
  const total = period && totalPrice(period)
  return <>{total === undefined ? t('unknown') : t('perKwh', { price: showMoney(total) })}</>
}

/** How many sites name a rule. */
function SiteCount({ appId, id }: { appId: string; id: number }) {
  const { data } = useRead(pageSites, { appId, billingRuleId: id, pageSize: 1 })
  return data === undefined ? '…' : countOf(data)
}
