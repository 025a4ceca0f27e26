import type { Static } from 'typebox'
import type { FieldFault, Reason } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import {
  type BillingRuleRecord,
  type Period,
  ruleType,
  type saveBillingRule,
  type updateBillingRule,
} from './contract.ts'

type RuleBody = Static<NonNullable<typeof saveBillingRule.body>>
type RuleUpdate = Static<NonNullable<typeof updateBillingRule.body>>

/** The members that depend on the rule's type. The members of other types are null (contract §5). */
export interface RuleTerms {
  periods: Period[] | null
  freeMinutes: number | null
  unitMinutes: number | null
  unitPrice: string | null
  dailyCap: string | null
}

/** The terms among the members of a record, always in the same order, so that equal terms have the same JSON text. */
export const termsOf = ({ periods, freeMinutes, unitMinutes, unitPrice, dailyCap }: RuleTerms): RuleTerms => ({
  periods,
  freeMinutes,
  unitMinutes,
  unitPrice,
  dailyCap,
})

export const areSameTerms = (one: RuleTerms, other: RuleTerms) =>
  JSON.stringify(termsOf(one)) === JSON.stringify(termsOf(other))

const required: Reason = { en: 'is required for this rule type', zh: '此类型的规则必填' }

/** The faults that show only when the members of a rule are checked together. */
export function ruleFaults(body: Partial<RuleBody>): FieldFault[] {
  if (body.ruleType === undefined) return []
  const periods = given(body.periods)
  if (body.ruleType !== ruleType.occupancy) {
    return periods === null ? [{ field: 'periods', reason: required }] : periodFaults(periods)
  }
  const needed = ['freeMinutes', 'unitMinutes', 'unitPrice'] as const
  return needed.filter((field) => given(body[field]) === null).map((field) => ({ field, reason: required }))
}

/** Reads the terms of a rule without faults: only the documented members, and only those of its type. */
export function readTerms(body: RuleBody): RuleTerms {
  if (body.ruleType === ruleType.occupancy) {
    return {
      periods: null,
      freeMinutes: given(body.freeMinutes),
      unitMinutes: given(body.unitMinutes),
      unitPrice: given(body.unitPrice),
      dailyCap: given(body.dailyCap),
    }
  }
  const periods = given(body.periods)?.map(({ startTime, electricityPrice, servicePrice }) => ({
    startTime,
    electricityPrice,
    servicePrice,
  }))
  return { periods: periods ?? null, freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
}

/** The faults of an update that show without reading the rule: given periods must be in order. */
export function updateFaults(change: Partial<RuleUpdate>): FieldFault[] {
  const periods = given(change.periods)
  return periods === null || change.ruleType === ruleType.occupancy ? [] : periodFaults(periods)
}

const fixed: Reason = { en: 'cannot be changed', zh: '不可更改' }

/** Returns the rule with the given members changed, and the faults that the changed rule has. */
export function changeRule(
  rule: BillingRuleRecord,
  change: RuleUpdate,
): { changed: BillingRuleRecord; faults: FieldFault[] } {
  const { appId, ruleType: type } = rule
  const body = { ...rule, ...change, appId, ruleType: type as RuleBody['ruleType'] }
  const faults = change.ruleType === undefined || change.ruleType === type ? [] : [{ field: 'ruleType', reason: fixed }]
  return {
    changed: { ...rule, ruleName: body.ruleName, ...readTerms(body) },
    faults: [...faults, ...ruleFaults(body)],
  }
}

/** The faults in the order of periods. `startTime` may be missing, which is another fault: this one skips it. */
function periodFaults(periods: readonly Partial<Period>[]): FieldFault[] {
  return periods.flatMap(({ startTime }, index) => {
    if (startTime === undefined) return []
    const field = `periods[${index}].startTime`
    if (index === 0) {
      return startTime === '00:00:00'
        ? []
        : [{ field, reason: { en: 'must be 00:00:00 in the first period', zh: '第一个时段必须从 00:00:00 开始' } }]
    }
    const before = periods[index - 1]?.startTime
    return before === undefined || startTime > before
      ? []
      : [{ field, reason: { en: 'must be later than the period before', zh: '必须晚于前一时段' } }]
  })
}
