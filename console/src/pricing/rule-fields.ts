export type RuleField = 'fastChargeBillRuleId' | 'rushingBillRuleId' | 'placeholderBillRuleId'

/** The fields by which a site names its billing rules, and the type that each rule must have. */
export const ruleFields: readonly { field: RuleField; ruleType: 1 | 2 | 3 }[] = [
  { field: 'fastChargeBillRuleId', ruleType: 1 },
  { field: 'rushingBillRuleId', ruleType: 2 },
  { field: 'placeholderBillRuleId', ruleType: 3 },
]
