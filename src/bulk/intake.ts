import { Parser } from 'csv-parse'
import { limits } from '../vocabulary/limits.ts'
import { invalidRequest, type Reason } from '../vocabulary/refusals.ts'
import { type ImportFormat, ignoredColumns } from './contract.ts'
import { columnFaults, type KeptRow, type RowKind, shownColumn } from './rules.ts'
import { bodyFault, textOf } from './text.ts'

/** The most surplus cells that a refused row keeps, so that its author finds them in the file of refused rows. */
const surplusCells = 20

/** Rows, and how many bytes of the file were read up to their end. */
export interface Piece {
  rows: KeptRow[]
  bytesRead: number
}

/** Reads a file of rows; at its end the counts are known. */
export class RowFile {
  /** The columns of a CSV file; null until its first row is read. */
  columns: string[] | null = null
  /** The columns of the file that are ignored. */
  ignoredColumns: string[] = []
  rows = 0
  private readonly kind: RowKind
  private readonly format: ImportFormat
  /** Columns that are ignored because the caller says so. */
  private readonly leftOut: ReadonlySet<string>
  private readonly file: AsyncIterable<Uint8Array> & { readonly size: number; readonly charset: string | null }

  constructor(kind: RowKind, format: ImportFormat, leftOut: ReadonlySet<string>, file: RowFile['file']) {
    this.kind = kind
    this.format = format
    this.leftOut = leftOut
    this.file = file
  }

  /** Yields the file's pieces. Throws 10001 for a file of another type than declared and for unknown columns. */
  async *pieces(): AsyncGenerator<Piece> {
    let rows: KeptRow[] = []
    let size = 0
    for await (const row of this.format === 'csv' ? this.csvRows() : this.lines()) {
      rows.push(row)
      // An empty cell is counted too: it is stored as two quotes and a comma.
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
      // The decoder has removed a byte-order mark of UTF-8, but not one of GB18030.
      bom: true,
      info: true,
      record_delimiter: ['\r\n', '\n'],
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
      if (fault !== undefined) throw csvRefusal(fault)
      requireProgress(text)
    }
    parser.end()
    yield* this.parsedRows(parser)
    // The fault is thrown in a later turn, so that the reader has taken the piece before it.
    await new Promise(setImmediate)
    if (fault !== undefined) throw csvRefusal(fault)
    if (this.columns === null) throw bodyFault('holds no header line', '缺少表头行')
  }

  private *parsedRows(parser: Parser): Generator<KeptRow> {
    for (let read = readRecord(parser); read !== null; read = readRecord(parser)) {
      const { record, info } = read
      if (this.columns !== null) {
        yield [info.lines - linesWithin(record), ...record.slice(0, this.columns.length + surplusCells)]
        continue
      }
      const faults = columnFaults(this.kind, record, this.leftOut)
      if (faults.length > 0) throw invalidRequest(faults)
      const ignored = new Set([...ignoredColumns(this.kind.kind, this.kind.mode), ...this.leftOut])
      this.ignoredColumns = [...new Set(record.map(shownColumn))].filter((column) => ignored.has(column))
      this.columns = record
    }
  }

  private async *lines(): AsyncGenerator<KeptRow> {
    const lines = new Lines()
    for await (const text of textOf(this.file, this.format)) yield* lines.read(text)
    yield* lines.end()
  }
}

/** The lines of an NDJSON file that are not blank. */
class Lines {
  private line = 0
  private blankLines = 0
  private rest = ''
  /** Whether the current line is already too large; then none of it is kept. */
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
      // Most blank lines are empty, and need no text.
      if (end > from) this.add(text.slice(from, end))
      yield* this.end()
      from = end + 1
    }
    this.add(text.slice(from))
  }

  /** The line that has been read up to here. */
  *end(): Generator<KeptRow> {
    const { rest, isTooLarge } = this
    this.line++
    this.rest = ''
    this.isTooLarge = false
    if (!isTooLarge && (rest === '' || rest.trim() === '')) {
      if (++this.blankLines > limits.fileBlankLines) throw tooManyBlankLines(this.line)
      return
    }
    this.blankLines = 0
    yield isTooLarge ? [this.line] : [this.line, rest]
  }
}

/** Makes the function that refuses a CSV file when much text brings no row, or too many blank lines. */
function progressOf(parser: Parser): (text: string) => void {
  let [records, emptyLines, blankSince, unread] = [0, 0, 0, 0]
  return (text) => {
    const { info } = parser
    const isRow = info.records !== records
    if (isRow) blankSince = info.empty_lines
    if (info.empty_lines - blankSince > limits.fileBlankLines) throw tooManyBlankLines(info.lines)
    unread = isRow || info.empty_lines !== emptyLines ? 0 : unread + text.length
    // The parser's own limit counts what cells hold: any number of empty ones passes it.
    if (unread > 2 * limits.fileRowBytes) throw csvRefusal({ code: 'CSV_MAX_RECORD_SIZE', lines: info.lines })
    records = info.records
    emptyLines = info.empty_lines
  }
}

function tooManyBlankLines(line: number) {
  return bodyFault(
    `holds more than ${limits.fileBlankLines} blank lines in a row, at line ${line}`,
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

/** How many lines a record has beyond its first. */
function linesWithin(record: readonly string[]): number {
  let lines = 0
  for (const cell of record) if (cell.includes('\n')) lines += cell.split('\n').length - 1
  return lines
}

function csvRefusal({ code, lines = 0 }: CsvFault) {
  const told: Record<string, Reason> = {
    CSV_QUOTE_NOT_CLOSED: { en: 'ends within a quoted cell', zh: '在引号内结束' },
    CSV_MAX_RECORD_SIZE: {
      en: `holds a row of more than ${limits.fileRowBytes} bytes`,
      zh: `有一行超过 ${limits.fileRowBytes} 字节`,
    },
  }
  const { en, zh } = told[code] ?? { en: 'has a quote where RFC 4180 allows none', zh: '引号的位置不符合 RFC 4180' }
  return bodyFault(`${en}, at line ${lines}`, `第 ${lines} 行${zh}`)
}
