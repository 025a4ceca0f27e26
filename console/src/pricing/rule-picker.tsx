import { useId } from 'react'
import { getBillingRule, pageBillingRules } from '../../../src/billing-rules/contract.ts'
import { useRead } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { NothingFound, useTypedSearch } from '../ui/filter/search.tsx'
import { Select } from '../ui/form/fields.tsx'

const useTexts = defineTexts({
  anyRule: ['Any', '任意规则'],
  noRules: ['No matching billing rules.', '没有匹配的计费规则。'],
})

interface RulePickerProps {
  appId: string
  /** 1 fast charging, 2 slow charging, 3 occupancy; by default all. */
  ruleType?: 1 | 2 | 3
  id?: string
  label: string
  /** By default, that a part of the name is typed. */
  placeholder?: string
  value?: number | null
  onChange?: (id: number | null) => void
}

/** Chooses one of an application's billing rules by a part of its name. */
export function RulePicker({ appId, ruleType, id, label, placeholder, value = null, onChange }: RulePickerProps) {
  const t = useTexts()
  const { search, asked, isAsked } = useTypedSearch()
  const hasApplication = appId !== ''
  const found = useRead(
    pageBillingRules,
    { appId, pageSize: 20, ruleName: asked, ruleType },
    { enabled: hasApplication },
  )
  const chosen = useRead(getBillingRule, { appId, id: value ?? 0 }, { enabled: hasApplication && value !== null })
  const listed = isAsked ? (found.data?.list ?? []) : []
  const isWaiting = hasApplication && (!isAsked || found.isFetching)
  const isListed = listed.some((rule) => rule.id === value)
  const known = chosen.data !== undefined && !isListed && asked === '' ? [chosen.data, ...listed] : listed
  return (
    <Select<number | null>
      {...(id === undefined ? {} : { id })}
      aria-label={label}
      allowClear
      style={{ width: '100%', minWidth: 160 }}
      popupMatchSelectWidth={false}
      showSearch={{ filterOption: false, onSearch: search }}
      placeholder={placeholder ?? t('searchByName')}
      value={value}
      onChange={(chosenId) => onChange?.(chosenId ?? null)}
      loading={isWaiting}
      notFoundContent={<NothingFound isWaiting={isWaiting} words={t('noRules')} />}
      options={known.map((rule) => ({
        value: rule.id,
        label: (
          <span>
            {rule.ruleName} <span className="faint number">{rule.id}</span>
          </span>
        ),
      }))}
    />
  )
}

interface RuleFilterProps {
  appId: string
  value: string
  onChange: (value: string) => void
}

/** A filter: sites that name a billing rule in any of their rule fields. */
export function RuleFilter({ appId, value, onChange }: RuleFilterProps) {
  const t = useTexts()
  const id = useId()
  return (
    <label htmlFor={id}>
      {t('billingRule')}
      <RulePicker
        id={id}
        appId={appId}
        label={t('billingRule')}
        placeholder={t('anyRule')}
        value={value === '' ? null : Number(value)}
        onChange={(chosen) => onChange(chosen === null ? '' : String(chosen))}
      />
    </label>
  )
}
