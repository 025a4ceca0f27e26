import { Parser } from 'csv-parse'
import { nextTurn } from '../runtime/event-loop.ts'
import { limits } from '../vocabulary/limits.ts'
import { invalidField, invalidRequest, type Reason } from '../vocabulary/refusals.ts'
import { isBlank } from './blanks.ts'
import { type ImportFormat, ignoredColumns } from './contract.ts'
import { withoutQuote } from './formulas.ts'
import { columnFaults, type KeptRow, type RowKind, shownColumn, wrongSeparator } from './rules.ts'
import { bodyFault, textOf } from './text.ts'

/** A refused row keeps this many surplus cells, so that its author can recognize them. */
const surplusCells = 20

/** `bytesRead` counts the file up to the last row's end. */
export interface Piece {
  rows: KeptRow[]
  bytesRead: number
}

/** Reads a file of rows; its counts are known at the end. */
export class RowFile {
  columns: string[] | null = null
  ignoredColumns: string[] = []
  rows = 0
  /** Columns without a name, whose cells must be empty. */
  private nameless: number[] = []
  private namedWidth = 0
  /** Where the caller leaves out `appId`: its cells then name no application. */
  private unowned: number[] = []
  /** Line ends within cells that the parser counted twice. */
  private countedTwice = 0
  private readonly kind: RowKind
  private readonly format: ImportFormat
  private readonly leftOut: ReadonlySet<string>
  private readonly file: AsyncIterable<Uint8Array> & { readonly size: number; readonly charset: string | null }

  constructor(kind: RowKind, format: ImportFormat, leftOut: ReadonlySet<string>, file: RowFile['file']) {
    this.kind = kind
    this.format = format
    this.leftOut = leftOut
    this.file = file
  }

  /** Yields the file's pieces. Throws 10001 for another file type and for unknown columns. */
  async *pieces(): AsyncGenerator<Piece> {
    let rows: KeptRow[] = []
    let size = 0
    for await (const row of this.format === 'csv' ? this.csvRows() : this.lines()) {
      rows.push(row)
      // An empty cell is stored as two quotes and a comma.
      for (const cell of row) size += typeof cell === 'string' ? cell.length + 3 : 0
      this.rows++
      if (rows.length < limits.filePieceRows && size < limits.filePieceBytes) continue
      yield { rows, bytesRead: this.file.size }
      rows = []
      size = 0
    }
    if (rows.length > 0) yield { rows, bytesRead: this.file.size }
  }

  private async *csvRows(): AsyncGenerator<KeptRow> {
    const parser = new Parser({
      // The decoder removes the byte-order mark of UTF-8, not that of GB18030.
      bom: true,
      info: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: limits.fileRowBytes,
    })
    let fault: CsvFault | undefined
    parser.on('error', (error: CsvFault) => {
      fault = error
    })
    const requireProgress = progressOf(parser)
    for await (const text of textOf(this.file, this.format)) {
      parser.write(text)
      yield* this.parsedRows(parser)
      if (fault !== undefined) throw csvRefusal(fault, this.columns === null)
      requireProgress(text)
    }
    parser.end()
    yield* this.parsedRows(parser)
    // In a later turn, so that the reader has taken the piece before the error.
    await nextTurn()
    if (fault !== undefined) throw csvRefusal(fault, this.columns === null)
    if (this.columns === null) throw bodyFault('has no header row', '缺少表头行')
  }

  private *parsedRows(parser: Parser): Generator<KeptRow> {
    for (let read = readRecord(parser); read !== null; read = readRecord(parser)) {
      const { record, info } = read
      const [lines, countedTwice] = linesWithin(record)
      this.countedTwice += countedTwice
      const line = info.lines - this.countedTwice - lines
      // Spreadsheets leave empty rows above, between and below.
      if (record.every(isBlank)) continue
      if (this.columns === null) this.readHead(record)
      else yield [line, ...this.cellsOf(record, line, this.columns.length)]
    }
  }

  private readHead(record: readonly string[]): void {
    // The file of refused rows has a quote before a name that a spreadsheet would take for a formula.
    const columns = record.map((name) => withoutQuote(name.trim()))
    const separator = wrongSeparator(this.kind, columns)
    if (separator !== undefined) throw invalidRequest([{ field: 'body', reason: separator }])
    const faults = columnFaults(this.kind, columns, this.leftOut)
    if (faults.length > 0) throw invalidRequest(faults)
    const shown = columns.map(shownColumn)
    const ignored = new Set([...ignoredColumns(this.kind.kind, this.kind.mode), ...this.leftOut])
    this.ignoredColumns = [...new Set(shown)].filter((column) => ignored.has(column))
    this.nameless = [...columns.keys()].filter((at) => columns[at] === '' && !this.leftOut.has(shown[at] as string))
    this.unowned = columns.flatMap((name, at) => (name === 'appId' && this.leftOut.has(name) ? [at] : []))
    this.namedWidth = columns.findLastIndex((name) => name !== '') + 1
    this.columns = columns
  }

  /** Returns a row's cells. Throws 10001 for a cell without a column name. */
  private cellsOf(record: string[], line: number, width: number): string[] {
    for (const at of this.nameless) {
      if (isBlank(record[at] ?? '')) continue
      const column = `column ${at + 1}`
      throw invalidField(column, `has no name, but a cell in line ${line}`, `没有列名，但第 ${line} 行有内容`)
    }
    for (const at of this.unowned) if (at < record.length) record[at] = ''
    if (record.length < width) {
      const missing = record.length < this.namedWidth ? 0 : width - record.length
      return [...record, ...Array<string>(missing).fill('')]
    }
    return record.slice(0, record.slice(width).every(isBlank) ? width : width + surplusCells)
  }

  private async *lines(): AsyncGenerator<KeptRow> {
    const lines = new Lines()
    for await (const text of textOf(this.file, this.format)) yield* lines.read(text)
    yield* lines.end()
  }
}

class Lines {
  private line = 0
  private blankLines = 0
  private rest = ''
  /** A line that is too large keeps nothing. */
  private isTooLarge = false

  private add(text: string): void {
    if (this.isTooLarge) return
    this.rest += text
    if (this.rest.length <= limits.fileRowBytes) return
    this.isTooLarge = true
    this.rest = ''
  }

  *read(text: string): Generator<KeptRow> {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      // Most blank lines are empty and need no text.
      if (end > from) this.add(text.slice(from, end))
      yield* this.end()
      from = end + 1
    }
    this.add(text.slice(from))
  }

  /** Ends the current line. */
  *end(): Generator<KeptRow> {
    const { rest, isTooLarge } = this
    this.line++
    this.rest = ''
    this.isTooLarge = false
    if (!isTooLarge && isBlank(rest)) {
      if (++this.blankLines > limits.fileBlankLines) throw tooManyBlankLines(this.line)
      return
    }
    this.blankLines = 0
    yield isTooLarge ? [this.line] : [this.line, rest]
  }
}

/** Returns a function that refuses a CSV file when much text brings no row, or too many blank lines. */
function progressOf(parser: Parser): (text: string) => void {
  let [records, emptyLines, blankSince, unread] = [0, 0, 0, 0]
  return (text) => {
    const { info } = parser
    const isRow = info.records !== records
    if (isRow) blankSince = info.empty_lines
    if (info.empty_lines - blankSince > limits.fileBlankLines) throw tooManyBlankLines(info.lines)
    unread = isRow || info.empty_lines !== emptyLines ? 0 : unread + text.length
    // The parser's own limit counts what cells hold, so any number of empty ones passes it.
    if (unread > 2 * limits.fileRowBytes) throw csvRefusal({ code: 'CSV_MAX_RECORD_SIZE', lines: info.lines })
    records = info.records
    emptyLines = info.empty_lines
  }
}

function tooManyBlankLines(line: number) {
  return bodyFault(
    `has more than ${limits.fileBlankLines} consecutive blank lines, at line ${line}`,
    `第 ${line} 行：连续空行超过 ${limits.fileBlankLines} 行`,
  )
}

interface CsvFault {
  code: string
  lines?: number
}

function readRecord(parser: Parser): { record: string[]; info: { lines: number } } | null {
  return parser.read()
}

/** Returns a record's lines after its first, and how many the parser counts twice. */
function linesWithin(record: readonly string[]): [lines: number, countedTwice: number] {
  let [lines, countedTwice] = [0, 0]
  for (const cell of record) {
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    for (const [end] of cell.matchAll(/\r\n|\n|\r/g)) {
      lines++
      if (end.length === 2) countedTwice++
    }
  }
  return [lines, countedTwice]
}

function csvRefusal({ code, lines = 0 }: CsvFault, isHead = false) {
  const told: Record<string, Reason> = {
    CSV_QUOTE_NOT_CLOSED: { en: 'ends inside a quoted cell', zh: '在引号内结束' },
    CSV_MAX_RECORD_SIZE: {
      en: `has a row of more than ${limits.fileRowBytes} bytes`,
      zh: `有一行超过 ${limits.fileRowBytes} 字节`,
    },
  }
  const { en, zh } = told[code] ?? { en: 'has a misplaced quote (RFC 4180)', zh: '引号的位置不符合 RFC 4180' }
  // Quoted names with semicolons between look like misplaced quotes.
  const isSeparator = isHead && told[code] === undefined
  const [asked, askedZh] = isSeparator
    ? ['; are commas the separator of its columns?', '；各列是否以逗号分隔？']
    : ['', '']
  return bodyFault(`${en}, at line ${lines}${asked}`, `第 ${lines} 行${zh}${askedZh}`)
}
