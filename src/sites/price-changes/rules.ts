import type { Static } from 'typebox'
import { type RuleTerms, termsOf } from '../../billing-rules/rules.ts'
import { readActor } from '../../events/rules.ts'
import { unknownWithin } from '../../http/validate.ts'
import { limits } from '../../vocabulary/limits.ts'
import { readMoment, showMoment } from '../../vocabulary/moments.ts'
import type { FieldFault, Reason } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { SiteRule } from '../prices/rules.ts'
import type { NamedRules, Site } from '../rules.ts'
import {
  ChosenSites,
  type GivenRules,
  type PriceChangeRecord,
  priceChangeStatus,
  type schedulePriceChange,
} from './contract.ts'

/** In the customer's document, "rushing" is slow charging and "placeholder" is occupancy. */
export const ruleFields = {
  fast: { number: 1, member: 'fastRuleId', given: 'fastChargeBillRuleId' },
  slow: { number: 2, member: 'slowRuleId', given: 'rushingBillRuleId' },
  occupancy: { number: 3, member: 'occupancyRuleId', given: 'placeholderBillRuleId' },
} as const satisfies Record<string, { number: number; member: keyof NamedRules; given: keyof GivenRules }>

export type Field = keyof typeof ruleFields
const everyField = Object.keys(ruleFields) as Field[]
export const fieldOf = (number: number) => everyField[number - 1] as Field

export interface RulesOfSite {
  siteId: number
  rules: Partial<Record<Field, number | null>>
}

type ShownMembers = 'id' | 'appId' | 'billingRuleId' | 'rules' | 'siteCount' | 'skippedCount' | 'reason' | 'undoOf'

export interface PriceChange extends Pick<PriceChangeRecord, ShownMembers> {
  effectiveAt: Date
  terms: RuleTerms
  fields: readonly Field[]
  createdAt: Date
  createdBy: string
  appliedAt: Date | null
  cancelledAt: Date | null
  cancelledBy: string | null
}

type GivenMembers = 'appId' | 'effectiveAt' | 'skippedCount' | 'reason' | 'undoOf' | 'createdAt' | 'createdBy'

export interface NewPriceChange extends Pick<PriceChange, GivenMembers> {
  what:
    | { billingRuleId: number; terms: RuleTerms }
    | { fields: readonly Field[]; rules: GivenRules | null; sites: readonly RulesOfSite[] }
}

export function draftOf({ what, ...change }: NewPriceChange): PriceChange {
  const noTerms = { periods: null, freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
  const brought =
    'terms' in what
      ? { ...what, fields: [], rules: null, siteCount: null }
      : { billingRuleId: null, terms: noTerms, fields: what.fields, rules: what.rules, siteCount: what.sites.length }
  return { id: 0, ...change, ...brought, appliedAt: null, cancelledAt: null, cancelledBy: null }
}

/** Returns the public record at a time of the database's clock. */
export function showPriceChange(change: PriceChange, now: Date): PriceChangeRecord {
  const { effectiveAt, createdBy, appliedAt, cancelledAt, cancelledBy } = change
  const shown = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  return {
    id: change.id,
    appId: change.appId,
    status: statusOf(change, now),
    effectiveTime: showMoment(effectiveAt),
    effectiveAt: effectiveAt.toISOString(),
    billingRuleId: change.billingRuleId,
    ...termsOf(change.terms),
    rules: change.rules,
    siteCount: change.siteCount,
    skippedCount: change.skippedCount,
    reason: change.reason,
    undoOf: change.undoOf,
    createTime: showMoment(change.createdAt),
    createdBy: readActor(createdBy).actor,
    appliedTime: shown(appliedAt),
    cancelTime: shown(cancelledAt),
    cancelledBy: cancelledBy === null ? null : readActor(cancelledBy).actor,
  }
}

function statusOf({ appliedAt, cancelledAt, effectiveAt }: PriceChange, now: Date): number {
  if (cancelledAt !== null) return priceChangeStatus.cancelled
  return appliedAt !== null || effectiveAt <= now ? priceChangeStatus.inForce : priceChangeStatus.waiting
}

const either: Reason = {
  en: 'send either billingRuleId or sites, not both',
  zh: 'billingRuleId 与 sites 必须且只能给出一个',
}
const belongsToSites: Reason = {
  en: 'can be used only with sites, not with billingRuleId',
  zh: '与 sites 一起使用，不与 billingRuleId 一起使用',
}
const belongsToRule: Reason = {
  en: 'can be used only with billingRuleId, not with sites',
  zh: '与 billingRuleId 一起使用，不与 sites 一起使用',
}
const oneForm: Reason = {
  en: 'must have exactly one of: ids, all, or filters',
  zh: '必须给出 ids、all 或至少一个筛选条件，三者只能取其一',
}
const notChoosing: Reason = { en: 'is not a filter of sites', zh: '不是站点的筛选条件' }
const atLeastOneRule: Reason = {
  en: 'must have at least one of fastChargeBillRuleId, rushingBillRuleId, placeholderBillRuleId',
  zh: '必须至少包含 fastChargeBillRuleId、rushingBillRuleId、placeholderBillRuleId 之一',
}

type ScheduleBody = Partial<Static<NonNullable<typeof schedulePriceChange.body>>>

/** Returns the errors that need no database: which fields belong together. */
export function scheduleFaults(body: ScheduleBody, faulty: readonly string[]): FieldFault[] {
  const sites = given(body.sites)
  const rules = given(body.rules)
  const hasRule = given(body.billingRuleId) !== null
  const unknown = unknownFilters(sites)
  // One of the two was given, but is invalid.
  if (faulty.some((field) => /^(billingRuleId|sites)\b/.test(field))) return unknown
  if (hasRule === (sites !== null)) return ['billingRuleId', 'sites'].map((field) => ({ field, reason: either }))
  if (sites === null) return rules === null ? [] : [{ field: 'rules', reason: belongsToSites }]
  const terms = ['periods', 'freeMinutes', 'unitMinutes', 'unitPrice', 'dailyCap'] as const
  const foreign = terms.filter((field) => (body[field] ?? '') !== '')
  return [
    ...foreign.map((field) => ({ field, reason: belongsToRule })),
    ...unknown,
    ...(formsOf(sites) === 1 ? [] : [{ field: 'sites', reason: oneForm }]),
    ...(rules !== null && fieldsOf(rules).length > 0 ? [] : [{ field: 'rules', reason: atLeastOneRule }]),
  ]
}

/** Refuses a misspelt filter, which would select more sites. Beside `ids` or `all`, other fields select nothing. */
function unknownFilters(sites: unknown): FieldFault[] {
  if (typeof sites !== 'object' || sites === null || Array.isArray(sites)) return []
  const { ids, all } = sites as Partial<ChosenSites>
  return given(ids) === null && all !== true ? unknownWithin('sites', ChosenSites, sites, notChoosing) : []
}

const siteFilters = ['provinceCode', 'cityCode', 'districtCode', 'billingRuleId'] as const

/** Counts the ways of selecting sites that are used: `ids`, `all`, filters. */
function formsOf({ ids, all, ...filters }: ChosenSites): number {
  const isFiltered = siteFilters.some((name) => given(filters[name]) !== null)
  return [given(ids) !== null, all === true, isFiltered].filter(Boolean).length
}

const fieldsOf = (rules: GivenRules): Field[] =>
  everyField.filter((field) => rules[ruleFields[field].given] !== undefined)

/** Returns the given rules by field; null removes a rule. */
export function readRules(rules: GivenRules): { given: GivenRules; byField: RulesOfSite['rules'] } {
  const fields = fieldsOf(rules)
  const byField = Object.fromEntries(fields.map((field) => [field, given(rules[ruleFields[field].given])]))
  return {
    given: Object.fromEntries(fields.map((field) => [ruleFields[field].given, byField[field] ?? null])),
    byField,
  }
}

const wholeSeconds: Reason = { en: 'must be in whole seconds', zh: '必须精确到整秒' }
const skipped: Reason = {
  en: 'doesn’t exist in the service’s time zone (daylight saving)',
  zh: '在服务时区中，时钟会跳过该时刻',
}

/** Returns the errors of a time that need no clock. A local time that occurs twice means the first. */
export function momentFault(text: string): FieldFault[] {
  const field = 'effectiveTime'
  if (/\.\d*[1-9]/.test(text)) return [{ field, reason: wholeSeconds }]
  if (text.includes(' ') && showMoment(readMoment(text)) !== text) return [{ field, reason: skipped }]
  return []
}

const dayMs = 86_400_000

/** Refuses a time that is not in the future, or too far in it. */
export function aheadFault(effectiveAt: Date, now: Date): FieldFault[] {
  const field = 'effectiveTime'
  if (effectiveAt <= now) return [{ field, reason: { en: 'must be in the future', zh: '必须晚于当前时间' } }]
  if (effectiveAt.getTime() - now.getTime() <= limits.priceChangeDays * dayMs) return []
  const days = limits.priceChangeDays
  return [{ field, reason: { en: `must be at most ${days} days ahead`, zh: `不得晚于 ${days} 天之后` } }]
}

/** Returns the site with its new rules, and the fields that already had them. */
export function withRules(site: Site, { rules }: RulesOfSite) {
  const given = everyField.filter((field) => rules[field] !== undefined)
  const same = given.filter((field) => rules[field] === site[ruleFields[field].member])
  const members = given.map((field) => [ruleFields[field].member, rules[field]])
  return { site: { ...site, ...Object.fromEntries(members) } as Site, same, isChanged: same.length < given.length }
}

export const rowsOfSites = (sites: readonly RulesOfSite[]): SiteRule[] =>
  sites.flatMap(({ siteId, rules }) =>
    Object.entries(rules).map(([field, ruleId]) => ({ siteId, field: ruleFields[field as Field].number, ruleId })),
  )

export function changedRules(before: Site, after: Site): SiteRule[] {
  const changed = everyField.filter((field) => before[ruleFields[field].member] !== after[ruleFields[field].member])
  const rules = Object.fromEntries(changed.map((field) => [field, after[ruleFields[field].member]]))
  return rowsOfSites([{ siteId: after.id, rules }])
}
