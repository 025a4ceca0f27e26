/** A column that a pasted table may have. */
export interface TextColumn<Name extends string> {
  name: Name
  /** Other headings of the column, in lower case and without spaces. */
  headings: readonly string[]
}

export interface TextTable<Name extends string> {
  rows: Record<Name, string>[]
  /** Headings that match no column; their cells are left out. */
  ignored: string[]
}

/**
 * Parses a pasted table: CSV, tab-separated lines from a spreadsheet, or one value per line. With a heading the
 * columns may have any order; without one they have the order of `columns`.
 */
export function readTable<Name extends string>(
  text: string,
  columns: readonly TextColumn<Name>[],
  pairColumn?: Name,
): TextTable<Name> {
  const lines = linesOf(text).filter((cells) => cells.some((cell) => cell !== ''))
  const heading = (lines[0] ?? []).map((cell) => columnOf(cell, columns))
  const hasHeading = heading.some((name) => name !== undefined)
  const names = hasHeading ? heading : columns.map(({ name }) => name)
  const pairAt = pairColumn === undefined ? -1 : names.indexOf(pairColumn)
  const blank = Object.fromEntries(columns.map(({ name }) => [name, ''])) as Record<Name, string>
  const rows = (hasHeading ? lines.slice(1) : lines).map((cells) => {
    const row = { ...blank }
    for (const [index, cell] of joinPair(cells, pairAt).entries()) {
      const name = names[index]
      if (name !== undefined) row[name] = cell
    }
    return row
  })
  const ignored = hasHeading
    ? (lines[0] ?? []).filter((cell, index) => cell !== '' && heading[index] === undefined)
    : []
  return { rows, ignored }
}

/** Joins coordinates whose unquoted comma has split them into two cells. */
function joinPair(cells: string[], at: number): string[] {
  const isPair = at >= 0 && isNumber(cells[at]) && isNumber(cells[at + 1])
  return isPair ? [...cells.slice(0, at), `${cells[at]},${cells[at + 1]}`, ...cells.slice(at + 2)] : cells
}

function isNumber(cell: string | undefined): boolean {
  return cell !== undefined && /^-?\d{1,3}(\.\d+)?$/.test(cell)
}

/** The column that a heading names. */
export function columnOf<Name extends string>(cell: string, columns: readonly TextColumn<Name>[]): Name | undefined {
  const heading = cell.toLowerCase().replace(/[\s_-]/g, '')
  return columns.find(({ name, headings }) => name.toLowerCase() === heading || headings.includes(heading))?.name
}

/** The cells of each line. */
export function linesOf(text: string, delimiter = delimiterOf(text)): string[][] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\r\n]*))(${delimiter}|\r\n|\n|\r|$)`, 'y')
  const lines: string[][] = []
  let line: string[] = []
  while (cell.lastIndex < text.length) {
    const [, quoted, plain = '', end] = cell.exec(text) ?? []
    line.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    if (end === delimiter) continue
    lines.push(line)
    line = []
  }
  return line.length === 0 ? lines : [...lines, line]
}

/** The delimiter, detected from the first line. */
export function delimiterOf(text: string): string {
  if (text.includes('\t')) return '\t'
  const [first = ''] = text.split('\n', 1)
  return first.split(';').length > first.split(',').length ? ';' : ','
}

/** Formats a table as tab-separated text, for pasting into a spreadsheet. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/["\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return rows.map((cells) => cells.map(quoted).join('\t')).join('\n')
}
