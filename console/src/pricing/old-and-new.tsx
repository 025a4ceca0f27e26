import { Form, type FormInstance } from 'antd'
import type { ReactNode } from 'react'
import type { BillingRuleRecord } from '../../../src/billing-rules/contract.ts'
import { useLanguage } from '../language/index.ts'
import { sentencesOf } from '../words/sentences.ts'
import { isSound, money } from './day-periods.ts'
import { areSame, type Terms, termsOf } from './line.ts'
import { TermsInShort } from './terms.tsx'
import type { EnteredTerms } from './terms-fields.tsx'
import './pricing.css'
import { useTexts } from './texts.ts'

/** The terms that a form holds; undefined while they are faulty. */
function soundTerms(rule: BillingRuleRecord, entered: Partial<EnteredTerms>): Terms | undefined {
  const { periods, freeMinutes = null, unitMinutes = null, unitPrice = '', dailyCap = '' } = entered
  if (rule.periods !== null) {
    return periods !== undefined && isSound(periods) ? { ...rule, periods } : undefined
  }
  const isWhole = freeMinutes !== null && unitMinutes !== null && money.test(unitPrice)
  if (!isWhole || (dailyCap !== '' && !money.test(dailyCap))) return undefined
  return { periods: null, freeMinutes, unitMinutes, unitPrice, dailyCap: dailyCap === '' ? null : dailyCap }
}

interface ChangedTermsProps {
  before: Terms
  after: Terms
  /** More are counted. */
  most?: number
}

/** What differs between two terms, each in a line; nothing if they are the same. */
export function ChangedTerms({ before, after, most = Number.POSITIVE_INFINITY }: ChangedTermsProps) {
  const t = useTexts()
  const language = useLanguage()
  const changes = sentencesOf('billingRule.updated', termsOf(before), termsOf(after), language)
  if (changes.length === 0) return null
  return (
    <ul className="changed-terms">
      {changes.slice(0, most).map(({ what, before, after }) => (
        <li key={what}>
          {what}: <span className="number">{before}</span> → <strong className="number">{after}</strong>
        </li>
      ))}
      {changes.length > most && <li>{t('moreChanges', { count: changes.length - most })}</li>}
    </ul>
  )
}

interface OldAndNewProps<Entered extends EnteredTerms> {
  form: FormInstance<Entered>
  rule: BillingRuleRecord
  /** Whom the new prices concern. */
  children?: ReactNode
}

/** Shows the present prices of a rule next to those in a form, if they differ. */
export function OldAndNew<Entered extends EnteredTerms>({ form, rule, children }: OldAndNewProps<Entered>) {
  const t = useTexts()
  const entered = Form.useWatch((values: Partial<EnteredTerms>) => values, form as unknown as FormInstance) ?? {}
  const terms = soundTerms(rule, entered)
  if (terms === undefined || areSame(terms, rule)) return null
  return (
    <section className="card old-and-new" aria-label={t('oldAndNew')}>
      <ChangedTerms before={rule} after={terms} />
      <div>
        <h2>{t('oldPrices')}</h2>
        <TermsInShort terms={rule} />
      </div>
      <div>
        <h2>{t('newPrices')}</h2>
        <TermsInShort terms={terms} />
      </div>
      {children}
    </section>
  )
}
