import { getBillingRule } from '../../../src/billing-rules/contract.ts'
import type { ActKind, ActRecord } from '../../../src/bulk/acts/contract.ts'
import { getSite } from '../../../src/sites/contract.ts'
import { useRead } from '../api/api.ts'
import { JobCounts } from '../jobs/job.tsx'
import { decidedOf } from '../jobs/parts.tsx'
import { type Language, useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { regionPath, useRegions } from '../regions/cascader.tsx'
import { grouped } from '../ui/text/number.ts'
import { memberWord } from '../words/sentences.ts'
import { valueWord } from '../words/value-words.ts'
import { useTexts } from './texts.ts'

/** The title of an act, such as "Bulk action 7: Transfer devices". */
export function useActTitle(): (act: ActRecord) => string {
  const t = useTexts()
  return ({ id, kind, act }) => t('actTitle', { id, act: t(`act_${kind}_${act}` as 'act_sites_update') })
}

/** How many rows of an act have a result, in words. */
export function useProgressWords(): (act: ActRecord) => string {
  const t = useTexts()
  return (act) => t('doneOf', { done: grouped(decidedOf(act)), count: grouped(act.rows) })
}

/** The counts of an act, each a link to its rows. */
export function ActCounts({ act: { id, ...act } }: { act: ActRecord }) {
  const t = useTexts()
  return (
    <JobCounts
      pathOf={(outcome) => paths.act(id, { outcome })}
      of={[
        { name: t('rows'), value: act.rows, outcome: 'all' },
        { name: t('done'), value: act.done, outcome: 'done' },
        { name: t('unchanged'), value: act.unchanged, outcome: 'unchanged' },
        { name: t('refused'), value: act.refused, outcome: 'refused' },
      ]}
    />
  )
}

type Members = Record<string, unknown>

/** The members of a filter or of a change, each with its value, in the reader's words. */
export function inOneLine(members: unknown, kind: ActKind, language: Language): string {
  const noun = kind === 'sites' ? 'site' : 'device'
  return Object.entries((members ?? {}) as Members)
    .map(([name, value]) => `${memberWord(name, language)} = ${valueWord(noun, name, String(value), language)}`)
    .join(language === 'zh' ? '，' : ', ')
}

const regionMembers = ['provinceCode', 'cityCode', 'districtCode'] as const

interface FilterInWordsProps {
  appId: string
  kind: ActKind
  filter: unknown
}

/** What an act is for, in the reader's words: divisions, the site and the billing rule by their names. */
export function FilterInWords({ appId, kind, filter }: FilterInWordsProps) {
  const t = useTexts()
  const language = useLanguage()
  const { all, siteId, billingRuleId, ...others } = filter as Members
  const codes = regionMembers.flatMap((name) => (others[name] === undefined ? [] : [String(others[name])]))
  const tree = useRegions(codes.length > 0).data ?? []
  const site = useRead(getSite, { appId, id: Number(siteId) }, { enabled: siteId !== undefined }).data
  const rule = useRead(getBillingRule, { appId, id: Number(billingRuleId) }, { enabled: billingRuleId !== undefined })
  if (all === true) return t('everything')
  const names = regionPath(tree, codes).map(({ name }) => name)
  const known: Members = Object.fromEntries(
    Object.entries(others).filter(([name]) => !regionMembers.includes(name as 'cityCode')),
  )
  const regions = names.length === codes.length ? { [lowest(codes.length)]: names.join(' ') } : others
  return inOneLine(
    {
      ...(codes.length > 0 && regions),
      ...known,
      ...(siteId !== undefined && { siteId: site?.siteName ?? siteId }),
      ...(billingRuleId !== undefined && { billingRuleId: rule.data?.ruleName ?? billingRuleId }),
    },
    kind,
    language,
  )
}

/** Returns the member that holds the name of the lowest division, where `levels` of them are given. */
const lowest = (levels: number) => ['provinceName', 'cityName', 'districtName'][levels - 1] ?? 'districtName'
