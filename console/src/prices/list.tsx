import { useState } from 'react'
import { getBillingRule } from '../../../src/billing-rules/contract.ts'
import {
  cancelPriceChange,
  type PriceChangeRecord,
  pagePriceChanges,
  priceChangeStatus,
  undoPriceChange,
} from '../../../src/sites/price-changes/contract.ts'
import { call, useMay, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { SiteFilter } from '../placements/parts.tsx'
import { areSame, type Terms } from '../pricing/line.ts'
import { RuleFilter } from '../pricing/rule-picker.tsx'
import { ApplicationFilter, ChoiceFilter, RangeFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { part } from '../ui/page/part.tsx'
import { ofRows } from '../ui/table/of-rows.ts'
import { type Column, Records } from '../ui/table/records.tsx'
import { leastForNames } from '../ui/table/rows.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import type { Asked } from './dialogs.tsx'
import { ChangeInWords, ChangeState, Countdown } from './parts.tsx'
import { useTexts } from './texts.ts'

const PriceDialog = part(async () => (await import('./dialogs.tsx')).PriceDialog)

const filterNames = ['appId', 'status', 'billingRuleId', 'siteId', 'timeFrom', 'timeTo'] as const

/** The price changes of all applications, or of one. */
export function Page() {
  const t = useTexts()
  const filters = useFilters(filterNames, ['appId'])
  const { values, set, of, range } = filters
  const { appId } = values
  const [asked, setAsked] = useState<Asked>()
  return (
    <PageFrame
      operation={pagePriceChanges}
      actions={<LinkButton to={paths.billingRules({ appId })}>{t('billingRules')}</LinkButton>}
    >
      <section className="card">
        <FilterBar views="priceChanges" values={values}>
          <ApplicationFilter
            isOptional
            value={appId}
            onChange={(chosen) => set({ appId: chosen, billingRuleId: '', siteId: '' })}
          />
          <ChoiceFilter
            label={t('status')}
            {...of('status')}
            choices={{ 1: t('status_1'), 2: t('status_2'), 3: t('status_3') }}
          />
          {appId !== '' && (
            <>
              <RuleFilter appId={appId} {...of('billingRuleId')} />
              <SiteFilter appId={appId} {...of('siteId')} />
            </>
          )}
          <RangeFilter label={t('effective')} {...range('timeFrom', 'timeTo')} />
        </FilterBar>
        {appId === '' && <p className="faint">{t('orderAcross')}</p>}
        <Records
          name="priceChanges"
          operation={pagePriceChanges}
          isLive
          exportKind="priceChanges"
          input={values}
          columns={useColumns(appId, (act, change) => setAsked({ act, change }))}
          rowKey={(change) => `${change.appId} ${change.id}`}
          refetchInterval={30_000}
          filters={filters}
          empty={t('none')}
        />
      </section>
      {asked && <PriceDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </PageFrame>
  )
}

type Ask = (act: 'cancel' | 'undo', change: PriceChangeRecord) => void

function useColumns(appId: string, ask: Ask): Column<PriceChangeRecord>[] {
  const t = useTexts()
  const application = useApplicationColumn<PriceChangeRecord>(appId)
  return [
    {
      key: 'effectiveTime',
      title: t('effective'),
      isFixed: true,
      render: ({ effectiveTime, effectiveAt, status }) => (
        <>
          <span className="number">{effectiveTime}</span>{' '}
          {status === priceChangeStatus.waiting && <Countdown at={effectiveAt} />}
        </>
      ),
    },
    ...application,
    {
      key: 'kind',
      title: t('kind'),
      isFixed: true,
      most: 260,
      least: leastForNames,
      render: (change) => <ChangeInWords change={change} />,
    },
    { key: 'status', title: t('status'), render: (change, among) => <StateAfter change={change} among={among} /> },
    { key: 'reason', title: t('reason'), most: 160, least: leastForNames, none: t('unknown') },
    {
      key: 'createdBy',
      title: t('by'),
      most: 140,
      least: leastForNames,
      isExtra: 1200,
      render: (change) => <Actors change={change} />,
    },
    { key: 'createTime', title: t('created'), className: 'number', isExtra: 1600 },
    { key: 'id', title: 'ID', className: 'number', isExtra: true },
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (change, among) => <ChangeActions change={change} among={among} ask={ask} />,
    },
  ]
}

interface RowProps {
  change: PriceChangeRecord
  among: readonly PriceChangeRecord[]
}

/** Who scheduled a price change, and who cancelled it. */
function Actors({ change: { createdBy, cancelledBy } }: Pick<RowProps, 'change'>) {
  const t = useTexts()
  return (
    <>
      <Actor actor={createdBy} />
      {cancelledBy !== null && (
        <div className="faint">
          {t('cancelledBy')} <Actor actor={cancelledBy} />
        </div>
      )}
    </>
  )
}

/** The status of a price change, or that it was undone. */
function StateAfter({ change, among }: RowProps) {
  const { isUndone } = useAfter(change, among)
  return <ChangeState status={change.status} isUndone={isUndone} />
}

function ChangeActions({ change, among, ask }: RowProps & { ask: Ask }) {
  const t = useTexts()
  const may = useMay()
  const { isLeft } = useAfter(change, among)
  const { status, effectiveTime: time } = change
  if (status === priceChangeStatus.waiting && may(cancelPriceChange)) {
    return (
      <Button size="small" aria-label={t('cancelOf', { time })} onClick={() => ask('cancel', change)}>
        {t('cancel')}
      </Button>
    )
  }
  if (isLeft && may(undoPriceChange)) {
    return (
      <Button size="small" aria-label={t('undoOf', { time })} onClick={() => ask('undo', change)}>
        {t('undo')}
      </Button>
    )
  }
  return null
}

const refreshEvery = 30_000

/** The newest undo of each of these price changes of an application, by the id of the change. */
async function undosOf(appId: string, ids: readonly string[]): Promise<Record<string, PriceChangeRecord>> {
  if (ids.length === 0) return {}
  const { data } = await call(pagePriceChanges, { appId, undoOf: ids.join(','), pageSize: 100 })
  const oldestFirst = data.list.toSorted((one, other) => one.id - other.id)
  return Object.fromEntries(oldestFirst.map((undo) => [String(undo.undoOf), undo]))
}

/** The undo of a price change that holds: an undo can be undone itself, which brings the change back. */
const useUndo = ofRows<PriceChangeRecord, PriceChangeRecord>({
  name: 'undo',
  keyOf: ({ id }) => String(id),
  load: async (appId, ids) => {
    const undos = await undosOf(appId, ids)
    const undone = await undosOf(
      appId,
      Object.values(undos).map(({ id }) => String(id)),
    )
    return Object.fromEntries(Object.entries(undos).filter(([, { id }]) => undone[String(id)] === undefined))
  },
  refetchInterval: refreshEvery,
})

/**
 * What became of a price change that took effect: whether it was undone, and whether it can be. Of a rule, only the
 * terms that it has now can be taken back. Both are false until they are known.
 */
export function useAfter(change: PriceChangeRecord, among: readonly PriceChangeRecord[]) {
  const { appId, billingRuleId, status } = change
  const isInForce = status === priceChangeStatus.inForce
  const undo = useUndo(change, among)
  const rule = useRead(
    getBillingRule,
    { appId, id: billingRuleId ?? 0 },
    { enabled: isInForce && billingRuleId !== null, refetchInterval: refreshEvery },
  )
  const holds = billingRuleId === null || (rule.data !== undefined && areSame(rule.data, change as Terms))
  return { isUndone: isInForce && undo != null, isLeft: isInForce && undo === null && holds }
}
