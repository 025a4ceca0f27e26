/** What a spreadsheet may have done to the numbers of a column, with a cell that shows it. */
export interface SpoiltColumn {
  heading: string
  kind: 'shortened' | 'rounded' | 'zeros'
  cell: string
}

/** A spreadsheet shows long numbers so, and saves what it shows. */
const shortened = /^\d(\.\d+)?E\+\d{2,}$/i
/** A spreadsheet keeps 15 digits of a number. */
const rounded = /^[1-9]\d{14}0+$/
/** Serials, whose zeros count. */
const serialHeading = /serial|^sn$|deviceNo|序列号|设备编号/i
/** The fewest digits of a serial that has lost zeros, and how many it may have lost. */
const [fewestDigits, mostLost] = [5, 3]

/** The columns whose numbers look as if a spreadsheet had changed them. */
export function spoiltColumns(headings: readonly string[], rows: readonly string[][]): SpoiltColumn[] {
  return headings.flatMap((heading, index): SpoiltColumn[] => {
    const cells = rows.map((row) => row[index] ?? '')
    const found = (kind: SpoiltColumn['kind'], cell: string | undefined): SpoiltColumn[] =>
      cell === undefined ? [] : [{ heading, kind, cell }]
    return [
      ...found(
        'shortened',
        cells.find((cell) => shortened.test(cell)),
      ),
      ...found(
        'rounded',
        cells.find((cell) => rounded.test(cell)),
      ),
      ...(serialHeading.test(heading) ? found('zeros', shorterOne(cells)) : []),
    ]
  })
}

/** Of serials that are digits alone and differ little in length, one that is shorter; undefined if there is none. */
function shorterOne(cells: readonly string[]): string | undefined {
  const serials = cells.filter((cell) => cell !== '')
  if (serials.some((cell) => !/^[1-9]\d*$/.test(cell))) return undefined
  const longest = Math.max(...serials.map(({ length }) => length))
  return serials.find(({ length }) => length < longest && length >= Math.max(fewestDigits, longest - mostLost))
}
