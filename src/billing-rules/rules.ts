import type { Static } from 'typebox'
import type { FieldFault, Reason } from '../refusals.ts'
import { given } from '../values.ts'
import { type Period, ruleType, type saveBillingRule } from './contract.ts'

type RuleBody = Static<NonNullable<typeof saveBillingRule.body>>

/** The members that a rule of its type has; those of the other types are not given (contract §5). */
export interface RuleTerms {
  periods: Period[] | null
  freeMinutes: number | null
  unitMinutes: number | null
  unitPrice: string | null
  dailyCap: string | null
}

const required: Reason = { en: 'is required for this rule type', zh: '此类型的规则必填' }

/** Reads the terms of a rule, and tells every fault that its members have together. */
export function readTerms(body: RuleBody): { terms: RuleTerms; faults: FieldFault[] } {
  if (body.ruleType === ruleType.occupancy) {
    const terms = {
      periods: null,
      freeMinutes: given(body.freeMinutes),
      unitMinutes: given(body.unitMinutes),
      unitPrice: given(body.unitPrice),
      dailyCap: given(body.dailyCap),
    }
    const needed = ['freeMinutes', 'unitMinutes', 'unitPrice'] as const
    const faults = needed.filter((field) => terms[field] === null).map((field) => ({ field, reason: required }))
    return { terms, faults }
  }
  const periods = given(body.periods)
  const terms = {
    // Only the documented members are kept.
    periods:
      periods?.map(({ startTime, electricityPrice, servicePrice }) => ({
        startTime,
        electricityPrice,
        servicePrice,
      })) ?? null,
    freeMinutes: null,
    unitMinutes: null,
    unitPrice: null,
    dailyCap: null,
  }
  return { terms, faults: periods === null ? [{ field: 'periods', reason: required }] : periodFaults(periods) }
}

function periodFaults(periods: readonly Period[]): FieldFault[] {
  return periods.flatMap(({ startTime }, index) => {
    const field = `periods[${index}].startTime`
    if (index === 0) {
      return startTime === '00:00:00'
        ? []
        : [{ field, reason: { en: 'must be 00:00:00 in the first period', zh: '第一个时段必须从 00:00:00 开始' } }]
    }
    const before = periods[index - 1] as Period
    return startTime > before.startTime
      ? []
      : [{ field, reason: { en: 'must be later than the period before', zh: '必须晚于前一时段' } }]
  })
}
