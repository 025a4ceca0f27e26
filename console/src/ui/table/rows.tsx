import { type ReactNode, startTransition, useEffect, useRef, useState } from 'react'
import { useCommon } from '../../language/index.ts'
import { useIsNarrow } from '../page/narrow.ts'
import { Wide } from './wide.tsx'

export type RowsColumn<Item> = (ShownMember<Item> | RenderedCell<Item>) & {
  title: string
  align?: 'end'
  /** The greatest width, in pixels of a window of 1280. Longer text is wrapped, even within a word. */
  most?: number
  /** The least width, in pixels, of a column whose texts differ much or come later: they must not move its neighbours. */
  least?: number
  /** `fills` takes the width that the other columns leave. */
  className?: string
  /** What a cell says that has nothing else to say. */
  none?: string
  /** By what the rows are sorted with this column's heading; not by the rows of this page alone. */
  sortBy?: string
  /** Says the table's own order, where it is by this column. */
  ownOrder?: string
}

/** A column that shows the member of its name. */
interface ShownMember<Item> {
  key: keyof Item & string
  render?: undefined
}

interface RenderedCell<Item> {
  key: string
  /** Returns what a cell shows; `rows` are all rows of the page. */
  render: (item: Item, rows: readonly Item[]) => ReactNode
}

type Key = string | number

interface RowsProps<Item> {
  label: string
  columns: RowsColumn<Item>[]
  rows: readonly Item[]
  rowKey: (item: Item) => Key
  /** Names the query of the rows. The rows of another query must not move what stays. */
  answer?: string
  /** Whether other rows may be more, so that the table reaches the lower edge of the window from the beginning. */
  mayGrow?: boolean
  /** Shown instead of rows if there are none. */
  empty: ReactNode
  /** Whether other rows are loading. */
  isBusy?: boolean
  isSmall?: boolean
  /** In a narrow window: a card of three lines, by the classes `brief-line`, `brief-beside` and `brief-state` of its columns. */
  isBrief?: boolean | undefined
  rowProps?: ((item: Item) => React.HTMLAttributes<HTMLElement>) | undefined
  selection?: { keys: Key[]; onChange: (keys: Key[]) => void } | undefined
  /** How the rows are sorted, and what the heading of a column that sorts does. */
  sort?: RowsSort | undefined
}

export interface SortOrder {
  /** The `sortBy` of a column. */
  by: string
  isAscending: boolean
}

export interface RowsSort {
  /** The `sortBy` of the column by which they are sorted; none: the table's own order. */
  by: string | undefined
  isAscending: boolean
  /** Whether the table has an order that none of its columns sorts. */
  hasOwnOrder: boolean
  /** Sorts by an order; by none, in the table's own. */
  choose: (order?: SortOrder) => void
  /** Takes the next order of a column, as its heading does. */
  turn: (by: string) => void
}

/**
 * A table. In a narrow window the style sheet makes a card of each row: the first column is its title, the others have
 * their headings beside them.
 */
export function Rows<Item extends object>({ label, columns, rows, rowKey, empty, ...options }: RowsProps<Item>) {
  const { answer = '', mayGrow = false, isBusy = false, isSmall, isBrief, rowProps, selection, sort } = options
  const table = useRef<HTMLTableElement>(null)
  const [held, hold] = useState<Held>({ answer, ...(mayGrow && { height: belowHead }) })
  if (held.answer !== answer) hold({ ...held, answer, ...(table.current && sizesOf(table.current)) })
  const { widths, height, width } = held
  const drawn = useFirstOf(rows)
  const names = ['rows', widths && 'rows-held', isBusy && 'rows-busy', isSmall && 'rows-small', isBrief && 'rows-brief']
  return (
    <Wide label={label} style={{ minHeight: height }}>
      <table ref={table} className={names.filter(Boolean).join(' ')} style={{ minWidth: width }} aria-busy={isBusy}>
        {widths && (
          <colgroup>
            {widths.map((width, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns do not change
              <col key={index} style={{ width }} />
            ))}
          </colgroup>
        )}
        <thead>
          <tr>
            {selection && (
              <th className="rows-choice">
                <ChooseAll all={rows.map(rowKey)} {...selection} />
              </th>
            )}
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 && (
            <tr key={`none ${answer}`}>
              <td className="rows-empty" colSpan={columns.length + (selection ? 1 : 0)}>
                <div>{empty}</div>
              </td>
            </tr>
          )}
          {drawn.map((item) => {
            const key = rowKey(item)
            const isChosen = selection?.keys.includes(key)
            return (
              <tr key={`${key} ${answer}`} {...rowProps?.(item)} {...(isChosen && { 'data-chosen': '' })}>
                {selection && (
                  <td className="rows-choice">
                    <label>
                      <input
                        type="checkbox"
                        aria-label={String(key)}
                        checked={isChosen === true}
                        onChange={() =>
                          selection.onChange(
                            isChosen ? selection.keys.filter((one) => one !== key) : [...selection.keys, key],
                          )
                        }
                      />
                    </label>
                  </td>
                )}
                {columns.map((column, index) => (
                  <td
                    key={column.key}
                    className={classOf(column)}
                    {...(index === 0 ? { 'data-title': '' } : { 'data-label': labelOf(column) })}
                  >
                    {cellOf(column, item, rows)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </Wide>
  )
}

/** About as many cards as a phone’s window shows. */
const first = 6

/** The first of the rows when a table is drawn for the first time in a narrow window, and at once after that all. */
function useFirstOf<Item>(rows: readonly Item[]): readonly Item[] {
  const [isBegun, begin] = useState(!useIsNarrow())
  useEffect(() => startTransition(() => begin(true)), [])
  return isBegun ? rows : rows.slice(0, first)
}

/** What the rows of a query have given to the table, and the rows of the next query must not change. */
interface Held {
  answer: string
  widths?: string[]
  /** The least height of the table's place; in pixels, or as a style. */
  height?: number | string
  /** In pixels, the width of a table that is wider than its place. */
  width?: number
}

/** A height that reaches below the window's lower edge: the head of a page and its filters are higher than this. */
const belowHead = 'calc(100vh - 200px)'

function sizesOf(table: HTMLTableElement): Partial<Held> {
  const { width, top } = table.getBoundingClientRect()
  const place = table.parentElement?.getBoundingClientRect() ?? { width, height: 0 }
  // What is below the table stays where it is, or below the edge of the window.
  const height = Math.min(place.height, Math.max(0, innerHeight - top - scrollY))
  const widths = [...(table.rows[0]?.cells ?? [])].map((cell) => cell.getBoundingClientRect().width)
  // Without rows the columns are too narrow; on a phone there are none.
  if (table.querySelector('.rows-empty') || widths.includes(0)) return { height }
  const shares = widths.map((one) => `${(100 * one) / width}%`)
  return { height, widths: shares, ...(width > place.width + 1 && { width }) }
}

const classOf = ({ align, className }: RowsColumn<never>) =>
  [align === 'end' && 'rows-end', className].filter(Boolean).join(' ') || undefined

/** A column of buttons needs no label in a card. */
const labelOf = ({ key, title }: RowsColumn<never>) => (key === 'actions' ? '' : title)

function cellOf<Item>({ most, none, ...column }: RowsColumn<Item>, item: Item, rows: readonly Item[]): ReactNode {
  const shown = column.render ? column.render(item, rows) : (item[column.key] as ReactNode)
  const content = shown ?? (none && <span className="faint">{none}</span>)
  if (most === undefined) return content
  return (
    <span className="narrow" style={{ maxWidth: widthOf(most) }}>
      {content}
    </span>
  )
}

interface HeadingProps {
  column: RowsColumn<never>
  sort: RowsSort | undefined
}

function Heading({ column, sort }: HeadingProps) {
  const { sortBy, title, least } = column
  const style = least === undefined ? undefined : { minWidth: least }
  if (sort === undefined || sortBy === undefined) {
    return (
      <th className={classOf(column)} style={style}>
        {title}
      </th>
    )
  }
  const isSorted = sort.by === sortBy
  const mark = isSorted ? (sort.isAscending ? '↑' : '↓') : '↕'
  const order = sort.isAscending ? 'ascending' : 'descending'
  return (
    <th className={classOf(column)} style={style} aria-sort={isSorted ? order : 'none'}>
      <button type="button" className="rows-sort" data-sorted={isSorted} onClick={() => sort.turn(sortBy)}>
        {title} <Mark isOff={!isSorted}>{mark}</Mark>
      </button>
    </th>
  )
}

/** The arrow of a heading by which the rows are, or can be, sorted. */
function Mark({ isOff = false, children }: { isOff?: boolean; children: string }) {
  return (
    <span aria-hidden className={isOff ? 'rows-mark rows-mark-off' : 'rows-mark'}>
      {children}
    </span>
  )
}

/** Chooses all rows of the page; those of other pages stay as they are. */
function ChooseAll({ all, keys, onChange }: { all: Key[]; keys: Key[]; onChange: (keys: Key[]) => void }) {
  const t = useCommon()
  const here = all.filter((key) => keys.includes(key))
  const isAll = all.length > 0 && here.length === all.length
  const elsewhere = keys.filter((key) => !all.includes(key))
  return (
    <label>
      <input
        type="checkbox"
        ref={(box) => {
          if (box !== null) box.indeterminate = here.length > 0 && !isAll
        }}
        checked={isAll}
        disabled={all.length === 0}
        onChange={() => onChange(isAll ? elsewhere : [...elsewhere, ...all])}
      />
      <span className="rows-all">{t('selectAll')}</span>
    </label>
  )
}

/** The least width of a column of names, in which usual words stay whole: the table rather scrolls sideways. */
export const leastForNames = 104

/** A width that grows with the window, from pixels of a window of 1280. */
export const widthOf = (most: number) => `max(${most}px, ${most / 12.8}vw)`

/** Long text, cut off to one line, with the whole text in its tooltip. */
export function OneLine({ text, most }: { text: string; most?: number }) {
  return (
    <span className="one-line" title={text} style={{ maxWidth: most && widthOf(most) }}>
      {text}
    </span>
  )
}
