import type { ActKind } from '../../../src/bulk/acts/contract.ts'
import { ruleFields } from '../pricing/rule-fields.ts'

/** The filters that are numbers in an act; in a page's address all are texts. */
const numbers = new Set(['status', 'onlineStatus', 'runStatus', 'siteId', 'billingRuleId'])
const booleans = new Set(['hasDevices', 'hasReported', 'isPlaced'])

/** The filters of a page's address as an act takes them; without filters, the act is for everything. */
export function actFilter(values: Record<string, string>): Record<string, unknown> {
  const given = Object.entries(values).filter(([name, value]) => value !== '' && name !== 'appId')
  if (given.length === 0) return { all: true }
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (numbers.has(name)) return [name, Number(value)]
      return [name, booleans.has(name) ? value === 'true' : value]
    }),
  )
}

/** The members that an act can set in the console, of each kind. */
export const settable = {
  devices: ['tag', 'detailAddress', 'provinceCode', 'cityCode', 'districtCode', 'deviceName'],
  sites: [
    'fastChargeBillRuleId',
    'rushingBillRuleId',
    'placeholderBillRuleId',
    'contacts',
    'contactsPhone',
    'customerServicePhone',
    'businessWeekDay',
    'businessStartTime',
    'businessClosingTime',
  ],
} as const satisfies Record<ActKind, readonly string[]>

/** Rules that a site names, with the type that each must have. */
export const ruleTypes: Record<string, 1 | 2 | 3> = Object.fromEntries(
  ruleFields.map(({ field, ruleType }) => [field, ruleType]),
)
