import { useSearchParams } from 'react-router'
import { useChangeSearch } from './address.ts'
import type { RowsColumn, RowsSort } from './rows.tsx'
import { useCommon } from './texts.ts'

/**
 * The order of a table, kept in the address; `frame` has the address's parameters for the page, which a change of the
 * order resets.
 */
export function useSort<Item>(
  columns: readonly RowsColumn<Item>[],
  orderedBy: string | undefined,
  frame: readonly string[],
) {
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
      ownOrder: undefined,
      rows: { by: orderedBy, isAscending: order === 'asc', turn: reverse },
    }
  }
  const by = columns.find(({ sortBy }) => sortBy !== undefined && sortBy === search.get('sort'))?.sortBy
  const isAscending = given !== 'desc'
  return {
    asked: by === undefined ? {} : { sort: by, order: isAscending ? 'asc' : 'desc' },
    // An export has an order of its own.
    ofExport: { sort: undefined, order: undefined },
    /** What the table says of its own order, while no heading sorts it. */
    ownOrder: by === undefined ? ownOrderOf(columns) : undefined,
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

/** What a table says of its own order, if it says anything. */
const ownOrderOf = (columns: readonly RowsColumn<never>[]): string | undefined =>
  columns.find(({ ownOrder }) => ownOrder !== undefined)?.ownOrder

type SortChoiceProps = RowsSort & { columns: readonly RowsColumn<never>[] }

/**
 * The columns that sort, for a window in which the table has no headings: a phone opens its own list of choices, and
 * no code is loaded for it.
 */
export function SortChoice({ columns, by, turn }: SortChoiceProps) {
  const t = useCommon()
  const choices = columns.flatMap(({ sortBy, title }) =>
    sortBy === undefined ? [] : [{ value: sortBy, label: title }],
  )
  if (choices.length === 0) return null
  const ownOrder = ownOrderOf(columns) ?? t('ownOrder')
  return (
    <select
      className="sort-choice"
      aria-label={t('sortedBy')}
      value={by ?? ''}
      onChange={({ target }) => turn(target.value)}
    >
      {[{ value: '', label: ownOrder }, ...choices].map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
