import { ReloadOutlined, SettingOutlined } from '@ant-design/icons'
import { Button, Checkbox, Dropdown, Empty, Select, Table, type TableColumnType } from 'antd'
import { type ReactNode, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import type { Static, TObject, TSchema } from 'typebox'
import type { Operation } from '../../../src/http/operation.ts'
import type { Input } from '../../../src/sdk/client.ts'
import { useRead } from '../api.ts'
import { useChangeSearch } from './address.ts'
import { RefusalResult } from './refusal.tsx'
import { useCommon } from './texts.ts'
import { Wide } from './wide.tsx'

/** What every page operation answers (contract §5). */
interface PageData<Item> {
  list: Item[]
  total: number
  totalIsExact: boolean
  pageSize: number
  nextCursor: string | null
}

export interface Column<Item> extends Omit<TableColumnType<Item>, 'key' | 'title'> {
  key: string
  title: string
  /** Hidden until it is chosen. */
  isExtra?: boolean
  /** Always shown: without it a row could not be told from another. */
  isFixed?: boolean
}

interface RecordsProps<Item, Body extends TObject, Query extends TObject, Data extends TSchema> {
  /** Names the table's columns, whose choice is remembered. */
  name: string
  /** A page operation. */
  operation: Operation<Body, Query, Data>
  /** The filters. What is empty is not sent. */
  input: Record<string, unknown>
  /** Nothing is asked while it is false. */
  enabled?: boolean
  columns: Column<Item>[]
  rowKey: (item: Item) => string | number
  /** What is shown where there is nothing: for no rows at all, and, when filters are set, with a way to clear them. */
  empty?: ReactNode
  isNarrowed?: boolean
  clear?: () => void
  refetchInterval?: number
  onRow?: (item: Item) => { onClick: () => void }
  selection?: { keys: (string | number)[]; onChange: (keys: (string | number)[]) => void }
  /** More than one table on a page: they must not share the cursor in the address. */
  cursorName?: string
  /** Buttons at the left of the pager. */
  footer?: ReactNode
}

const sizes = [10, 20, 50, 100]
const storageKey = (name: string) => `forecourt.columns.${name}`

function useColumnChoice<Item>(name: string, columns: Column<Item>[]) {
  const [hidden, setHidden] = useState<string[]>(() => {
    const kept = localStorage.getItem(storageKey(name))
    return kept === null ? columns.filter(({ isExtra }) => isExtra).map(({ key }) => key) : kept.split(',')
  })
  function choose(shown: string[]): void {
    const now = columns.map(({ key }) => key).filter((key) => !shown.includes(key))
    localStorage.setItem(storageKey(name), now.join(','))
    setHidden(now)
  }
  const shown = columns.filter(({ key, isFixed }) => isFixed || !hidden.includes(key))
  return { shown, choose }
}

/** A table of a page operation: cursor paging and page size in the address, a choice of columns, and every state. */
export function Records<Item extends object, Body extends TObject, Query extends TObject, Data extends TSchema>({
  name,
  operation,
  input,
  enabled = true,
  columns,
  rowKey,
  empty,
  isNarrowed = false,
  clear,
  refetchInterval,
  onRow,
  selection,
  cursorName = 'cursor',
  footer,
}: RecordsProps<Item, Body, Query, Data>) {
  const t = useCommon()
  const [search] = useSearchParams()
  const turn = useChangeSearch()
  const { shown, choose } = useColumnChoice(name, columns)
  const cursor = search.get(cursorName) ?? ''
  const trail = useTrail(cursorName)
  const pageSize = Number(search.get('pageSize') ?? 20)
  const asked = { ...input, pageSize, ...(cursor === '' ? {} : { cursor }) } as unknown as Input<Body, Query>
  const { data, error, isFetching, isPlaceholderData, refetch } = useRead(operation, asked, {
    enabled,
    keepsPrevious: true,
    ...(refetchInterval === undefined ? {} : { refetchInterval }),
  })
  const page = data as (PageData<Item> & Static<Data>) | undefined

  if (error !== null && data === undefined) return <RefusalResult error={error} retry={() => void refetch()} />
  return (
    <div>
      <Wide label={t('rows')}>
        <Table<Item>
          size="middle"
          rowKey={rowKey}
          columns={shown as TableColumnType<Item>[]}
          dataSource={page?.list ?? []}
          loading={enabled && (page === undefined || (isFetching && isPlaceholderData))}
          pagination={false}
          locale={{
            emptyText: page === undefined ? ' ' : <Nothing isNarrowed={isNarrowed} clear={clear} empty={empty} />,
          }}
          {...(onRow && { onRow: (item: Item) => rowProps(onRow(item).onClick) })}
          {...(selection && {
            rowSelection: {
              selectedRowKeys: selection.keys,
              onChange: (keys: React.Key[]) => selection.onChange(keys as (string | number)[]),
              getCheckboxProps: (item: Item) => ({ 'aria-label': String(rowKey(item)) }) as object,
            },
          })}
        />
      </Wide>
      <nav className="pager" aria-label={t('pages')}>
        {footer}
        <span style={{ flex: 1 }} />
        {page && <Total page={page} />}
        <Button
          icon={<ReloadOutlined />}
          aria-label={t('refresh')}
          onClick={() => void refetch()}
          loading={isFetching}
        />
        <ColumnChoice columns={columns} shown={shown} choose={choose} />
        <Select
          aria-label={t('pageSize')}
          value={pageSize}
          onChange={(size) => turn({ pageSize: String(size), [cursorName]: undefined })}
          options={sizes.map((size) => ({ value: size, label: t('perPage', { size }) }))}
        />
        <Button disabled={cursor === ''} onClick={() => turn({ [cursorName]: undefined })}>
          {t('firstPage')}
        </Button>
        <Button
          disabled={trail.length === 0}
          onClick={() => turn({ [cursorName]: trail.at(-1) }, { state: { [cursorName]: trail.slice(0, -1) } })}
        >
          {t('previousPage')}
        </Button>
        <Button
          disabled={!page?.nextCursor || isPlaceholderData}
          onClick={() =>
            turn({ [cursorName]: page?.nextCursor ?? undefined }, { state: { [cursorName]: [...trail, cursor] } })
          }
        >
          {t('nextPage')}
        </Button>
      </nav>
    </div>
  )
}

/** The cursors of the pages that one has turned over to get here, the first page's being empty. */
function useTrail(cursorName: string): string[] {
  const state: unknown = useLocation().state
  return (state as Record<string, string[]> | null)?.[cursorName] ?? []
}

/**
 * A click anywhere on a row counts, but not one on what acts by itself, in a dialog that belongs to the row, or at the
 * end of marking its text.
 */
function rowProps(onClick: () => void): React.HTMLAttributes<HTMLElement> {
  return {
    style: { cursor: 'pointer' },
    onClick: ({ target, currentTarget }) => {
      const clicked = target as Element
      const isItsOwn =
        !currentTarget.contains(clicked) ||
        clicked.closest('a, button, input, label, .ant-table-selection-column') !== null
      if (!isItsOwn && getSelection()?.isCollapsed !== false) onClick()
    },
  }
}

function Total({ page }: { page: PageData<unknown> }) {
  const t = useCommon()
  const total = page.total.toLocaleString()
  return (
    <span className="faint number">{page.totalIsExact ? t('total', { total }) : t('totalAtLeast', { total })}</span>
  )
}

/** What stands in the place of rows: nothing at all, or nothing that fits. */
function Nothing({ isNarrowed, clear, empty }: { isNarrowed: boolean; clear?: () => void; empty?: ReactNode }) {
  const t = useCommon()
  if (!isNarrowed) return empty ?? <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('nothingYet')} />
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('nothingFits')}>
      {clear && <Button onClick={() => clear()}>{t('clearFilters')}</Button>}
    </Empty>
  )
}

interface ColumnChoiceProps<Item> {
  columns: Column<Item>[]
  shown: Column<Item>[]
  choose: (keys: string[]) => void
}

function ColumnChoice<Item>({ columns, shown, choose }: ColumnChoiceProps<Item>) {
  const t = useCommon()
  const options = columns.map(({ key, title, isFixed }) => ({ value: key, label: title, disabled: isFixed === true }))
  return (
    <Dropdown
      trigger={['click']}
      popupRender={() => (
        <div className="card" style={{ maxHeight: 360, overflow: 'auto' }}>
          <Checkbox.Group
            style={{ display: 'grid', gap: 6 }}
            value={shown.map(({ key }) => key)}
            onChange={(keys) => choose(keys as string[])}
            options={options}
          />
        </div>
      )}
    >
      <Button icon={<SettingOutlined />} aria-label={t('columns')} />
    </Dropdown>
  )
}
