import type { Static } from 'typebox'
import type { FieldFault, Reason } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import {
  type BillingRuleRecord,
  type Period,
  type ruleTerms,
  ruleType,
  type saveBillingRule,
  type updateBillingRule,
} from './contract.ts'

type RuleBody = Static<NonNullable<typeof saveBillingRule.body>>
type RuleUpdate = Static<NonNullable<typeof updateBillingRule.body>>

/** The fields of other types are null (contract §5). */
export type RuleTerms = Pick<BillingRuleRecord, keyof typeof ruleTerms>

/** Returns the pricing in a fixed order, so that equal pricing has equal JSON. */
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

/** Returns the errors that show only when a rule's fields are checked together. */
export function ruleFaults(body: Partial<RuleBody>): FieldFault[] {
  if (body.ruleType === undefined) return []
  const periods = given(body.periods)
  if (body.ruleType !== ruleType.occupancy) {
    return periods === null ? [{ field: 'periods', reason: required }] : periodFaults(periods)
  }
  const needed = ['freeMinutes', 'unitMinutes', 'unitPrice'] as const
  return needed.filter((field) => given(body[field]) === null).map((field) => ({ field, reason: required }))
}

/** Reads a valid rule's pricing: only the fields of its type. */
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

/** Returns the errors of an update that need no rule: periods must be in order. */
export function updateFaults(change: Partial<RuleUpdate>): FieldFault[] {
  const periods = given(change.periods)
  return periods === null || change.ruleType === ruleType.occupancy ? [] : periodFaults(periods)
}

const fixed: Reason = { en: 'cannot be changed', zh: '不可更改' }

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

/** Returns the errors in the order of periods. A missing `startTime` is another error and skipped. */
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
