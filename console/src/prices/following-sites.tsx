import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { pageSites, type SiteRecord } from '../../../src/sites/contract.ts'
import { call } from '../api/api.ts'
import { language } from '../language/index.ts'
import { paths } from '../paths.ts'
import { countOf, grouped } from '../ui/text/number.ts'
import { useTexts } from './texts.ts'

/** The most sites that are read to count them by city. */
const mostRead = 1_000
/** The most cities that are named. */
const mostNamed = 6

interface Found {
  sites: SiteRecord[]
  total: number
  totalIsExact: boolean
}

/** Reads the first sites that filters match, and how many there are. Throws `ForecourtError`. */
export async function readSites(filters: Record<string, unknown>, most = mostRead): Promise<Found> {
  const sites: SiteRecord[] = []
  let cursor: string | undefined
  for (;;) {
    const { data } = await call(pageSites, { ...filters, pageSize: 100, ...(cursor && { cursor }) })
    sites.push(...data.list)
    if (data.nextCursor === null || sites.length >= most) {
      return { sites, total: data.total, totalIsExact: data.totalIsExact }
    }
    cursor = data.nextCursor
  }
}

/** The number of sites in each city, most first. */
function byCity(sites: readonly SiteRecord[]): [city: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { cityName, cityCode } of sites) {
    const city = cityName || cityCode
    counts.set(city, (counts.get(city) ?? 0) + 1)
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

/** How many sites name a rule, and how many of them lie in which city. */
export function FollowingSites({ appId, billingRuleId }: { appId: string; billingRuleId: number }) {
  const t = useTexts()
  const { data } = useQuery<Found, ForecourtError>({
    queryKey: [pageSites.id, 'following', appId, billingRuleId, language()],
    queryFn: () => readSites({ appId, billingRuleId }),
  })
  if (data === undefined) return <p className="faint">…</p>
  if (data.total === 0) return <p className="faint">{t('noSites')}</p>
  const cities = byCity(data.sites)
  const named = cities.slice(0, mostNamed).map(([city, count]) => t('cityCount', { city, count: grouped(count) }))
  return (
    <p className="text-links">
      <Link to={paths.sites({ appId, billingRuleId })}>{t('sitesFollow', { count: countOf(data) })}</Link>{' '}
      {data.sites.length < data.total && t('sitesOfFirst', { count: grouped(data.sites.length) })} {named.join(', ')}
      {cities.length > mostNamed && ' …'}
    </p>
  )
}
