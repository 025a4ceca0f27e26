import type { SiteRecord, SiteRegistration } from '../../../src/sites/contract.ts'

// Between a site as the API has it and its form: there, a text that is not given is empty.

type Field = Exclude<keyof SiteRegistration, 'appId'>
type RuleField = 'fastChargeBillRuleId' | 'rushingBillRuleId' | 'placeholderBillRuleId'

export type SiteValues = Record<Exclude<Field, RuleField>, string> & Record<RuleField, number | null>

export const ruleFields: readonly { field: RuleField; ruleType: 1 | 2 | 3 }[] = [
  { field: 'fastChargeBillRuleId', ruleType: 1 },
  { field: 'rushingBillRuleId', ruleType: 2 },
  { field: 'placeholderBillRuleId', ruleType: 3 },
]

const noValues: SiteValues = {
  siteName: '',
  contacts: '',
  contactsPhone: '',
  customerServicePhone: '',
  businessWeekDay: '',
  businessStartTime: '',
  businessClosingTime: '',
  sitePictureUrl: '',
  fastChargeBillRuleId: null,
  rushingBillRuleId: null,
  placeholderBillRuleId: null,
  ipcIds: '',
  provinceCode: '',
  provinceName: '',
  cityCode: '',
  cityName: '',
  districtCode: '',
  districtName: '',
  detailAddress: '',
  coordinates: '',
}

const fields = Object.keys(noValues) as Field[]

/** What the form begins with: a site, or nothing. */
export function valuesOf(site: SiteRecord | undefined): SiteValues {
  if (site === undefined) return noValues
  return Object.fromEntries(fields.map((field) => [field, site[field] ?? noValues[field]])) as unknown as SiteValues
}

/** What the form holds, with nothing else that stands in it, and nothing missing. */
export function readValues(entered: Partial<SiteValues>): SiteValues {
  return Object.fromEntries(fields.map((field) => [field, entered[field] ?? noValues[field]])) as unknown as SiteValues
}

/** What create site takes: optional members only where they are given. */
export function registrationOf(appId: string, values: SiteValues): SiteRegistration {
  const given = Object.entries(values).filter(([, value]) => value !== '' && value !== null)
  return { appId, ...Object.fromEntries(given) } as SiteRegistration
}

/** The members that differ from the site that the form began with; what was emptied is null. */
export function changesOf(before: SiteRecord, values: SiteValues): Partial<Record<Field, string | number | null>> {
  const began = valuesOf(before)
  const changed = fields.filter((field) => values[field] !== began[field])
  return Object.fromEntries(changed.map((field) => [field, values[field] === '' ? null : values[field]]))
}

/** The fields that two changed at once, with what the other one made of them. */
export function conflictsOf(
  before: SiteRecord,
  now: SiteRecord,
  values: SiteValues,
): { field: Field; theirs: string }[] {
  const began = valuesOf(before)
  const theirs = valuesOf(now)
  return fields
    .filter(
      (field) => values[field] !== began[field] && theirs[field] !== began[field] && values[field] !== theirs[field],
    )
    .map((field) => ({ field, theirs: String(theirs[field] ?? '') }))
}
