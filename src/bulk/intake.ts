import { Parser } from 'csv-parse'
import { yielder } from '../event-loop.ts'
import { invalidRequest, type Reason } from '../refusals.ts'
import type { ImportFormat, ImportKind } from './contract.ts'
import { columnFaults, type KeptRow } from './rules.ts'

/** What a piece holds at most, so that every step of an import is short and its memory flat. */
const pieceRows = 500
const pieceBytes = 256 * 1024
/** No row of any kind comes near it. */
const rowBytes = 64 * 1024
/** How much is read without a turn for others. */
const sliceBytes = 16 * 1024
/** Read before it is decided what an unnamed encoding is: the first bytes beyond ASCII and some behind them. */
const guessedBytes = 64 * 1024

/** Rows, and how far the file reaches with them. */
export interface Piece {
  rows: KeptRow[]
  bytesRead: number
}

/** A file of rows as it is read; what is known of it at its end. */
export class RowFile {
  /** Of a CSV file, known with its first row. */
  columns: string[] | null = null
  rows = 0
  private readonly kind: ImportKind
  private readonly format: ImportFormat
  private readonly file: AsyncIterable<Uint8Array> & { readonly size: number; readonly charset: string | null }

  constructor(kind: ImportKind, format: ImportFormat, file: RowFile['file']) {
    this.kind = kind
    this.format = format
    this.file = file
  }

  /** Throws 10001 for a file that is not what it says, and for columns that the kind does not have. */
  async *pieces(): AsyncGenerator<Piece> {
    let rows: KeptRow[] = []
    let size = 0
    for await (const row of this.format === 'csv' ? this.csvRows() : this.lines()) {
      rows.push(row)
      for (const cell of row) size += typeof cell === 'string' ? cell.length : 0
      this.rows++
      if (rows.length < pieceRows && size < pieceBytes) continue
      yield { rows, bytesRead: this.file.size }
      rows = []
      size = 0
    }
    if (rows.length > 0) yield { rows, bytesRead: this.file.size }
  }

  private async *csvRows(): AsyncGenerator<KeptRow> {
    const giveTurn = yielder()
    const parser = new Parser({
      // UTF-8's is gone by now, and GB18030 has one too.
      bom: true,
      info: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: rowBytes,
    })
    let fault: CsvFault | undefined
    parser.on('error', (error: CsvFault) => {
      fault = error
    })
    for await (const text of this.texts()) {
      for (let from = 0; from < text.length; from += sliceBytes) {
        await giveTurn()
        parser.write(text.slice(from, from + sliceBytes))
        yield* this.parsedRows(parser)
        if (fault !== undefined) throw csvRefusal(fault)
      }
    }
    parser.end()
    yield* this.parsedRows(parser)
    // A fault is told in a turn of its own.
    await new Promise(setImmediate)
    if (fault !== undefined) throw csvRefusal(fault)
    if (this.columns === null) throw bodyFault('holds no line of columns', '缺少表头行')
  }

  private *parsedRows(parser: Parser): Generator<KeptRow> {
    for (let read = readRecord(parser); read !== null; read = readRecord(parser)) {
      const { record, info } = read
      if (this.columns !== null) {
        yield [info.lines - linesWithin(record), ...record]
        continue
      }
      const faults = columnFaults(this.kind, record)
      if (faults.length > 0) throw invalidRequest(faults)
      this.columns = record
    }
  }

  private async *lines(): AsyncGenerator<KeptRow> {
    const giveTurn = yielder()
    let line = 0
    let rest = ''
    /** Of a line that is too large already, nothing is kept. */
    let isTooLarge = false
    function* rowsOf(texts: string[]): Generator<KeptRow> {
      for (const text of texts) {
        line++
        if (isTooLarge || text.length > rowBytes) yield [line]
        else if (text.trim() !== '') yield [line, text]
        isTooLarge = false
      }
    }
    for await (const text of this.texts()) {
      await giveTurn()
      const texts = (rest + text).split(/\r?\n/)
      rest = texts.pop() ?? ''
      yield* rowsOf(texts)
      if (rest.length > rowBytes) {
        isTooLarge = true
        rest = ''
      }
    }
    if (rest !== '' || isTooLarge) yield* rowsOf([rest])
  }

  /** The file as text: in the encoding that it names, or else in UTF-8, or in GB18030 where it cannot be UTF-8. */
  private async *texts(): AsyncGenerator<string> {
    const { charset } = this.file
    let decoder = charset === null ? undefined : decoderOf(charset, this.format)
    let kept = new Uint8Array()
    for await (const bytes of this.file) {
      if (decoder === undefined) {
        kept = joined(kept, bytes)
        const first = kept.findIndex((byte) => byte > 0x7f)
        // ASCII is the same in both; so is what waits for more.
        if (first === -1 && kept.byteLength >= guessedBytes) {
          yield new TextDecoder().decode(kept)
          kept = new Uint8Array()
        }
        if (first === -1 || kept.byteLength - first < guessedBytes) continue
        decoder = guessedDecoder(kept, this.format, true)
        yield decode(decoder, kept)
        kept = new Uint8Array()
      } else yield decode(decoder, bytes)
    }
    decoder ??= guessedDecoder(kept, this.format, false)
    yield decode(decoder, kept) + decode(decoder)
  }
}

interface CsvFault extends Error {
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
    CSV_MAX_RECORD_SIZE: { en: `holds a row of more than ${rowBytes} bytes`, zh: `有一行超过 ${rowBytes} 字节` },
  }
  const { en, zh } = told[code] ?? { en: 'has a quote where RFC 4180 allows none', zh: '引号的位置不符合 RFC 4180' }
  return bodyFault(`${en}, at line ${lines}`, `第 ${lines} 行${zh}`)
}

function bodyFault(en: string, zh: string) {
  return invalidRequest([{ field: 'body', reason: { en, zh } }])
}

const utf8 = /^utf-?8$/i
const gb18030 = /^(gb18030|gbk|gb2312|gb_?2312-80|cp936|x-gbk)$/i

function decoderOf(charset: string, format: ImportFormat): TextDecoder {
  if (utf8.test(charset)) return new TextDecoder('utf-8', { fatal: true })
  if (format === 'csv' && gb18030.test(charset)) return new TextDecoder('gb18030', { fatal: true })
  const taken = format === 'csv' ? { en: 'UTF-8 or GB18030', zh: 'UTF-8 或 GB18030' } : { en: 'UTF-8', zh: 'UTF-8' }
  const reason = { en: `must name ${taken.en} as its charset`, zh: `charset 必须是 ${taken.zh}` }
  throw invalidRequest([{ field: 'Content-Type', reason }], 415)
}

/** Text beyond ASCII that is well-formed UTF-8 is hardly ever anything else. */
function guessedDecoder(bytes: Uint8Array, format: ImportFormat, isCut: boolean): TextDecoder {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    if (format === 'csv') return decoderOf('gb18030', format)
  }
  return decoderOf('utf-8', format)
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch {
    throw decoder.encoding === 'utf-8'
      ? bodyFault(
          'is not UTF-8: name its encoding, as in text/csv; charset=gb18030',
          '不是 UTF-8：请注明编码，如 text/csv; charset=gb18030',
        )
      : bodyFault('is not GB18030: save it as UTF-8', '不是 GB18030：请另存为 UTF-8')
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.byteLength + second.byteLength)
  both.set(first)
  both.set(second, first.byteLength)
  return both
}
