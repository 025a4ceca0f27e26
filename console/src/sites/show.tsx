import { Link } from 'react-router'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { paths } from '../paths.ts'
import { useTexts } from './texts.ts'

// Formats the members of a site, for all pages.

/** Whether a site closes on the day after it opened. */
export const closesNextDay = (opens: string, closes: string) => opens !== '' && closes !== '' && closes < opens

export function Hours({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const { businessStartTime: opens, businessClosingTime: closes } = site
  return (
    <span className="number nowrap">
      {short(opens)}–{short(closes)}
      {closesNextDay(opens, closes) && ` (${t('nextDay')})`}
    </span>
  )
}

/** Working days that say, in either language, that a site is out of service, with its usual ones in brackets. */
const paused = /^(?:Out of service|暂停营业)(?:.*[(（](?:usually |平时：)(.*)[)）])?/s

type WorkingDays = Pick<SiteRecord, 'businessWeekDay'>

/** Whether the working days of a site say that it is out of service. */
export const isOutOfService = ({ businessWeekDay }: WorkingDays) => paused.test(businessWeekDay)

/** The usual working days of a site that is out of service, if it says them. */
export const usualDaysOf = ({ businessWeekDay }: WorkingDays) => paused.exec(businessWeekDay)?.[1] ?? ''

/** Leaves out the seconds of full minutes. */
const short = (time: string) => time.replace(/^(\d\d:\d\d):00$/, '$1')

/** The distinct names of the divisions: some cities have the name of their province. */
export function regionName({ provinceName, cityName, districtName }: SiteRecord): string {
  return [...new Set([provinceName, cityName, districtName])].join(' ')
}

export function SiteLink({ site }: { site: Pick<SiteRecord, 'appId' | 'id' | 'siteName'> }) {
  return <Link to={paths.site(site.appId, site.id)}>{site.siteName}</Link>
}

export function RuleLink({ appId, id, name }: { appId: string; id: number | null; name?: string | undefined }) {
  const t = useTexts()
  if (id === null) return <span className="faint">{t('nothing')}</span>
  return <Link to={paths.billingRule(appId, id)}>{name ?? <span className="number">{id}</span>}</Link>
}

/** Splits a text at its commas. */
export function partsOf(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
