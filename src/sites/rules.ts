import { ruleType } from '../billing-rules/contract.ts'
import { readCoordinates } from '../vocabulary/coordinates.ts'
import { showMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import type { SiteRecord, SiteRegistration, SiteUpdate } from './contract.ts'

/** In the customer's document, "rushing" is slow charging and "placeholder" is occupancy. */
type RulesOfRecord = 'fastChargeBillRuleId' | 'rushingBillRuleId' | 'placeholderBillRuleId'

export interface NamedRules {
  fastRuleId: number | null
  slowRuleId: number | null
  occupancyRuleId: number | null
}

export type SiteMembers = Omit<SiteRecord, 'id' | 'appId' | 'createTime' | RulesOfRecord> & NamedRules

export interface Site extends SiteMembers {
  id: number
  appId: string
  createdAt: Date
}

export function readSite(body: SiteRegistration): SiteMembers {
  const coordinates = given(body.coordinates)
  const { longitude, latitude } = readCoordinates(coordinates)
  return {
    siteName: body.siteName,
    contacts: body.contacts,
    contactsPhone: body.contactsPhone,
    customerServicePhone: body.customerServicePhone,
    businessWeekDay: body.businessWeekDay,
    businessStartTime: body.businessStartTime,
    businessClosingTime: body.businessClosingTime,
    sitePictureUrl: given(body.sitePictureUrl),
    fastRuleId: given(body.fastChargeBillRuleId),
    slowRuleId: given(body.rushingBillRuleId),
    occupancyRuleId: given(body.placeholderBillRuleId),
    ipcIds: given(body.ipcIds),
    provinceCode: body.provinceCode,
    provinceName: body.provinceName,
    cityCode: body.cityCode,
    cityName: body.cityName,
    districtCode: body.districtCode,
    districtName: body.districtName,
    detailAddress: given(body.detailAddress),
    coordinates,
    longitude,
    latitude,
  }
}

/** Returns the changed site; null clears an optional field. */
export function changeSite(site: Site, change: SiteUpdate): Site {
  // A site's record has all fields of a save's body.
  const { appId } = site
  return { ...site, ...readSite({ ...showWithoutId(appId, site, ''), ...change, appId }) }
}

/** Returns the record in the order of the customer's document (§2.2). The database assigns the ID. */
function showWithoutId(appId: string, site: SiteMembers, createTime: string): Omit<SiteRecord, 'id'> {
  return {
    appId,
    siteName: site.siteName,
    contacts: site.contacts,
    contactsPhone: site.contactsPhone,
    customerServicePhone: site.customerServicePhone,
    businessWeekDay: site.businessWeekDay,
    businessStartTime: site.businessStartTime,
    businessClosingTime: site.businessClosingTime,
    sitePictureUrl: site.sitePictureUrl,
    fastChargeBillRuleId: site.fastRuleId,
    rushingBillRuleId: site.slowRuleId,
    placeholderBillRuleId: site.occupancyRuleId,
    ipcIds: site.ipcIds,
    createTime,
    provinceCode: site.provinceCode,
    provinceName: site.provinceName,
    cityCode: site.cityCode,
    cityName: site.cityName,
    districtCode: site.districtCode,
    districtName: site.districtName,
    detailAddress: site.detailAddress,
    longitude: site.longitude,
    latitude: site.latitude,
    coordinates: site.coordinates,
  }
}

/** Returns the public record (document §2.2). */
export function showSite(site: Site): SiteRecord {
  return { id: site.id, ...showWithoutId(site.appId, site, showMoment(site.createdAt)) }
}

/** Returns the rules that a request names. Older ones were checked when they were set. */
export function rulesGiven(change: Pick<SiteUpdate, RulesOfRecord>): NamedRules {
  return {
    fastRuleId: given(change.fastChargeBillRuleId),
    slowRuleId: given(change.rushingBillRuleId),
    occupancyRuleId: given(change.placeholderBillRuleId),
  }
}

export interface RuleFault {
  field: 'fastChargeBillRuleId' | 'rushingBillRuleId' | 'placeholderBillRuleId'
  refusal: 'billingRuleNotFound' | 'billingRuleWrongType'
}

/** Returns rules of another type than their field (contract §4.1). An unknown rule has type null. */
export function ruleFaults(
  named: NamedRules,
  types: { fast: number | null; slow: number | null; occupancy: number | null },
): RuleFault[] {
  const fields = [
    { field: 'fastChargeBillRuleId', id: named.fastRuleId, type: types.fast, wanted: ruleType.fast },
    { field: 'rushingBillRuleId', id: named.slowRuleId, type: types.slow, wanted: ruleType.slow },
    { field: 'placeholderBillRuleId', id: named.occupancyRuleId, type: types.occupancy, wanted: ruleType.occupancy },
  ] as const
  return fields.flatMap(({ field, id, type, wanted }) => {
    if (id === null || type === wanted) return []
    return [{ field, refusal: type === null ? 'billingRuleNotFound' : 'billingRuleWrongType' } as const]
  })
}

/** Makes the refusal. If a rule is unknown, it names only the fields of unknown rules, else those of a wrong type. */
export function ruleRefusal(faults: RuleFault[]): Refusal {
  const refusal = faults.some((fault) => fault.refusal === 'billingRuleNotFound')
    ? 'billingRuleNotFound'
    : 'billingRuleWrongType'
  const reason =
    refusal === 'billingRuleNotFound'
      ? { en: 'is not a billing rule of this application', zh: '不是该应用的计费规则' }
      : { en: 'is a billing rule of another type', zh: '计费规则类型不符' }
  return new Refusal(refusal, {
    errors: faults.filter((fault) => fault.refusal === refusal).map(({ field }) => ({ field, reason })),
  })
}
