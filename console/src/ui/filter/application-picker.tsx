import { useEffect, useState } from 'react'
import { getApplication, pageApplications } from '../../../../src/applications/contract.ts'
import { useRead } from '../../api/api.ts'
import { store, stored } from '../../browser/storage.ts'
import { useCommon } from '../../language/index.ts'
import { Select } from '../form/fields.tsx'
import { Nothing } from '../page/nothing.tsx'
import { useChangeSearch } from './address.ts'
import { applicationOption, useApplicationSearch } from './application-search.tsx'
import { useFilters } from './filters.tsx'
import { NothingFound } from './typed-search.tsx'

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
