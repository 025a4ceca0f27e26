import { isBlank } from '../../../src/bulk/blanks.ts'
import type { ImportFormat } from '../../../src/bulk/contract.ts'
import { type Encoding, isUtf16, TwoReadings, utf8Mark } from '../../../src/bulk/encodings.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { columnsOf, isIgnored, leftOut, nameless, type RowKind } from './columns.ts'
import { columnOf, delimiterOf, linesOf } from './table-text.ts'

// Inspects a file of any size before it is sent, by reading its beginning only.

const startBytes = 64 * 1024
const mostSamples = 3

export interface FileStart {
  format: ImportFormat
  encoding: Encoding
  /** Whether its beginning can be read in another encoding too: the user must choose one. */
  isAmbiguous: boolean
  /** The encoding to name, of a file whose bytes need not tell it. */
  charset: Encoding | undefined
  /** For CSV, the cells of the first line; for NDJSON, the members of the first rows. */
  headings: string[]
  /** The cells of the first rows, in the order of the headings. */
  samples: string[][]
  /** Cells that a spreadsheet has shortened or rounded, or whose zeros it may have removed. */
  spoilt: SpoiltColumn[]
  /** Where the line with the headings begins and ends, in bytes. */
  headLine: [from: number, to: number]
}

/** Why a file cannot be imported at all. */
export type FileFault = 'empty' | 'tooLarge' | 'workbook' | 'utf16' | 'delimiter' | 'longHeading' | 'noRows' | 'notJson'

/** Reads the beginning of a file, in the encoding that the user has chosen, if any. */
export async function readStart(file: Blob, chosen?: Encoding): Promise<FileStart | FileFault> {
  if (file.size > limits.fileBytes) return 'tooLarge'
  const bytes = new Uint8Array(await file.slice(0, startBytes).arrayBuffer())
  if (bytes.length === 0) return 'empty'
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04]) || startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0])) return 'workbook'
  if (isUtf16(bytes)) return 'utf16'
  const isWhole = bytes.length === file.size
  const ends = lineEnds(bytes)
  // The last line may be cut off, so it is left out.
  const known = isWhole ? bytes.length : ends.at(-1)
  if (known === undefined) return 'longHeading'
  const decoded = decode(bytes.subarray(0, known), chosen)
  return decoded.text.trimStart().startsWith('{')
    ? startOfNdjson(decoded)
    : startOfCsv(decoded, isWhole ? [...ends, bytes.length] : ends, file.size)
}

const startsWith = (bytes: Uint8Array, mark: readonly number[]) => mark.every((byte, index) => bytes[index] === byte)

/** The offsets of line ends outside quotes. In both encodings these bytes never occur within a character. */
function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = []
  let isQuoted = false
  for (const [index, byte] of bytes.entries()) {
    if (byte === 0x22) isQuoted = !isQuoted
    const isEnd = byte === 0x0a || (byte === 0x0d && bytes[index + 1] !== 0x0a)
    if (isEnd && !isQuoted) ends.push(index + 1)
  }
  return ends
}

interface Decoded extends Pick<FileStart, 'encoding' | 'charset' | 'isAmbiguous'> {
  text: string
}

/** Spreadsheets on Chinese Windows write GB 18030, all others UTF-8. */
function decode(bytes: Uint8Array, chosen: Encoding | undefined): Decoded {
  const textIn = (encoding: Encoding) => new TextDecoder(encoding).decode(bytes)
  if (chosen !== undefined) return { text: textIn(chosen), encoding: chosen, charset: chosen, isAmbiguous: false }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const isMarked = startsWith(bytes, utf8Mark)
    const readings = new TwoReadings()
    readings.read(bytes)
    const charset = isMarked ? 'utf-8' : undefined
    return { text, encoding: 'utf-8', charset, isAmbiguous: !isMarked && readings.isAmbiguous }
  } catch {
    return { text: textIn('gb18030'), encoding: 'gb18030', charset: 'gb18030', isAmbiguous: false }
  }
}

function startOfCsv({ text, ...encoded }: Decoded, ends: readonly number[], size: number): FileStart | FileFault {
  if (delimiterOf(text.trimStart().split(/[\r\n]/, 1)[0] ?? '') !== ',') return 'delimiter'
  const lines = linesOf(text, ',')
  // Spreadsheets may leave empty rows above the headings.
  const isFilled = (cells: readonly string[]) => cells.some((cell) => !isBlank(cell))
  const head = Math.max(0, lines.findIndex(isFilled))
  const headLine: FileStart['headLine'] = [head === 0 ? 0 : (ends[head - 1] ?? 0), ends[head] ?? size]
  if (headLine[1] === size) return 'noRows'
  const headings = lines[head] ?? []
  const rows = lines.slice(head + 1).filter(isFilled)
  const spoilt = spoiltColumns(headings, rows)
  return { format: 'csv', ...encoded, headings, samples: rows.slice(0, mostSamples), spoilt, headLine }
}

function startOfNdjson({ text, encoding }: Decoded): FileStart | FileFault {
  try {
    const rows = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const headings = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const cellOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    const samples = rows.slice(0, mostSamples).map((row) => headings.map((name) => cellOf(row[name])))
    const asCsv = { charset: undefined, isAmbiguous: false, spoilt: [], headLine: [0, 0] as [number, number] }
    return { format: 'ndjson', encoding, headings, samples, ...asCsv }
  } catch {
    return 'notJson'
  }
}

/** Maps the columns of a file by their headings, as far as possible. */
export function namesOf(rows: RowKind, { format, headings, samples }: FileStart): (string | undefined)[] {
  const columns = columnsOf(rows)
  if (format === 'ndjson') return headings
  // A heading that equals a column's name takes precedence over its synonyms.
  const exact = headings.filter((heading) => columns.some(({ name }) => name === heading))
  return headings.map((heading, index) => {
    if (heading === '' && samples.every((cells) => isBlank(cells[index] ?? ''))) return nameless
    if (isIgnored(rows, heading)) return heading
    const name = columnOf(heading, columns)
    return name !== heading && exact.includes(name ?? '') ? undefined : name
  })
}

export interface FileToSend {
  file: Blob
  /** The parameter that names the columns that are left out. */
  ignoreColumns?: string
}

/**
 * The file to send. If a CSV has other headings, its first line is replaced: the columns that are kept get the service's
 * names. The rest is not read, because the service leaves out what the user leaves out.
 */
export function fileToSend(
  rows: RowKind,
  file: Blob,
  start: FileStart,
  names: readonly (string | undefined)[],
): FileToSend {
  const { format, headings, headLine, encoding } = start
  const isSame = headings.every((heading, index) => heading === names[index])
  if (format === 'ndjson' || isSame) return { file }
  const shown = leftOutNames(rows, headings, names, encoding)
  const head = names.map((name, index) => shown.get(index) ?? name)
  return {
    file: new Blob([file.slice(0, headLine[0]), `${head.join(',')}\r\n`, file.slice(headLine[1])]),
    ...(shown.size > 0 && { ignoreColumns: [...shown.values()].join(',') }),
  }
}

/** The longest list of names that fits well into an address. */
const mostNamesLength = 2000

/**
 * What the columns that are left out are called, by their place: their headings, or `column N` where a heading cannot be
 * listed with commas between or is the name of another column, or where there are too many headings.
 */
function leftOutNames(
  rows: RowKind,
  headings: readonly string[],
  names: readonly (string | undefined)[],
  encoding: Encoding,
) {
  const isFree = (heading: string) =>
    // The line is written in UTF-8.
    (encoding === 'utf-8' || /^[ -~]*$/.test(heading)) &&
    /^[^",\p{Cc}]{1,100}$/u.test(heading) &&
    !isIgnored(rows, heading) &&
    !columnsOf(rows).some(({ name }) => name === heading)
  const places = [...headings.keys()].filter((index) => names[index] === leftOut)
  const areShort = encodeURIComponent(places.map((index) => headings[index]).join()).length < mostNamesLength
  return new Map(
    places.map((index) => {
      const heading = headings[index] ?? ''
      return [index, areShort && isFree(heading) ? heading : `column ${index + 1}`]
    }),
  )
}

/** What a spreadsheet may have done to the numbers of a column, with a cell that shows it. */
interface SpoiltColumn {
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
function spoiltColumns(headings: readonly string[], rows: readonly string[][]): SpoiltColumn[] {
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
