import { FilterOutlined, StarOutlined } from '@ant-design/icons'
import type { MenuProps } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { pageViews, type ViewedPage, type ViewRecord } from '../../../src/people/views/contract.ts'
import { useRead, useSession } from '../api/api.ts'
import { store, stored } from '../browser/storage.ts'
import { useCommon } from '../language/index.ts'
import { Dropdown } from '../ui/dialog/dropdown.tsx'
import { countFilters } from '../ui/filter/filter-count.ts'
import { Button } from '../ui/page/button.tsx'
import { useIsNarrow } from '../ui/page/narrow.ts'
import { part } from '../ui/page/part.tsx'
import { columnsKey } from '../ui/table/records.tsx'
import { appliedViews } from './applied.ts'
import { useTexts } from './texts.ts'

interface FilterBarProps {
  /** The filters' values, to count those that are set. */
  values: Record<string, string>
  /** The list, whose views can be saved. */
  views: ViewedPage
  /** Other elements beside the filters. */
  beside?: ReactNode
  children: ReactNode
}

/** A page's filters; on a narrow screen, folded behind a button that shows how many are set. */
export function FilterBar({ values, views, beside, children }: FilterBarProps) {
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
      <div className="filters-all">
        {isShown && children}
        {isShown && <Views page={views} />}
      </div>
      {beside}
    </search>
  )
}

const SaveView = part(async () => (await import('./dialogs.tsx')).SaveView)
const ManageViews = part(async () => (await import('./dialogs.tsx')).ManageViews)

/** Parameters of the address that a view does not keep: they name one row or one page of the list. */
const passing = ['cursor', 'pageNo', 'find', 'event', 'eventType', 'eventAppId']

/** The query of the address as a view keeps it. */
function queryNow(): string {
  const search = new URLSearchParams(window.location.search)
  for (const name of passing) search.delete(name)
  return search.toString()
}

/** The key under which a list's choice of columns is stored. */
const keyOf = (page: ViewedPage) => columnsKey(page === 'events' ? 'feed' : page)

/** Whether the button must get the focus back, because the page is rendered anew when a view is applied. */
let isJustApplied = false

/**
 * The menu of the views of a list that the user has saved. A session of a key has none, because it has no account to
 * keep them in.
 */
function Views({ page }: { page: ViewedPage }) {
  const { operatorId } = useSession()
  return operatorId === null ? null : <Menu page={page} />
}

function Menu({ page }: { page: ViewedPage }) {
  const t = useTexts()
  const navigate = useNavigate()
  const [isNear, setNear] = useState(false)
  const [opened, open] = useState<'save' | 'manage'>()
  const button = useRef<HTMLButtonElement>(null)
  const { data } = useRead(pageViews, { page, pageSize: 100 }, { enabled: isNear })
  const views = data?.list.toSorted((one, other) => one.name.localeCompare(other.name)) ?? []
  useEffect(() => {
    if (isJustApplied) button.current?.focus()
    isJustApplied = false
  }, [])

  async function apply({ query, columns }: ViewRecord): Promise<void> {
    store(keyOf(page), columns)
    await navigate(`?${query ?? ''}`)
    isJustApplied = true
    appliedViews.set(appliedViews.get() + 1)
  }

  const items: MenuProps['items'] = [
    ...views.map((view) => ({ key: view.id, label: view.name, onClick: () => void apply(view) })),
    ...(views.length === 0
      ? [{ key: 'none', label: data === undefined ? t('loading') : t('none'), disabled: true }]
      : []),
    { type: 'divider' },
    { key: 'save', label: t('saveThis'), onClick: () => open('save') },
    ...(views.length === 0 ? [] : [{ key: 'manage', label: t('manage'), onClick: () => open('manage') }]),
  ]
  return (
    <>
      <Dropdown menu={{ items }}>
        <Button ref={button} icon={<StarOutlined />} onPointerEnter={() => setNear(true)} onFocus={() => setNear(true)}>
          {t('views')}
        </Button>
      </Dropdown>

      {opened === 'save' && (
        <SaveView
          views={views}
          view={{ page, query: queryNow(), columns: stored(keyOf(page)) }}
          onClose={() => open(undefined)}
        />
      )}
      {opened === 'manage' && <ManageViews views={views} onClose={() => open(undefined)} />}
    </>
  )
}
