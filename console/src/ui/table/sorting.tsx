import { useSearchParams } from 'react-router'
import { useCommon } from '../../language/index.ts'
import { useChangeSearch } from '../filter/address.ts'
import type { RowsColumn, RowsSort, SortOrder } from './rows.tsx'

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
      rows: {
        by: orderedBy,
        isAscending: order === 'asc',
        hasOwnOrder: false,
        turn: reverse,
        choose: (chosen?: SortOrder) => turn({ order: chosen?.isAscending ? 'asc' : undefined }),
      },
    }
  }
  const by = columns.find(({ sortBy }) => sortBy !== undefined && sortBy === search.get('sort'))?.sortBy
  const isAscending = given !== 'desc'
  const choose = (chosen?: SortOrder) =>
    turn({ sort: chosen?.by, order: chosen === undefined || chosen.isAscending ? undefined : 'desc' })
  return {
    asked: by === undefined ? {} : { sort: by, order: isAscending ? 'asc' : 'desc' },
    // An export has an order of its own.
    ofExport: { sort: undefined, order: undefined },
    /** What the table says of its own order, while no heading sorts it. */
    ownOrder: by === undefined ? ownOrderOf(columns) : undefined,
    rows: {
      by,
      isAscending,
      hasOwnOrder: true,
      choose,
      // The sequence of clicks on a heading: ascending, descending, and the table's own order again. Times begin with
      // descending.
      turn(chosen: string) {
        const isFirstDown = chosen === 'createTime'
        if (chosen !== by) choose({ by: chosen, isAscending: !isFirstDown })
        else if (isAscending === isFirstDown) choose()
        else choose({ by: chosen, isAscending: !isAscending })
      },
    },
  }
}

/** What a table says of its own order, if it says anything. */
const ownOrderOf = (columns: readonly RowsColumn<never>[]): string | undefined =>
  columns.find(({ ownOrder }) => ownOrder !== undefined)?.ownOrder

type SortChoiceProps = RowsSort & { columns: readonly RowsColumn<never>[] }

/**
 * The columns that sort, each in both directions, for a window in which the table has no headings: a phone opens its
 * own list of choices, and no code is loaded for it.
 */
export function SortChoice({ columns, by, isAscending, hasOwnOrder, choose }: SortChoiceProps) {
  const t = useCommon()
  const choices = columns.flatMap(({ sortBy, title }) =>
    sortBy === undefined
      ? []
      : [true, false].map((isUp) => ({
          by: sortBy,
          isAscending: isUp,
          words: t(isUp ? 'sortUp' : 'sortDown', { title }),
        })),
  )
  if (choices.length === 0) return null
  const present = choices.findIndex((choice) => choice.by === by && choice.isAscending === isAscending)
  return (
    <select
      className="sort-choice"
      aria-label={t('sortedBy')}
      value={present}
      onChange={({ target }) => choose(choices[Number(target.value)])}
    >
      {hasOwnOrder && <option value={-1}>{ownOrderOf(columns) ?? t('ownOrder')}</option>}
      {choices.map(({ words }, index) => (
        <option key={words} value={index}>
          {words}
        </option>
      ))}
    </select>
  )
}
