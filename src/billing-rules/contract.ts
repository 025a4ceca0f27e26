import Type, { type Static } from 'typebox'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, sortedBy, timeRange } from '../vocabulary/pages.ts'
import {
  anyAppId,
  described,
  freeText,
  integer,
  moment,
  money,
  name,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  shownKey,
  timeOfDay,
} from '../vocabulary/values.ts'

const folder = '/api/charging/v1/billingRule'

/** A site's three rule fields take one type each. */
export const ruleType = { fast: 1, slow: 2, occupancy: 3 } as const

const RuleType = named(
  'RuleType',
  described(oneOf(1, 2, 3), '1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed.'),
)

export const Period = named(
  'Period',
  Type.Object({ startTime: timeOfDay, electricityPrice: money, servicePrice: money }),
)
export type Period = Static<typeof Period>

export const mostPeriods = 32
/** A rule counts at most a year. */
export const mostMinutes = 525_600

/** The pricing; each type takes its own fields. */
export const ruleTerms = {
  periods: optional(Type.Array(Period, { minItems: 1, maxItems: mostPeriods })),
  freeMinutes: optional(integer(0, mostMinutes)),
  unitMinutes: optional(integer(1, mostMinutes)),
  unitPrice: optional(money),
  dailyCap: optional(money),
}

export const shownTerms = {
  periods: nullable(Type.Array(Period)),
  freeMinutes: nullable(Type.Integer()),
  unitMinutes: nullable(Type.Integer()),
  unitPrice: nullable(Type.String()),
  dailyCap: nullable(Type.String()),
}

const ruleMembers = { ruleName: name, ruleType: RuleType, ...ruleTerms }

export const BillingRuleRecord = named(
  'BillingRule',
  Type.Object({
    id: Type.Integer(),
    appId: Type.String(),
    ruleName: Type.String(),
    ruleType: Type.Integer({ [shownKey]: RuleType }),
    ...shownTerms,
    createTime: moment,
  }),
)
export type BillingRuleRecord = Static<typeof BillingRuleRecord>

export const saveBillingRule = operation({
  id: 'saveBillingRule',
  group: 'billingRules',
  summary: 'Creates a billing rule. Types 1 and 2 take periods; type 3 takes minutes and prices.',
  words: { en: 'Create a billing rule', zh: '新建计费规则' },
  method: 'POST',
  path: `${folder}/save`,
  callers: ['application', 'operator'],
  example: { periods: [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }] },
  body: Type.Object({ appId: ownAppId, ...ruleMembers }),
  data: BillingRuleRecord,
  refusals: ['applicationNotFound'],
  idempotent: true,
  tagged: true,
})

const id = integer(1)
const ofOne = {
  callers: ['application', 'operator'],
  data: BillingRuleRecord,
  statuses: { billingRuleNotFound: 404 },
} as const

export const updateBillingRule = operation({
  id: 'updateBillingRule',
  group: 'billingRules',
  summary: 'Updates the fields that you send of a billing rule; null clears a field. The type can’t be changed.',
  words: { en: 'Update a billing rule', zh: '修改计费规则' },
  method: 'POST',
  path: `${folder}/update`,
  ...ofOne,
  example: { ruleName: 'Day and night' },
  body: Type.Object({ appId: ownAppId, id, ...Type.Partial(Type.Object(ruleMembers)).properties }),
  refusals: ['applicationNotFound', 'billingRuleNotFound'],
  tagged: true,
  conditional: true,
})

export const deleteBillingRule = operation({
  id: 'deleteBillingRule',
  group: 'billingRules',
  summary:
    'Deletes a billing rule and returns its last state. Refused while a site uses it or a scheduled price change assigns it to sites.',
  words: { en: 'Delete a billing rule', zh: '删除计费规则' },
  method: 'POST',
  path: `${folder}/delete`,
  ...ofOne,
  body: Type.Object({ appId: ownAppId, id }),
  refusals: ['applicationNotFound', 'billingRuleNotFound', 'billingRuleInUse'],
  idempotent: true,
  conditional: true,
})

export const getBillingRule = operation({
  id: 'getBillingRule',
  group: 'billingRules',
  summary: 'Returns one billing rule.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ofOne,
  query: Type.Object({ appId: ownAppId, id }),
  refusals: ['applicationNotFound', 'billingRuleNotFound'],
  tagged: true,
})

export const ruleSorts = ['createTime', 'id', 'ruleName', 'ruleType'] as const

export const pageBillingRules = operation({
  id: 'pageBillingRules',
  group: 'billingRules',
  summary:
    'Lists billing rules, newest first. Without `sort`, the rules of several applications are grouped by `appId`.',
  method: 'GET',
  path: `${folder}/page`,
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    ...sortedBy(ruleSorts),
    ruleName: optional(freeText(64, 'part of the name, not case-sensitive')),
    ruleType: optional(RuleType),
    ...timeRange,
  }),
  data: pageOf(BillingRuleRecord),
  refusals: ['applicationNotFound'],
})
