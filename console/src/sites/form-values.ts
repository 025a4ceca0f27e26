import type { SiteRecord, SiteRegistration } from '../../../src/sites/contract.ts'
import type { RuleField } from '../pricing/rule-fields.ts'

// Converts between a site of the API and the values of its form, where a missing text is ''.

type Field = Exclude<keyof SiteRegistration, 'appId'>

export type SiteValues = Record<Exclude<Field, RuleField>, string> & Record<RuleField, number | null>

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

export const fields = Object.keys(noValues) as Field[]

/** The initial values of the form: those of a site, or empty ones. */
export function valuesOf(site: SiteRecord | undefined): SiteValues {
  if (site === undefined) return noValues
  return Object.fromEntries(fields.map((field) => [field, site[field] ?? noValues[field]])) as unknown as SiteValues
}

/** What a site and its place have of their own. */
const ownValues = { siteName: '', detailAddress: '', coordinates: '', sitePictureUrl: '', ipcIds: '' }

/** The initial values of a new site that is to be like another: all that is not the other's own. */
export const valuesLike = (site: SiteRecord): SiteValues => ({ ...valuesOf(site), ...ownValues })
