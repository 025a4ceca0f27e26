import type { InputRef } from 'antd'
import { useEffect, useId, useRef, useState } from 'react'
import { useNavigation, useSearchParams } from 'react-router'
import { getApplication, pageApplications } from '../../../../src/applications/contract.ts'
import { useRead } from '../../api/api.ts'
import { store, stored } from '../../browser/storage.ts'
import { useCommon } from '../../language/index.ts'
import { Input, Select } from '../form/fields.tsx'
import { Nothing } from '../page/nothing.tsx'
import { part } from '../page/part.tsx'
import { useChangeSearch } from './address.ts'
import { applicationOption, NothingFound, useApplicationSearch, useIsComposing } from './search.tsx'

/**
 * The filters of a page, kept in its address, so that a view can be sent to a colleague. Those that are `kept` narrow
 * nothing, and stay when the others are cleared.
 */
export function useFilters<Name extends string>(names: readonly Name[], kept: readonly Name[] = []) {
  const [search] = useSearchParams()
  const change = useChangeSearch()
  type Values = Record<Name, string>
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Values
  const narrowing = names.filter((name) => !kept.includes(name))
  function set(changes: Partial<Values>): void {
    // A changed filter starts at the first page.
    // At once, so that the rows are asked for before the browser draws anything else.
    change({ ...changes, cursor: undefined, pageNo: undefined }, { replace: true, flushSync: true })
  }
  return {
    values,
    set,
    /** What the field of a filter needs. */
    of: (name: Name) => ({
      value: values[name],
      onChange: (value: string) => set({ [name]: value } as Partial<Values>),
    }),
    /** What the field of a time range needs. */
    range: (from: Name, to: Name) => ({
      from: values[from],
      to: values[to],
      onChange: (first: string, last: string) => set({ [from]: first, [to]: last } as Partial<Values>),
    }),
    isNarrowed: narrowing.some((name) => values[name] !== ''),
    clear: () => set(Object.fromEntries(narrowing.map((name) => [name, ''])) as Values),
  }
}

interface FilterProps {
  label: string
  value: string
  onChange: (value: string) => void
}

interface TextFilterProps extends FilterProps {
  width?: number
  /** Maps the typed text to the filter's value; by default, without blanks around it. */
  meaning?: ((text: string) => string) | undefined
}

/** How long a text filter waits for another key. */
const typingMs = 60

/** A text filter, applied a moment after the last key, or at once with Enter. */
export function TextFilter({ label, value, onChange, width = 180, meaning = (text) => text.trim() }: TextFilterProps) {
  const id = useId()
  const [text, setText] = useState(value)
  const field = useRef<InputRef>(null)
  const { state } = useNavigation()
  const isUnfinished = useIsComposing()
  // A value that comes later from the address must not overwrite the text while the user types.
  useEffect(() => {
    if (document.activeElement !== field.current?.input) setText(value)
  }, [value])
  useEffect(() => {
    // While another page loads, this one's filter must not change the address.
    if (meaning(text) === value || state !== 'idle' || isUnfinished) return
    const timer = setTimeout(() => onChange(meaning(text)), typingMs)
    return () => clearTimeout(timer)
  })
  return (
    <label htmlFor={id}>
      {label}
      <Input
        ref={field}
        id={id}
        // Without it, the icon that clears the field would be a part of its name.
        aria-label={label}
        allowClear
        style={{ width: '100%', minWidth: Math.min(width, 140), maxWidth: width }}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPressEnter={() => onChange(meaning(text))}
      />
    </label>
  )
}

interface ChoiceFilterProps extends FilterProps {
  /** The values, with their words. */
  choices: Record<string, string>
  width?: number
}

/** The options of a list, from the words of its values. */
export const optionsOf = (words: Record<string, string>) =>
  Object.entries(words).map(([value, label]) => ({ value, label }))

export function ChoiceFilter({ label, value, onChange, choices, width = 140 }: ChoiceFilterProps) {
  const t = useCommon()
  const id = useId()
  return (
    <label htmlFor={id}>
      {label}
      <Select
        id={id}
        aria-label={label}
        style={{ minWidth: width }}
        popupMatchSelectWidth={false}
        value={value}
        onChange={onChange}
        options={optionsOf({ '': t('all'), ...choices })}
      />
    </label>
  )
}

export interface RangeFilterProps {
  label: string
  from: string
  to: string
  /** Set for the time of the last report, where the presets are lengths of silence and not days. */
  isOfSilence?: boolean
  onChange: (from: string, to: string) => void
}

/** A time range in the service's time zone. The calendar loads after the rows; its space is reserved until then. */
export const RangeFilter = part<RangeFilterProps>(
  async () => (await import('./range-filter.tsx')).RangeFilter,
  ({ label }) => (
    <div className="range-filter">
      {label}
      <div className="field-place" />
    </div>
  ),
)

const storageKey = 'forecourt.application'

/**
 * The application whose records a page shows: from the address, else the last one shown, else the only one there is.
 * Empty while none is chosen. A form of a new record does not take the last one shown, because the record would easily
 * be made in the wrong application.
 */
export function useApplication({ isOfNew = false } = {}): [appId: string, choose: (appId: string) => void] {
  const { values, set } = useFilters(['appId'] as const)
  const change = useChangeSearch()
  const [last] = useState(() => (isOfNew ? '' : (stored(storageKey) ?? '')))
  const known = useRead(getApplication, { appId: last }, { enabled: values.appId === '' && last !== '' })
  const only = useRead(pageApplications, { pageSize: 2 }, { enabled: values.appId === '' })
  const remembered = known.data?.appId ?? ''
  const single = only.data?.list.length === 1 ? (only.data.list[0]?.appId ?? '') : ''
  const fallback = remembered === '' ? single : remembered
  useEffect(() => {
    // In an effect nothing can be drawn at once, as `set` does.
    if (values.appId === '' && fallback !== '') change({ appId: fallback }, { replace: true })
    if (values.appId !== '') store(storageKey, values.appId)
  })
  return [values.appId, (appId) => set({ appId })]
}

interface PickerProps {
  value: string
  onChange: (appId: string) => void
  id?: string
  /** The application to leave out, such as the one that a device is moved from. */
  except?: string
  /** Whether the choice may be empty, which means all. */
  isOptional?: boolean
}

/** Chooses an application by a part of its name. */
export function ApplicationPicker({ value, onChange, id, except, isOptional = false }: PickerProps) {
  const t = useCommon()
  const { search, asked, found, isWaiting } = useApplicationSearch()
  const chosen = useRead(getApplication, { appId: value }, { enabled: value !== '' })
  const listed = found.filter(({ appId }) => appId !== except)
  const isListed = listed.some(({ appId }) => appId === value)
  const known = chosen.data !== undefined && !isListed && asked === '' ? [chosen.data, ...listed] : listed
  return (
    <Select
      id={id}
      aria-label={t('application')}
      style={{ minWidth: 220, width: '100%', maxWidth: 320 }}
      showSearch={{ filterOption: false, onSearch: search }}
      placeholder={t(isOptional ? 'allApplications' : 'chooseApplication')}
      allowClear={isOptional}
      value={value === '' ? null : value}
      onChange={(appId) => onChange(appId ?? '')}
      loading={isWaiting}
      notFoundContent={<NothingFound isWaiting={isWaiting} words={t('noApplications')} />}
      options={known.map(applicationOption)}
    />
  )
}

/** The picker as a page's first filter. */
export function ApplicationFilter({
  value,
  onChange,
  isOptional,
}: Pick<PickerProps, 'value' | 'onChange' | 'isOptional'>) {
  const t = useCommon()
  return (
    <div className="faint field-of-filter">
      <span aria-hidden>{t('application')}</span>
      <ApplicationPicker value={value} onChange={onChange} {...(isOptional && { isOptional })} />
    </div>
  )
}

/** Shown instead of a page's table while no application is chosen. */
export function NoApplication() {
  const t = useCommon()
  return <Nothing words={t('chooseApplicationFirst')} />
}
