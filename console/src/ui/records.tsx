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
import { Rows, type RowsColumn, type RowsSort } from './rows.tsx'
import { useCommon } from './texts.ts'

/** The data of every page operation (contract §5). */
interface PageData<Item> {
  list: Item[]
  total: number
  totalIsExact: boolean
  pages: number
  pageSize: number
  nextCursor: string | null
}

export interface Column<Item> extends RowsColumn<Item> {
  /**
   * Whether the column is hidden until the user chooses it; `narrow`: only in a narrow window; `phone`: only in a
   * window as narrow as a phone's.
   */
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
  /** The column by which the operation's `order` alone sorts; newest first by default. */
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
  const place = usePlace(cursorName)
  const pageSize = Number(search.get('pageSize') ?? 20)
  const sorted = useSort(columns, orderedBy, place.names)
  const asked = { ...input, ...sorted.asked, pageSize, ...place.asked } as unknown as Input<Body, Query>
  const { data, error, isFetching, isPlaceholderData, refetch } = useRead(operation, asked, {
    keepsPrevious: true,
    ...(refetchInterval === undefined ? {} : { refetchInterval }),
  })
  // The deferred value lets React draw the rows in slices, and the browser responds to the user between two slices.
  const found = useDeferredValue(data, undefined) as (PageData<Item> & Static<Data>) | undefined
  const answer = useDeferredValue(useAnswered(JSON.stringify(asked), isPlaceholderData))

  if (error !== null && data === undefined) return <RefusalResult error={error} retry={() => void refetch()} />
  // Until the rows arrive nothing is shown, because it would then move.
  if (found === undefined) return <Loading />
  const chosen = selection?.keys.length ?? 0
  return (
    <div>
      {isNarrow && <SortChoice columns={columns} {...sorted.rows} />}
      <Rows<Item>
        // Other columns, or fewer rows a page, are laid out anew.
        key={`${pageSize} ${shown.map(({ key }) => key).join(' ')}`}
        label={t('rows')}
        columns={shown}
        rows={found.list}
        rowKey={rowKey}
        answer={answer}
        mayGrow={isNarrowed && !isNarrow}
        empty={<NoRows isNarrowed={isNarrowed} clear={clear} empty={empty} />}
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
        <Total page={found} />
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
            style={{ width: 116 }}
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

/** Returns the query whose rows are shown: the previous one until the rows of the next one arrive. */
function useAnswered(asked: string, isWaiting: boolean): string {
  const [answered, setAnswered] = useState(asked)
  if (!isWaiting && answered !== asked) setAnswered(asked)
  return answered
}

/** The number of a page as the address has it. */
function numberOf(text: string | null): number | undefined {
  const number = Number(text)
  return Number.isInteger(number) && number > 1 ? number : undefined
}

/**
 * The order of a table, kept in the address; `frame` has the address's parameters for the page, which a change of the
 * order resets.
 */
function useSort<Item>(columns: readonly Column<Item>[], orderedBy: string | undefined, frame: readonly string[]) {
  const [search] = useSearchParams()
  const change = useChangeSearch()
  const given = search.get('order') ?? ''
  const turn = (changes: Record<string, string | undefined>) =>
    change({ ...changes, ...Object.fromEntries(frame.map((name) => [name, undefined])) })
  if (orderedBy !== undefined) {
    const order = given === 'asc' ? 'asc' : 'desc'
    const reverse = () => turn({ order: order === 'asc' ? undefined : 'asc' })
    // The feed's order also applies to its export.
    return {
      asked: { order },
      ofExport: { order },
      rows: { by: orderedBy, isAscending: order === 'asc', turn: reverse },
    }
  }
  const by = columns.find(({ sortBy }) => sortBy !== undefined && sortBy === search.get('sort'))?.sortBy
  const isAscending = given !== 'desc'
  return {
    asked: by === undefined ? {} : { sort: by, order: isAscending ? 'asc' : 'desc' },
    // An export has an order of its own.
    ofExport: { sort: undefined, order: undefined },
    rows: {
      by,
      isAscending,
      // The sequence of clicks on a heading: ascending, descending, and the table's own order again. Times begin with
      // descending.
      turn(chosen: string) {
        if (chosen === '') return turn({ sort: undefined, order: undefined })
        const isFirstDown = chosen === 'createTime'
        if (chosen !== by) turn({ sort: chosen, order: isFirstDown ? 'desc' : undefined })
        else if (isAscending === isFirstDown) turn({ sort: undefined, order: undefined })
        else turn({ sort: chosen, order: isAscending ? 'desc' : undefined })
      },
    },
  }
}

type SortChoiceProps = RowsSort & { columns: readonly Column<never>[] }

/**
 * The columns that sort, for a window in which the table has no headings: a phone opens its own list of choices, and
 * no code is loaded for it.
 */
function SortChoice({ columns, by, turn }: SortChoiceProps) {
  const t = useCommon()
  const choices = columns.flatMap(({ sortBy, title }) =>
    sortBy === undefined ? [] : [{ value: sortBy, label: title }],
  )
  if (choices.length === 0) return null
  return (
    <select
      className="sort-choice"
      aria-label={t('sortedBy')}
      value={by ?? ''}
      onChange={({ target }) => turn(target.value)}
    >
      {[{ value: '', label: t('ownOrder') }, ...choices].map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

interface PageNumberProps {
  here: number | undefined
  pages: number
  goTo: (number: number) => void
}

/** The number of the page, which can be changed to go to another. */
function PageNumber({ here, pages, goTo }: PageNumberProps) {
  const t = useCommon()
  const [text, setText] = useState(String(here ?? ''))
  function go(): void {
    const number = Number(text)
    if (Number.isInteger(number) && number >= 1 && number !== here) goTo(Math.min(number, pages))
    else setText(String(here ?? ''))
  }
  return (
    <label className="pager-number number">
      <input
        aria-label={t('pageNumber')}
        inputMode="numeric"
        size={String(pages).length}
        value={text}
        onChange={({ target }) => setText(target.value.replace(/\D/g, ''))}
        onKeyDown={({ key }) => key === 'Enter' && go()}
        onBlur={go}
      />
      {t('ofPages', { pages: grouped(pages) })}
    </label>
  )
}

/** The table's present page, from the address: by a cursor, or by a number that the user entered. */
function usePlace(cursorName: string) {
  const [search] = useSearchParams()
  const turn = useChangeSearch()
  const previous = usePreviousCursors(cursorName)
  const numberName = cursorName === 'cursor' ? 'pageNo' : `${cursorName}No`
  const cursor = search.get(cursorName) ?? ''
  const pageNo = cursor === '' ? numberOf(search.get(numberName)) : undefined
  const start = { [cursorName]: undefined, [numberName]: undefined }
  const byCursor = (to: string | undefined, before: string[]) =>
    turn({ [cursorName]: to }, { state: { [cursorName]: before } })
  const goTo = (number: number) => turn({ ...start, [numberName]: number <= 1 ? undefined : String(number) })
  return {
    names: [cursorName, numberName],
    /** The changes of the address that lead to the first page. */
    start,
    asked: cursor === '' ? pageNo && { pageNo } : { cursor },
    isFirst: cursor === '' && pageNo === undefined,
    hasPrevious: previous.length > 0 || pageNo !== undefined,
    /** Undefined if the page was opened by its address alone. */
    number: pageNo ?? (cursor === '' || previous.length > 0 ? previous.length + 1 : undefined),
    goTo,
    goBack: () => (pageNo === undefined ? byCursor(previous.at(-1), previous.slice(0, -1)) : goTo(pageNo - 1)),
    goOn: (nextCursor: string | null) =>
      pageNo === undefined ? byCursor(nextCursor ?? undefined, [...previous, cursor]) : goTo(pageNo + 1),
  }
}

interface TurnsProps {
  place: ReturnType<typeof usePlace>
  page: PageData<unknown>
  /** Whether the table still shows the rows of the page before. */
  isWaiting: boolean
}

/** The buttons that turn pages, and the page's number. */
function Turns({ place, page, isWaiting }: TurnsProps) {
  const t = useCommon()
  const { number, goTo } = place
  return (
    <>
      <PagerButton icon={<VerticalRightOutlined />} words={t('firstPage')} isOff={place.isFirst} go={() => goTo(1)} />
      <PagerButton
        icon={<LeftOutlined />}
        words={t('previousPage')}
        isOff={!place.hasPrevious}
        go={() => place.goBack()}
      />
      {page.totalIsExact && <PageNumber key={`${number} ${page.pages}`} here={number} pages={page.pages} goTo={goTo} />}
      <PagerButton
        icon={<RightOutlined />}
        words={t('nextPage')}
        isOff={!page.nextCursor || isWaiting}
        go={() => place.goOn(page.nextCursor)}
      />
    </>
  )
}

interface PagerButtonProps {
  icon: ReactNode
  words: string
  isOff: boolean
  go: () => void
}

/** A button that turns pages. */
function PagerButton({ icon, words, isOff, go }: PagerButtonProps) {
  return <Button disabled={isOff} aria-label={words} title={words} icon={icon} onClick={go} />
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
  const words = page.totalIsExact ? t('total', { total }) : t('totalAtLeast', { total })
  // Another total is another text in its place, and not one that moves.
  return (
    <span key={words} className="faint number">
      {words}
    </span>
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
  const isEmpty = exported.page.total === 0
  const words = isEmpty ? t('exportNone') : t('export')
  return (
    <Dropdown
      disabled={isEmpty}
      popupRender={() => (
        <div className="card">
          <Suspense fallback={<Loading />}>
            <Exports {...exported} />
          </Suspense>
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
