import { FilterOutlined } from '@ant-design/icons'
import { Button, type InputRef } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react'
import { useNavigation, useSearchParams } from 'react-router'
import { useChangeSearch } from './address.ts'
import { Input, Select } from './fields.tsx'
import { countFilters } from './filter-count.ts'
import { useIsNarrow } from './narrow.ts'
import { useCommon } from './texts.ts'

/** A page's filters, kept in its address: what one sees can be sent to a colleague. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search] = useSearchParams()
  const change = useChangeSearch()
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Record<Name, string>
  function set(changes: Partial<Record<Name, string>>): void {
    // Another filter begins at the first page.
    change({ ...changes, cursor: undefined }, { replace: true })
  }
  const clear = (except: readonly Name[] = []) =>
    set(
      Object.fromEntries(names.filter((name) => !except.includes(name)).map((name) => [name, ''])) as Record<
        Name,
        string
      >,
    )
  const isNarrowed = (except: readonly Name[] = []) =>
    names.some((name) => !except.includes(name) && values[name] !== '')
  return { values, set, clear, isNarrowed }
}

interface FilterProps {
  label: string
  value: string
  onChange: (value: string) => void
}

interface TextFilterProps extends FilterProps {
  width?: number
  /** What a text stands for, where that is more than was typed. */
  meaning?: (text: string) => string
}

/** Text that is looked for a moment after the last key, or at once with Enter. */
export function TextFilter({ label, value, onChange, width = 180, meaning = (text) => text }: TextFilterProps) {
  const id = useId()
  const [text, setText] = useState(value)
  const field = useRef<InputRef>(null)
  const { state } = useNavigation()
  // What someone is typing is not overwritten by what the address said before.
  useEffect(() => {
    if (document.activeElement !== field.current?.input) setText(value)
  }, [value])
  useEffect(() => {
    // On the way to another page there is nothing more to look for on this one.
    if (meaning(text) === value || state !== 'idle') return
    const timer = setTimeout(() => onChange(meaning(text)), 400)
    return () => clearTimeout(timer)
  })
  return (
    <label htmlFor={id}>
      {label}
      <Input
        ref={field}
        id={id}
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
  choices: { value: string; label: string }[]
  width?: number
}

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
        options={[{ value: '', label: t('all') }, ...choices]}
      />
    </label>
  )
}

export interface RangeFilterProps {
  label: string
  from: string
  to: string
  onChange: (from: string, to: string) => void
}

const LazyRangeFilter = lazy(async () => ({ default: (await import('./range-filter.tsx')).RangeFilter }))

/** A range of the service's own time; the calendar comes after the rows, and its place is kept until then. */
export function RangeFilter(props: RangeFilterProps) {
  const place = (
    <div className="range-filter">
      {props.label}
      <div className="field-place" />
    </div>
  )
  return (
    <Suspense fallback={place}>
      <LazyRangeFilter {...props} />
    </Suspense>
  )
}

interface FilterBarProps {
  /** What is filtered by, to say how many filters are set. */
  values: Record<string, string>
  /** What is no filter but stands beside them. */
  beside?: ReactNode
  children: ReactNode
}

/** A page's filters; where there is no room, folded behind a button that says how many are set. */
export function FilterBar({ values, beside, children }: FilterBarProps) {
  const t = useCommon()
  const [isOpen, setOpen] = useState(false)
  const isShown = !useIsNarrow() || isOpen
  const count = countFilters(values)
  return (
    <search className={isOpen ? 'filters filters-open' : 'filters'}>
      <Button
        className="filters-fold"
        icon={<FilterOutlined />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? t('filters') : t('filtersSet', { count })}
      </Button>
      <div className="filters-all">{isShown && children}</div>
      {beside}
    </search>
  )
}
