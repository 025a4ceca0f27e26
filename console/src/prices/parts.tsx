import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { getBillingRule } from '../../../src/billing-rules/contract.ts'
import {
  type GivenRules,
  type PriceChangeRecord,
  priceChangeStatus,
} from '../../../src/sites/price-changes/contract.ts'
import { given } from '../../../src/vocabulary/values.ts'
import { readAnew, useRead } from '../api/api.ts'
import { serviceTime } from '../api/clock.ts'
import { paths } from '../paths.ts'
import { useServiceClock } from '../pricing/clock.ts'
import { type Terms, termsOf } from '../pricing/line.ts'
import { ChangedTerms } from '../pricing/old-and-new.tsx'
import { ruleFields } from '../pricing/rule-fields.ts'
import { TermsInShort } from '../pricing/terms.tsx'
import { State } from '../ui/text/status.tsx'
import { useSiteFields } from '../words/fields.ts'
import '../pricing/pricing.css'
import { lengthOf } from './presets.ts'
import { useTexts } from './texts.ts'

/** The status of a price change. */
export function ChangeState({ status, isUndone = false }: { status: number; isUndone?: boolean }) {
  const t = useTexts()
  if (isUndone) return <State tone="idle">{t('wasUndone')}</State>
  const tone = status === priceChangeStatus.waiting ? 'busy' : status === priceChangeStatus.inForce ? 'good' : 'idle'
  return <State tone={tone}>{t(`status_${status as 1 | 2 | 3}`)}</State>
}

/** The name of a rule, as a link to it; its id once it is deleted. */
function RuleName({ appId, id }: { appId: string; id: number }) {
  const { data, error } = useRead(getBillingRule, { appId, id })
  if (error !== null) return <span className="number">{id}</span>
  return <Link to={paths.billingRule(appId, id)}>{data?.ruleName ?? id}</Link>
}

/** What a price change does: new terms of a rule, or other rules at sites. */
export function ChangeInWords({ change }: { change: PriceChangeRecord }) {
  const t = useTexts()
  const { appId, billingRuleId, rules, siteCount, undoOf } = change
  return (
    <div className="stacked">
      {billingRuleId === null ? (
        <>
          <SiteCount appId={appId} rules={rules} words={t('kindSites', { count: siteCount ?? 0 })} />
          {rules !== null && <RulesInWords appId={appId} rules={rules} />}
        </>
      ) : (
        <>
          <RuleName appId={appId} id={billingRuleId} />
          <TermsInShort terms={termsOf(change as Terms)} />
        </>
      )}
      {undoOf !== null && <span className="faint">{t('undoes', { id: undoOf })}</span>}
    </div>
  )
}

interface SiteCountProps {
  appId: string
  rules: GivenRules | null
  words: string
}

/** How many sites get a rule, with a link to the sites that have it. With no rule, or several, there is no such list. */
function SiteCount({ appId, rules, words }: SiteCountProps) {
  const t = useTexts()
  const [id, ...others] = ruleFields.map(({ field }) => given(rules?.[field])).filter((one) => one !== null)
  if (id === undefined || others.length > 0) return <span>{words}</span>
  return (
    <Link to={paths.sites({ appId, billingRuleId: id })} title={t('sitesWithRule')}>
      {words}
    </Link>
  )
}

function RulesInWords({ appId, rules }: { appId: string; rules: GivenRules }) {
  const t = useTexts()
  const sites = useSiteFields()
  return ruleFields
    .filter(({ field }) => rules[field] !== undefined)
    .map(({ field }) => {
      const id = given(rules[field])
      return (
        <span key={field}>
          <span className="faint">{sites(field)}:</span>{' '}
          {id === null ? t('noRule') : <RuleName appId={appId} id={id} />}
        </span>
      )
    })
}

/** Shows the time that is left until a moment. At that moment, the page's data is read again. */
export function Countdown({ at }: { at: string }) {
  const t = useTexts()
  const queries = useQueryClient()
  const instant = new Date(at).getTime()
  const [now, setNow] = useState(() => serviceTime())
  const left = instant - now
  const isOver = left <= 0
  // Seconds are shown only in the last hour.
  const everyMs = left > 3_600_000 ? 15_000 : 1_000
  useEffect(() => {
    if (isOver) {
      // Reads a little later, because the database's clock decides, which may be behind this one.
      const timer = setTimeout(() => void readAnew(queries), 2_500)
      return () => clearTimeout(timer)
    }
    const timer = setInterval(() => setNow(serviceTime()), everyMs)
    return () => clearInterval(timer)
  }, [isOver, everyMs, queries])
  const { days, hours, minutes, seconds } = lengthOf(left)
  if (isOver) return <span className="faint">{t('nowDue')}</span>
  return (
    <span className="faint number" role="timer">
      {days > 0
        ? t('inDays', { days, hours })
        : hours > 0
          ? t('inHours', { hours, minutes })
          : t('inMinutes', { minutes, seconds })}
    </span>
  )
}

interface PriceEntryProps {
  state: 'waits' | 'holds' | 'held'
  heading: string
  /** When waiting prices take effect. */
  at?: string | undefined
  buttons?: ReactNode
  /** Null if there is no rule. */
  terms: Terms | null
  /** Those before, to say what has changed. */
  former?: Terms | undefined
  /** Stands above the terms. */
  rule?: ReactNode
  /** Who or what brought the terms. */
  by?: ReactNode
}

/** Prices in the course of time: since when or from when on they are, what they are, and what brought them. */
export function PriceEntry({ state, heading, at, buttons, terms, former, rule, by }: PriceEntryProps) {
  const t = useTexts()
  const clock = useServiceClock()
  return (
    <li className={`price-line-${state}`}>
      <div className="price-line-head">
        <strong className="number">{heading}</strong>
        {at !== undefined && <Countdown at={at} />}
        {buttons}
      </div>
      {rule}
      {terms === null ? (
        <span className="faint">{t('noRule')}</span>
      ) : (
        <TermsInShort terms={terms} {...(state === 'holds' && { now: clock?.seconds })} />
      )}
      {terms && former && <ChangedTerms before={former} after={terms} most={4} />}
      {by && <div className="faint price-line-by">{by}</div>}
    </li>
  )
}
