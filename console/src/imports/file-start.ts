import type { ImportFormat } from '../../../src/bulk/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { columnOf, delimiterOf, linesOf } from '../devices/table-text.ts'
import { columnsOf, isIgnored, leftOut, type RowKind } from './columns.ts'

// Inspects a file of any size before it is sent, by reading its beginning only.

const startBytes = 64 * 1024
const mostSamples = 3

export interface FileStart {
  format: ImportFormat
  encoding: 'utf-8' | 'gb18030'
  /** For CSV, the cells of the first line; for NDJSON, the members of the first rows. */
  headings: string[]
  /** The cells of the first rows, in the order of the headings. */
  samples: string[][]
  /** The offset of the second line, in bytes. */
  secondLine: number
}

/** Why a file cannot be imported at all. */
export type FileFault = 'empty' | 'tooLarge' | 'workbook' | 'utf16' | 'delimiter' | 'longHeading' | 'noRows' | 'notJson'

/** Reads the beginning of a file. */
export async function readStart(file: Blob): Promise<FileStart | FileFault> {
  if (file.size > limits.fileBytes) return 'tooLarge'
  const bytes = new Uint8Array(await file.slice(0, startBytes).arrayBuffer())
  if (bytes.length === 0) return 'empty'
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04]) || startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0])) return 'workbook'
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) return 'utf16'
  const isWhole = bytes.length === file.size
  const ends = lineEnds(bytes)
  // The last line may be cut off, so it is left out.
  const known = isWhole ? bytes.length : ends.at(-1)
  if (known === undefined) return 'longHeading'
  const [text, encoding] = decode(bytes.subarray(0, known))
  const secondLine = ends[0] ?? bytes.length
  return text.trimStart().startsWith('{')
    ? startOfNdjson(text, encoding)
    : startOfCsv(text, { encoding, secondLine, isWhole: secondLine === file.size })
}

const startsWith = (bytes: Uint8Array, mark: number[]) => mark.every((byte, index) => bytes[index] === byte)

/** The offsets of line ends outside quotes. In both encodings these bytes never occur within a character. */
function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = []
  let isQuoted = false
  for (const [index, byte] of bytes.entries()) {
    if (byte === 0x22) isQuoted = !isQuoted
    if (byte === 0x0a && !isQuoted) ends.push(index + 1)
  }
  return ends
}

/** Spreadsheets on Chinese Windows write GB 18030, all others UTF-8. */
function decode(bytes: Uint8Array): [string, FileStart['encoding']] {
  try {
    return [new TextDecoder('utf-8', { fatal: true }).decode(bytes), 'utf-8']
  } catch {
    return [new TextDecoder('gb18030').decode(bytes), 'gb18030']
  }
}

interface CsvStart extends Pick<FileStart, 'encoding' | 'secondLine'> {
  /** Whether the first line is the whole file. */
  isWhole: boolean
}

function startOfCsv(text: string, { encoding, secondLine, isWhole }: CsvStart): FileStart | FileFault {
  if (delimiterOf(text.split(/[\r\n]/, 1)[0] ?? '') !== ',') return 'delimiter'
  const [headings = [], ...rows] = linesOf(text, ',')
  if (isWhole) return 'noRows'
  const samples = rows.filter((cells) => cells.some((cell) => cell !== '')).slice(0, mostSamples)
  return { format: 'csv', encoding, headings, samples, secondLine }
}

function startOfNdjson(text: string, encoding: FileStart['encoding']): FileStart | FileFault {
  try {
    const rows = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const headings = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const cellOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    const samples = rows.slice(0, mostSamples).map((row) => headings.map((name) => cellOf(row[name])))
    return { format: 'ndjson', encoding, headings, samples, secondLine: 0 }
  } catch {
    return 'notJson'
  }
}

/** Maps the columns of a file by their headings, as far as possible. */
export function namesOf(rows: RowKind, { format, headings }: FileStart): (string | undefined)[] {
  const columns = columnsOf(rows)
  if (format === 'ndjson') return headings
  // A heading that equals a column's name takes precedence over its synonyms.
  const exact = headings.filter((heading) => columns.some(({ name }) => name === heading))
  return headings.map((heading) => {
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
  const { format, headings, secondLine } = start
  const isSame = headings.every((heading, index) => heading === names[index])
  if (format === 'ndjson' || isSame) return { file }
  const shown = leftOutNames(rows, headings, names)
  const head = names.map((name, index) => shown.get(index) ?? name)
  return {
    file: new Blob([`${head.join(',')}\r\n`, file.slice(secondLine)]),
    ...(shown.size > 0 && { ignoreColumns: [...shown.values()].join(',') }),
  }
}

/** The longest list of names that fits well into an address. */
const mostNamesLength = 2000

/**
 * What the columns that are left out are called, by their place: their headings, or `column N` where a heading cannot be
 * listed with commas between or is the name of another column, or where there are too many headings.
 */
function leftOutNames(rows: RowKind, headings: readonly string[], names: readonly (string | undefined)[]) {
  const isFree = (heading: string) =>
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
