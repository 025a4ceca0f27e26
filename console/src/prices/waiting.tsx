import { ClockCircleOutlined } from '@ant-design/icons'
import {
  type PriceChangeRecord,
  pagePriceChanges,
  priceChangeStatus,
} from '../../../src/sites/price-changes/contract.ts'
import { call, type ReadOptions, useRead } from '../api/api.ts'
import { language } from '../language/index.ts'
import { useShared } from '../ui/table/of-rows.ts'
import { useTexts } from './texts.ts'

const refreshEvery = 30_000

/** The price changes of an application that wait: 200 at most, soonest first. */
function useWaiting(appId: string) {
  return useShared<PriceChangeRecord[]>({
    queryKey: [pagePriceChanges.id, 'waiting', appId, language()],
    queryFn: async () => {
      const list: PriceChangeRecord[] = []
      let cursor: string | null | undefined
      do {
        const input = { appId, status: priceChangeStatus.waiting, pageSize: 100, ...(cursor && { cursor }) }
        const { data } = await call(pagePriceChanges, input)
        list.push(...data.list)
        cursor = data.nextCursor
      } while (cursor !== null)
      return list.toReversed()
    },
    refetchInterval: refreshEvery,
  })
}

/** The waiting changes of the rules of a site: 200 at most, soonest first. None until all are read. */
export function useWaitingOfSite({ appId, id }: { appId: string; id: number }, options: ReadOptions) {
  const asked = { appId, siteId: id, status: priceChangeStatus.waiting, pageSize: 100 }
  const { data: latest } = useRead(pagePriceChanges, asked, options)
  const cursor = latest?.nextCursor ?? null
  const { data: others } = useRead(pagePriceChanges, { ...asked, cursor }, { ...options, enabled: cursor !== null })
  if (latest === undefined || (cursor !== null && others === undefined)) return []
  return [...latest.list, ...(others?.list ?? [])].toReversed()
}

/** Marks a rule in a list if other terms wait for it. */
export function RuleMark({ appId, id }: { appId: string; id: number }) {
  const waiting = useWaiting(appId)
  return <Mark change={waiting?.find(({ billingRuleId }) => billingRuleId === id)} />
}

interface SiteRules {
  appId: string
  id: number
  fastChargeBillRuleId: number | null
  rushingBillRuleId: number | null
  placeholderBillRuleId: number | null
}

/** Marks a site in a list if other rules wait for it, or other terms of its rules. */
export function SiteMark({ site }: { site: SiteRules }) {
  const waiting = useWaiting(site.appId)
  return waiting === undefined || waiting.length === 0 ? null : <SoonestMark site={site} waiting={waiting} />
}

function SoonestMark({ site, waiting }: { site: SiteRules; waiting: PriceChangeRecord[] }) {
  const { appId, id, fastChargeBillRuleId, rushingBillRuleId, placeholderBillRuleId } = site
  const own = new Set([fastChargeBillRuleId, rushingBillRuleId, placeholderBillRuleId])
  const terms = waiting.find(({ billingRuleId }) => billingRuleId !== null && own.has(billingRuleId))
  // A price change does not list its sites. So, if any change of sites waits, each site's prices are requested.
  const isAny = waiting.some(({ billingRuleId }) => billingRuleId === null)
  const [rules] = useWaitingOfSite({ appId, id }, { enabled: isAny, refetchInterval: refreshEvery })
  const [soonest] = [terms, rules]
    .filter((change) => change !== undefined)
    .toSorted((one, other) => one.effectiveAt.localeCompare(other.effectiveAt))
  return <Mark change={soonest} />
}

function Mark({ change }: { change: PriceChangeRecord | undefined }) {
  const t = useTexts()
  if (change === undefined) return null
  const { effectiveTime } = change
  const time = effectiveTime.replace(/ 00:00:00$/u, '')
  return (
    <span className="faint number small" title={t('markTitle', { time: effectiveTime })}>
      {' '}
      <ClockCircleOutlined aria-hidden /> {t('mark', { time })}
    </span>
  )
}
