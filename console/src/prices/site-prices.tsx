import { Fragment } from 'react'
import { Link } from 'react-router'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { getSitePrices, type PriceInForce } from '../../../src/sites/prices/contract.ts'
import { useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { Unread } from '../ui/page/refusal.tsx'
import { useSiteFields } from '../words/fields.ts'
import { PriceEntry } from './parts.tsx'
import { useTexts } from './texts.ts'
import { useWaitingOfSite } from './waiting.tsx'

/** The members of the response, by the field of a site. */
const members = {
  fastChargeBillRuleId: 'fast',
  rushingBillRuleId: 'slow',
  placeholderBillRuleId: 'occupancy',
} as const

type Use = (typeof members)[keyof typeof members]

/** A site's present prices, and from when on it has others. */
export function SitePrices({ site: { appId, id } }: { site: SiteRecord }) {
  const t = useTexts()
  const sites = useSiteFields()
  const options = { refetchInterval: 30_000, live: appId }
  const { data, error, refetch } = useRead(getSitePrices, { appId, id }, options)
  // If a site has no rule yet, the response does not say when it gets one.
  const waiting = useWaitingOfSite({ appId, id }, options)
  if (data === undefined) return <Unread error={error} refetch={refetch} />
  return (
    <>
      {ruleFields.map(({ field }) => {
        const use = members[field]
        const first = waiting.find(({ rules }) => rules?.[field] !== undefined)
        const until = data[use] === null ? first?.effectiveAt : data[use].untilAt
        return (
          <Fragment key={field}>
            <h3 className="price-use">{sites(field)}</h3>
            <ol className="price-line">
              <Next appId={appId} id={id} use={use} at={until ?? null} />
              <InForce appId={appId} price={data[use]} state="holds" />
            </ol>
          </Fragment>
        )
      })}
      <p>
        <Link to={paths.priceChanges({ appId, siteId: id })}>{t('changesOfSite')}</Link>
      </p>
    </>
  )
}

/** The prices from a future instant on. */
function Next({ appId, id, use, at }: { appId: string; id: number; use: Use; at: string | null }) {
  const { data } = useRead(getSitePrices, { appId, id, time: at ?? '' }, { enabled: at !== null })
  if (at === null || data === undefined) return null
  return <InForce appId={appId} price={data[use]} state="waits" begins={{ at, time: data.time }} />
}

interface InForceProps {
  appId: string
  price: PriceInForce | null
  state: 'holds' | 'waits'
  /** When the next prices begin, if a price change waits. */
  begins?: { at: string; time: string }
}

function InForce({ appId, price, state, begins }: InForceProps) {
  const t = useTexts()
  const time = begins?.time ?? price?.sinceTime
  return (
    <PriceEntry
      state={state}
      heading={time === undefined ? t('holdsNow') : t(begins === undefined ? 'holds' : 'waits', { time })}
      at={begins?.at}
      terms={price}
      rule={price && <Link to={paths.billingRule(appId, price.billingRuleId)}>{price.ruleName}</Link>}
      by={price?.priceChangeId != null && t('byChange', { id: price.priceChangeId })}
    />
  )
}
