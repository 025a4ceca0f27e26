import { Link } from 'react-router'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { paths } from '../paths.ts'
import { useTexts } from './texts.ts'

// How members of a site are shown, wherever they are.

/** Whether a site closes on the day after it opens. */
export const closesNextDay = (opens: string, closes: string) => opens !== '' && closes !== '' && closes < opens

export function Hours({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const { businessStartTime: opens, businessClosingTime: closes } = site
  return (
    <span className="number" style={{ whiteSpace: 'nowrap' }}>
      {short(opens)}–{short(closes)}
      {closesNextDay(opens, closes) && ` (${t('nextDay')})`}
    </span>
  )
}

/** Full minutes go without their seconds. */
const short = (time: string) => time.replace(/^(\d\d:\d\d):00$/, '$1')

/** The divisions' names, each once: some cities are called like their province. */
export function regionName({ provinceName, cityName, districtName }: SiteRecord): string {
  return [...new Set([provinceName, cityName, districtName])].join(' ')
}

export function SiteLink({ site }: { site: Pick<SiteRecord, 'appId' | 'id' | 'siteName'> }) {
  return <Link to={paths.site(site.appId, site.id)}>{site.siteName}</Link>
}

export function RuleLink({ appId, id, name }: { appId: string; id: number | null; name?: string | undefined }) {
  const t = useTexts()
  if (id === null) return <span className="faint">{t('noRule')}</span>
  return <Link to={paths.billingRule(appId, id)}>{name ?? <span className="number">{id}</span>}</Link>
}

/** The parts of a text that commas separate. */
export function partsOf(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
