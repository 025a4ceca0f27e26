import { DownloadOutlined, ReloadOutlined, SettingOutlined } from '@ant-design/icons'
import { type ReactNode, useDeferredValue, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Static, TObject, TSchema } from 'typebox'
import type { ExportKind } from '../../../../src/bulk/contract.ts'
import type { Operation } from '../../../../src/vocabulary/operation.ts'
import { call, type Input, reading, useRead } from '../../api/api.ts'
import { store, stored } from '../../browser/storage.ts'
import { useCommon } from '../../language/index.ts'
import { Dropdown } from '../dialog/dropdown.tsx'
import { useChangeSearch } from '../filter/address.ts'
import { Select } from '../form/fields.tsx'
import { Button } from '../page/button.tsx'
import { Loading } from '../page/loading.tsx'
import { useIsNarrow } from '../page/narrow.ts'
import { Nothing } from '../page/nothing.tsx'
import { part } from '../page/part.tsx'
import { RefusalResult } from '../page/refusal.tsx'
import { grouped } from '../text/number.ts'
import { useLiveRows } from './live-rows.ts'
import { type PageData, Total, Turns, usePlace } from './pager.tsx'
import { Rows, type RowsColumn } from './rows.tsx'
import { SortChoice, useSort } from './sorting.tsx'

export type Column<Item> = RowsColumn<Item> & {
  /** Whether the column is hidden until the user chooses it; a number: only in a window of fewer pixels. */
  isExtra?: boolean | number
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
  filters?: { isNarrowed: boolean; clear: () => void }
  refetchInterval?: number
  /** Whether the rows change with the events of the application that the filters name. */
  isLive?: boolean
  onRow?: (item: Item) => { onClick: () => void }
  selection?: { keys: (string | number)[]; onChange: (keys: (string | number)[]) => void }
  /** Whether a row is a card of three lines in a narrow window. */
  isBrief?: boolean
  /** For several tables on a page: the name of this one's cursor in the address. */
  cursorName?: string
  /** Buttons to the left of the pager; a function of what the filters match. */
  footer?: Footer
  /** The column by which the operation's `order` alone sorts; newest first by default. */
  orderedBy?: string
}

// Rarely opened parts, loaded on demand.
const Exports = part(
  async () => (await import('./export.tsx')).Exports,
  () => <Loading />,
)
const Columns = part(
  async () => (await import('./columns.tsx')).Columns,
  () => <Loading />,
)

const sizes = [10, 20, 50, 100]
/** The key under which a table's choice of columns is stored. */
export const columnsKey = (name: string) => `forecourt.columns.${name}`

function useColumnChoice<Item>(name: string, columns: Column<Item>[]) {
  const [hidden, setHidden] = useState<string[]>(() => {
    const chosen = stored(columnsKey(name))
    if (chosen !== null) return chosen.split(',')
    const isHidden = ({ isExtra = false }: Column<Item>) =>
      typeof isExtra === 'boolean' ? isExtra : matchMedia(`(width < ${isExtra}px)`).matches
    return columns.filter(isHidden).map(({ key }) => key)
  })
  function choose(shown: string[]): void {
    const now = columns.map(({ key }) => key).filter((key) => !shown.includes(key))
    store(columnsKey(name), now.join(','))
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
  filters,
  refetchInterval,
  isLive = false,
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
  const place = usePlace(cursorName)
  const pageSize = Number(search.get('pageSize') ?? 20)
  const sorted = useSort(columns, orderedBy, place.names)
  const sized = (size: number) =>
    ({ ...input, ...sorted.asked, pageSize: size, ...place.asked }) as unknown as Input<Body, Query>
  const asked = sized(pageSize)
  const live = useLiveRows<Item>({
    appId: liveFor(isLive, input),
    queryKey: reading(operation, asked).queryKey,
    pageSize,
    isFirst: place.isFirst,
    rowKey,
    load: async (size) => (await call(operation, sized(size))).data as unknown as PageData<Item>,
  })
  const { data, error, isFetching, isPlaceholderData, refetch } = useRead(operation, asked, {
    keepsPrevious: true,
    ...pollingOf(refetchInterval, live.isLive),
  })
  // The deferred value lets React draw the rows in slices, and the browser responds to the user between two slices.
  const found = useDeferredValue(data, undefined) as (PageData<Item> & Static<Data>) | undefined
  const answer = useDeferredValue(useAnswered(JSON.stringify(asked), isPlaceholderData))

  if (error !== null && data === undefined) return <RefusalResult error={error} retry={() => void refetch()} />
  // Until the rows arrive nothing is shown, because it would then move.
  if (found === undefined) return <Loading />
  const chosen = selection?.keys.length ?? 0
  return (
    <div className="records">
      <NewRows {...live} />
      {isNarrow && <SortChoice columns={columns} {...sorted.rows} />}
      <Rows<Item>
        // Other columns, or fewer rows a page, are laid out anew.
        key={`${pageSize} ${shown.map(({ key }) => key).join(' ')}`}
        label={t('rows')}
        columns={shown}
        rows={found.list}
        rowKey={rowKey}
        answer={answer}
        mayGrow={filters?.isNarrowed === true && !isNarrow}
        empty={<NoRows place={place} filters={filters} empty={empty} />}
        isBusy={isFetching && isPlaceholderData}
        rowProps={onRow && ((item) => rowProps(onRow(item).onClick))}
        selection={selection}
        isBrief={isBrief}
        sort={sorted.rows}
      />
      <nav className={chosen > 0 ? 'pager pager-chosen' : 'pager'} aria-label={t('pages')}>
        <div className="pager-footer">
          {chosen > 0 && (
            <>
              <strong role="status">{t('chosen', { count: grouped(chosen) })}</strong>
              <Button type="link" onClick={() => selection?.onChange([])}>
                {t('clearChoice')}
              </Button>
            </>
          )}
          {footerOf(footer, found)}
        </div>
        <Total page={found} order={sorted.ownOrder} />
        <Button
          icon={<ReloadOutlined />}
          aria-label={t('refresh')}
          onClick={() => void refetch()}
          loading={isFetching}
        />
        {exportKind && <ExportButton kind={exportKind} filters={{ ...input, ...sorted.ofExport }} page={found} />}
        {/* The bar of a selection has one line: how the table looks is chosen without one. */}
        {chosen === 0 && <ColumnChoice columns={columns} shown={shown} choose={choose} />}
        {!isNarrow && chosen === 0 && (
          <Select
            aria-label={t('pageSize')}
            style={{ width: 128 }}
            value={pageSize}
            onChange={(size) => turn({ pageSize: String(size), ...place.start })}
            options={sizes.map((size) => ({ value: size, label: t('perPage', { size }) }))}
          />
        )}
        <Turns place={place} page={found} isWaiting={isPlaceholderData} />
      </nav>
    </div>
  )
}

/** The application whose events the rows follow; empty if none. */
const liveFor = (isLive: boolean, { appId = '' }: Record<string, unknown>) => (isLive ? String(appId) : '')

const pollingOf = (refetchInterval: number | undefined, isLive: boolean) =>
  refetchInterval === undefined || isLive ? {} : { refetchInterval }

/** The button that shows rows which have been added, where they would move what is read. */
function NewRows({ waiting, join }: { waiting: number; join: () => Promise<void> }) {
  const t = useCommon()
  if (waiting === 0) return null
  return (
    <div className="records-new" role="status">
      <Button size="small" type="primary" onClick={() => void join()}>
        {t('newRows', { count: grouped(waiting) })}
      </Button>
    </div>
  )
}

/** Returns the query whose rows are shown: the previous one until the rows of the next one arrive. */
function useAnswered(asked: string, isWaiting: boolean): string {
  const [answered, setAnswered] = useState(asked)
  if (!isWaiting && answered !== asked) setAnswered(asked)
  return answered
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

interface NoRowsProps {
  place: ReturnType<typeof usePlace>
  filters: { isNarrowed: boolean; clear: () => void } | undefined
  empty?: ReactNode
}

/** Shown instead of rows: the page is after the last row, none match the filters, or there are none at all. */
function NoRows({ place, filters, empty }: NoRowsProps) {
  const t = useCommon()
  if (!place.isFirst) {
    return (
      <Nothing words={t('noSuchPage')}>
        <Button onClick={() => place.goTo(1)}>{t('firstPage')}</Button>
      </Nothing>
    )
  }
  if (!filters?.isNarrowed) return typeof empty === 'object' ? empty : <Nothing words={empty ?? t('nothingYet')} />
  return (
    <Nothing words={t('nothingFits')}>
      <Button onClick={filters.clear}>{t('clearFilters')}</Button>
    </Nothing>
  )
}

function ExportButton(exported: React.ComponentProps<typeof Exports>) {
  const t = useCommon()
  const isEmpty = exported.page.total === 0
  const words = isEmpty ? t('exportNone') : t('export')
  return (
    <Dropdown
      disabled={isEmpty}
      popupRender={() => (
        <div className="card">
          <Exports {...exported} />
        </div>
      )}
    >
      <Button icon={<DownloadOutlined />} aria-label={t('export')} title={words} disabled={isEmpty}>
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
          <Columns {...choice} />
        </div>
      )}
    >
      <Button icon={<SettingOutlined />} aria-label={t('columns')} />
    </Dropdown>
  )
}
