import { Form, Input, InputNumber } from 'antd'
import { type BillingRuleRecord, mostMinutes } from '../../../src/billing-rules/contract.ts'
import { isSound, money } from './day-periods.ts'
import { type EditedPeriod, firstPeriods, keyed, PeriodsEditor, toSend } from './periods.tsx'
import { useTexts } from './texts.ts'

/** The terms of a rule while they are edited. */
export interface EnteredTerms {
  periods: EditedPeriod[]
  freeMinutes: number | null
  unitMinutes: number | null
  unitPrice: string
  dailyCap: string
}

/** The initial values: the terms of a rule, or of a new rule with its first period. */
export const enteredTerms = (rule: BillingRuleRecord | undefined): EnteredTerms => ({
  periods: rule?.periods?.map(keyed) ?? firstPeriods(),
  freeMinutes: rule === undefined ? 30 : rule.freeMinutes,
  unitMinutes: rule === undefined ? 15 : rule.unitMinutes,
  unitPrice: rule?.unitPrice ?? '',
  dailyCap: rule?.dailyCap ?? '',
})

/** The members of a request: those that rules of this type have. */
export function termsToSend({ periods, ...terms }: EnteredTerms, type: number) {
  if (type !== 3) return { periods: periods.map(toSend) }
  const { freeMinutes, unitMinutes, unitPrice, dailyCap } = terms
  return { freeMinutes, unitMinutes, unitPrice, dailyCap: dailyCap === '' ? null : dailyCap }
}

/** The names of the terms' fields. */
export function useTermNames(): Record<keyof EnteredTerms, string> {
  const t = useTexts()
  return {
    periods: t('periods'),
    freeMinutes: t('freeMinutes'),
    unitMinutes: t('unitMinutes'),
    unitPrice: t('unitPrice'),
    dailyCap: t('dailyCap'),
  }
}

interface TermsFieldsProps {
  type: number
  showsAll: boolean
  told: Record<string, string>
}

/** The fields of a rule's terms, by its type. */
export function TermsFields({ type, ...editor }: TermsFieldsProps) {
  return type === 3 ? <OccupancyFields /> : <PeriodFields {...editor} />
}

function PeriodFields(editor: { showsAll: boolean; told: Record<string, string> }) {
  const t = useTexts()
  const isDay = (_: unknown, periods: EditedPeriod[]) =>
    isSound(periods) ? Promise.resolve() : Promise.reject(new Error(t('periodsFaulty')))
  return (
    <>
      <h2>{t('periods')}</h2>
      <Form.Item name="periods" rules={[{ validator: isDay }]} validateTrigger={[]}>
        <PeriodsEditor {...editor} />
      </Form.Item>
    </>
  )
}

function OccupancyFields() {
  const t = useTexts()
  const needed = { required: true, message: t('required') }
  const amount = { pattern: money, message: t('fault_money') }
  return (
    <>
      <h2>{t('terms')}</h2>
      <div style={{ display: 'grid', gap: '0 16px', gridTemplateColumns: 'repeat(auto-fill, minmax(180px, 1fr))' }}>
        <Form.Item name="freeMinutes" label={t('freeMinutes')} rules={[needed]}>
          <InputNumber min={0} max={mostMinutes} precision={0} className="full-width" />
        </Form.Item>
        <Form.Item name="unitMinutes" label={t('unitMinutes')} rules={[needed]}>
          <InputNumber min={1} max={mostMinutes} precision={0} className="full-width" />
        </Form.Item>
        <Form.Item name="unitPrice" label={t('unitPrice')} rules={[needed, amount]}>
          <Input inputMode="decimal" autoComplete="off" />
        </Form.Item>
        <Form.Item name="dailyCap" label={t('dailyCap')} extra={t('dailyCapHelp')} rules={[amount]}>
          <Input inputMode="decimal" autoComplete="off" />
        </Form.Item>
      </div>
    </>
  )
}
