import {
  DownloadOutlined,
  LeftOutlined,
  ReloadOutlined,
  RightOutlined,
  SettingOutlined,
  VerticalRightOutlined,
} from '@ant-design/icons'
import { Button, Empty } from 'antd'
import { lazy, type ReactNode, Suspense, useDeferredValue, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import type { Static, TObject, TSchema } from 'typebox'
import type { ExportKind } from '../../../src/bulk/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { type Input, useRead } from '../api.ts'
import { useChangeSearch } from './address.ts'
import { Dropdown } from './dropdown.tsx'
import { Select } from './fields.tsx'
import { Loading } from './loading.tsx'
import { useIsNarrow } from './narrow.ts'
import { grouped } from './number.ts'
import { RefusalResult } from './refusal.tsx'
import { Rows, type RowsColumn } from './rows.tsx'
import { useCommon } from './texts.ts'

/** The data of every page operation (contract §5). */
interface PageData<Item> {
  list: Item[]
  total: number
  totalIsExact: boolean
  pageSize: number
  nextCursor: string | null
}

export interface Column<Item> extends RowsColumn<Item> {
  /** Hidden until the user chooses it; `narrow`: only in a window that is not wide; `phone`: only in that of a phone. */
  isExtra?: boolean | 'narrow' | 'phone'
  /** Always shown, because it identifies the row. */
  isFixed?: boolean
}

/** Buttons, or a function of what the filters match that returns them. */
type Footer = ReactNode | ((found: { total: number; totalIsExact: boolean }) => ReactNode)

const footerOf = (footer: Footer, found: { total: number; totalIsExact: boolean }) =>
  typeof footer === 'function' ? footer(found) : footer

interface RecordsProps<Item, Body extends TObject, Query extends TObject, Data extends TSchema> {
  /** The key under which the choice of columns is stored. */
  name: string
  /** A page operation. */
  operation: Operation<Body, Query, Data>
  /** The kind of export of these rows. */
  exportKind?: ExportKind
  /** The filters. Empty ones are not sent. */
  input: Record<string, unknown>
  columns: Column<Item>[]
  rowKey: (item: Item) => string | number
  /** Shown if there are no rows; with filters set, a notice with a button to clear them takes its place. */
  empty?: ReactNode
  isNarrowed?: boolean
  clear?: () => void
  refetchInterval?: number
  onRow?: (item: Item) => { onClick: () => void }
  selection?: { keys: (string | number)[]; onChange: (keys: (string | number)[]) => void }
  /** Whether a row is a card of three lines in a narrow window. */
  isBrief?: boolean
  /** For several tables on a page: the name of this one's cursor in the address. */
  cursorName?: string
  /** Buttons to the left of the pager; a function of what the filters match. */
  footer?: Footer
  /** The column by which the operation's `order` sorts; newest first by default. */
  orderedBy?: string
}

// Rarely opened parts, loaded on demand.
const Exports = lazy(async () => ({ default: (await import('./export.tsx')).Exports }))
const Columns = lazy(async () => ({ default: (await import('./columns.tsx')).Columns }))

const sizes = [10, 20, 50, 100]
/** The key under which a table's choice of columns is stored. */
export const columnsKey = (name: string) => `forecourt.columns.${name}`

function useColumnChoice<Item>(name: string, columns: Column<Item>[]) {
  const [hidden, setHidden] = useState<string[]>(() => {
    const stored = localStorage.getItem(columnsKey(name))
    if (stored !== null) return stored.split(',')
    const hasRoom = { narrow: '(min-width: 1600px)', phone: '(min-width: 641px)' }
    const isHidden = ({ isExtra = false }: Column<Item>) =>
      typeof isExtra === 'boolean' ? isExtra : !matchMedia(hasRoom[isExtra]).matches
    return columns.filter(isHidden).map(({ key }) => key)
  })
  function choose(shown: string[]): void {
    const now = columns.map(({ key }) => key).filter((key) => !shown.includes(key))
    localStorage.setItem(columnsKey(name), now.join(','))
    setHidden(now)
  }
  const shown = columns.filter(({ key, isFixed }) => isFixed || !hidden.includes(key))
  return { shown, choose }
}

/** A table of a page operation: with cursor and page size in the address, a choice of columns, and every state. */
export function Records<Item extends object, Body extends TObject, Query extends TObject, Data extends TSchema>({
  name,
  operation,
  exportKind,
  input,
  columns,
  rowKey,
  empty,
  isNarrowed = false,
  clear,
  refetchInterval,
  onRow,
  selection,
  isBrief,
  cursorName = 'cursor',
  footer,
  orderedBy,
}: RecordsProps<Item, Body, Query, Data>) {
  const t = useCommon()
  const [search] = useSearchParams()
  const turn = useChangeSearch()
  const isNarrow = useIsNarrow()
  const { shown, choose } = useColumnChoice(name, columns)
  const cursor = search.get(cursorName) ?? ''
  const previous = usePreviousCursors(cursorName)
  const pageSize = Number(search.get('pageSize') ?? 20)
  const order = search.get('order') === 'asc' ? 'asc' : 'desc'
  const ordered = orderedBy === undefined ? {} : { order }
  const asked = { ...input, ...ordered, pageSize, ...(cursor === '' ? {} : { cursor }) } as unknown as Input<
    Body,
    Query
  >
  const { data, error, isFetching, isPlaceholderData, refetch } = useRead(operation, asked, {
    keepsPrevious: true,
    ...(refetchInterval === undefined ? {} : { refetchInterval }),
  })
  // Deferred, rows are drawn in slices, between which the browser answers.
  const page = useDeferredValue(data, undefined) as (PageData<Item> & Static<Data>) | undefined

  if (error !== null && data === undefined) return <RefusalResult error={error} retry={() => void refetch()} />
  // Nothing is shown that would move when the rows arrive.
  if (page === undefined) return <Loading />
  return (
    <div>
      <Rows<Item>
        label={t('rows')}
        columns={shown}
        rows={page.list}
        rowKey={rowKey}
        empty={<NoRows isNarrowed={isNarrowed} clear={clear} empty={empty} />}
        isBusy={isFetching && isPlaceholderData}
        rowProps={onRow && ((item) => rowProps(onRow(item).onClick))}
        selection={selection}
        isBrief={isBrief}
        sort={
          orderedBy === undefined
            ? undefined
            : {
                column: orderedBy,
                isAscending: order === 'asc',
                turn: () => turn({ order: order === 'asc' ? undefined : 'asc', [cursorName]: undefined }),
              }
        }
      />
      <nav className="pager" aria-label={t('pages')}>
        <div className="pager-footer">{footerOf(footer, page)}</div>
        <Total page={page} />
        <Button
          icon={<ReloadOutlined />}
          aria-label={t('refresh')}
          onClick={() => void refetch()}
          loading={isFetching}
        />
        {exportKind && <ExportButton kind={exportKind} filters={{ ...input, ...ordered }} page={page} />}
        <ColumnChoice columns={columns} shown={shown} choose={choose} />
        {!isNarrow && (
          <Select
            aria-label={t('pageSize')}
            style={{ width: 116 }}
            value={pageSize}
            onChange={(size) => turn({ pageSize: String(size), [cursorName]: undefined })}
            options={sizes.map((size) => ({ value: size, label: t('perPage', { size }) }))}
          />
        )}
        <PagerButton
          icon={<VerticalRightOutlined />}
          words={t('firstPage')}
          isOff={cursor === ''}
          go={() => turn({ [cursorName]: undefined })}
        />
        <PagerButton
          icon={<LeftOutlined />}
          words={t('previousPage')}
          isOff={previous.length === 0}
          go={() => turn({ [cursorName]: previous.at(-1) }, { state: { [cursorName]: previous.slice(0, -1) } })}
        />
        <PagerButton
          icon={<RightOutlined />}
          words={t('nextPage')}
          isOff={!page.nextCursor || isPlaceholderData}
          go={() =>
            turn({ [cursorName]: page.nextCursor ?? undefined }, { state: { [cursorName]: [...previous, cursor] } })
          }
        />
      </nav>
    </div>
  )
}

interface PagerButtonProps {
  icon: ReactNode
  words: string
  isOff: boolean
  go: () => void
}

/** A button of the pager: its label or, on a narrow screen, its icon. */
function PagerButton({ icon, words, isOff, go }: PagerButtonProps) {
  return (
    <Button className="pager-turn" disabled={isOff} aria-label={words} title={words} icon={icon} onClick={go}>
      <span className="pager-words">{words}</span>
    </Button>
  )
}

/** The cursors of the pages before this one, from the first page, whose cursor is empty. */
function usePreviousCursors(cursorName: string): string[] {
  const state: unknown = useLocation().state
  return (state as Record<string, string[]> | null)?.[cursorName] ?? []
}

/**
 * A click anywhere on a row opens it, except on links, buttons and inputs, in a dialog of the row, or at the end of
 * selecting text.
 */
function rowProps(onClick: () => void): React.HTMLAttributes<HTMLElement> {
  return {
    style: { cursor: 'pointer' },
    onClick: ({ target, currentTarget }) => {
      const clicked = target as Element
      const isItsOwn =
        !currentTarget.contains(clicked) || clicked.closest('a, button, input, label, .rows-choice') !== null
      if (!isItsOwn && getSelection()?.isCollapsed !== false) onClick()
    },
  }
}

function Total({ page }: { page: PageData<unknown> }) {
  const t = useCommon()
  const total = grouped(page.total)
  return (
    <span className="faint number">{page.totalIsExact ? t('total', { total }) : t('totalAtLeast', { total })}</span>
  )
}

/** Shown instead of rows: there are none at all, or none that match the filters. */
function NoRows({ isNarrowed, clear, empty }: { isNarrowed: boolean; clear?: () => void; empty?: ReactNode }) {
  const t = useCommon()
  if (!isNarrowed) return empty ?? <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('nothingYet')} />
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('nothingFits')}>
      {clear && <Button onClick={() => clear()}>{t('clearFilters')}</Button>}
    </Empty>
  )
}

function ExportButton(exported: React.ComponentProps<typeof Exports>) {
  const t = useCommon()
  return (
    <Dropdown
      disabled={exported.page.total === 0}
      popupRender={() => (
        <div className="card">
          <Suspense fallback={<Loading />}>
            <Exports {...exported} />
          </Suspense>
        </div>
      )}
    >
      <Button icon={<DownloadOutlined />} aria-label={t('export')} title={t('export')}>
        <span className="pager-words">{t('export')}</span>
      </Button>
    </Dropdown>
  )
}

function ColumnChoice(choice: React.ComponentProps<typeof Columns>) {
  const t = useCommon()
  return (
    <Dropdown
      popupRender={() => (
        <div className="card">
          <Suspense fallback={<Loading />}>
            <Columns {...choice} />
          </Suspense>
        </div>
      )}
    >
      <Button icon={<SettingOutlined />} aria-label={t('columns')} />
    </Dropdown>
  )
}
