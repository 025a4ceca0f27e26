import { Checkbox, Form } from 'antd'
import { useState } from 'react'
import { type ChosenSites, type GivenRules, schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { newIdempotencyKey, useWrite } from '../api/api.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { RulePicker } from '../pricing/rule-picker.tsx'
import { CountedDialog } from '../ui/dialog/counted-dialog.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { useSiteFields } from '../words/fields.ts'
import { readSites } from './following-sites.tsx'
import { MomentField, useServiceNow } from './moment-field.tsx'
import { presetMoments } from './presets.ts'
import { useTexts } from './texts.ts'

/** The list's filters that a price change accepts. With any other filter, the ids of the sites are sent. */
const takenFilters = ['provinceCode', 'cityCode', 'districtCode', 'billingRuleId'] as const

/** The sites of a price change: chosen ones, or those that a list's filters match. */
export type Subject = { ids: number[] } | { filters: Record<string, string> }

/** The sites as the operation takes them; undefined if more ids than allowed would be needed. */
async function sitesOf(appId: string, subject: Subject): Promise<ChosenSites | undefined> {
  if ('ids' in subject) return { ids: subject.ids }
  const given = Object.entries(subject.filters).filter(([name, value]) => value !== '' && name !== 'appId')
  if (given.length === 0) return { all: true }
  if (given.every(([name]) => takenFilters.some((taken) => taken === name))) {
    return Object.fromEntries(given.map(([name, value]) => [name, name === 'billingRuleId' ? Number(value) : value]))
  }
  const found = await readSites({ ...Object.fromEntries(given), appId }, limits.priceChangeIds + 1)
  return found.sites.length > limits.priceChangeIds ? undefined : { ids: found.sites.map(({ id }) => id) }
}

interface Counted {
  sites: ChosenSites
  count: number
}

/** The entry for each field of a site: absent, a rule, or null for no rule. */
type Draft = Partial<Record<keyof GivenRules, number | null>>

interface OtherRulesProps {
  appId: string
  subject: Subject
  onClose: () => void
  onDone: () => void
}

/** Asks for other rules of sites from a moment on, counts the sites, and schedules the change. */
export function OtherRules(props: OtherRulesProps) {
  const t = useTexts()
  const clock = useServiceNow()
  if (clock === undefined) {
    return (
      <Dialog title={t('otherRulesTitle')} onClose={props.onClose}>
        <Loading />
      </Dialog>
    )
  }
  return <RulesDialog {...props} tomorrow={presetMoments(clock.now).tomorrow} />
}

function RulesDialog({ appId, subject, onClose, onDone, tomorrow }: OtherRulesProps & { tomorrow: string }) {
  const t = useTexts()
  const schedule = useWrite(schedulePriceChange)
  const [headers] = useState(newIdempotencyKey)
  const [effectiveTime, setTime] = useState(tomorrow)
  const [reason, setReason] = useState('')
  const [rules, setRules] = useState<Draft>({})
  const [counted, setCounted] = useState<Counted>()
  const [isTooMany, setTooMany] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const isReady = effectiveTime !== '' && Object.keys(rules).length > 0
  const input = { appId, effectiveTime, rules, reason: reason.trim() === '' ? null : reason }

  /** After a change of the entries, the sites must be counted again. */
  function changed(): void {
    setCounted(undefined)
    setTooMany(false)
    schedule.reset()
  }

  async function count(): Promise<void> {
    setBusy(true)
    changed()
    try {
      const sites = await sitesOf(appId, subject)
      if (sites === undefined) return setTooMany(true)
      const { siteCount } = await schedule.mutateAsync({ input: { ...input, sites, dryRun: true } })
      setCounted({ sites, count: siteCount ?? 0 })
    } catch {
      // The refusal is shown.
    } finally {
      setBusy(false)
    }
  }

  async function send({ sites }: Counted): Promise<void> {
    setBusy(true)
    try {
      await schedule.mutateAsync({ input: { ...input, sites }, headers })
      showSuccess(t('scheduled'))
      onDone()
    } catch {
      // The refusal is shown.
    } finally {
      setBusy(false)
    }
  }

  return (
    <CountedDialog
      title={t('otherRulesTitle')}
      isReady={isReady}
      counted={counted && { words: t('counted', { count: grouped(counted.count) }) }}
      count={() => void count()}
      isCounting={isBusy && counted === undefined}
      verb={t('scheduleFor', { count: grouped(counted?.count ?? 0) })}
      run={() => counted && void send(counted)}
      isRunning={isBusy}
      error={schedule.error}
      fieldNames={{ effectiveTime: t('effective') }}
      onClose={onClose}
    >
      {isTooMany && <Note type="warning" words={t('filterTooMany', { most: grouped(limits.priceChangeIds) })} />}
      <p>{'ids' in subject ? t('chosenSites', { count: subject.ids.length }) : t('matchingSites')}</p>
      <Form layout="vertical" component="div">
        <Form.Item label={t('effective')} required htmlFor="other-rules-from">
          <MomentField
            id="other-rules-from"
            value={effectiveTime}
            onChange={(moment) => {
              setTime(moment)
              changed()
            }}
          />
        </Form.Item>
        <RuleChoices
          appId={appId}
          rules={rules}
          onChange={(now) => {
            setRules(now)
            changed()
          }}
        />
        <TextItem
          label={t('reason')}
          extra={t('reasonKept')}
          most={lengths.reason}
          value={reason}
          onChange={setReason}
        />
      </Form>
    </CountedDialog>
  )
}

interface RuleChoicesProps {
  appId: string
  rules: Draft
  onChange: (rules: Draft) => void
}

function RuleChoices({ appId, rules, onChange }: RuleChoicesProps) {
  const t = useTexts()
  const sites = useSiteFields()
  return ruleFields.map(({ field, ruleType }) => {
    const { [field]: chosen, ...others } = rules
    return (
      <Form.Item key={field} label={sites(field)} htmlFor={`other-rules-${field}`}>
        <div className="in-a-row">
          <div className="grows-from-240">
            <RulePicker
              id={`other-rules-${field}`}
              appId={appId}
              ruleType={ruleType}
              label={sites(field)}
              placeholder={chosen === null ? t('noRule') : t('asItIs')}
              value={chosen ?? null}
              onChange={(rule) => onChange(rule === null ? others : { ...others, [field]: rule })}
            />
          </div>
          <Checkbox
            aria-label={`${sites(field)}: ${t('noneFrom')}`}
            checked={chosen === null}
            onChange={({ target }) => onChange(target.checked ? { ...others, [field]: null } : others)}
          >
            {t('noneFrom')}
          </Checkbox>
        </div>
      </Form.Item>
    )
  })
}
