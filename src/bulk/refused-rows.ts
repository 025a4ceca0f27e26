import { fileReply, type Reply } from '../http/answer.ts'
import { jsonFault, parseJson } from '../http/json.ts'
import { preferredLanguage } from '../http/language.ts'
import { type Reason, type RefusalName, refusals } from '../vocabulary/refusals.ts'
import { mediaTypeOf, refusalColumns } from './contract.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import { type ReadNext, textOfOutcomes } from './jobs/result.ts'
import { type KeptOutcome, refusalWords } from './jobs/rules.ts'
import { cellTextReader } from './rules.ts'
import { readSentFile, type SentFile } from './store.ts'

// Refused rows as they were sent, with line and reason. An import ignores these columns, so the file can be corrected
// and sent again.

const isReason = (name: string) => (refusalColumns as readonly string[]).includes(name)

export async function refusedRowsReply(id: number, languages: string | null, readNext: ReadNext): Promise<Reply> {
  const file = await readNext((sql) => readSentFile(sql, id))
  const language = preferredLanguage(languages)
  const textOf = file.format === 'csv' ? csvRow(file, toComplete[language]) : ndjsonRow
  const rows = textOfOutcomes(id, 'refused', readNext, (outcome) => {
    // Rows beyond the limit have no cells.
    const [line, refusal, , errors = null, cells = []] = outcome as Extract<KeptOutcome, { length: 4 | 5 }>
    const { code } = refusals[refusal as RefusalName]
    return textOf(cells, [line, code, refusalWords(refusal as RefusalName, errors, language)])
  })
  const mediaType = file.format === 'csv' ? `${mediaTypeOf('csv')}; charset=utf-8` : mediaTypeOf('ndjson')
  return fileReply(withHead(headOf(file), rows), mediaType, `import-${id}-refused.${file.format}`)
}

type Reasons = [line: number | null, code: number, reason: string]

async function* withHead(head: string, rows: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(head)
  yield* rows
}

/** Leaves out reasons that an earlier import added. */
const ownColumns = ({ columns }: SentFile) => (columns ?? []).filter((name) => !isReason(name))

function headOf(file: SentFile): string {
  return file.format === 'csv' ? `${byteOrderMark}${csvLine([...ownColumns(file), ...refusalColumns])}` : ''
}

/** Behind a row with too few cells: with empty ones in their place, an update would clear what it left out. */
const toComplete: Reason = { en: 'complete this row, then clear this cell', zh: '补全本行后，清空此单元格' }

/** Makes the CSV row writer. A row of another width has surplus cells, so that it is refused again until corrected. */
function csvRow(file: SentFile, surplus: string) {
  const columns = file.columns ?? []
  const textOf = cellTextReader(file, columns)
  const blanks = columns.map(() => '')
  return (cells: readonly string[], reasons: Reasons): string => {
    const own = [...cells, ...blanks.slice(cells.length)].filter((_, index) => !isReason(columns[index] ?? ''))
    const isShort = cells.length > 0 && cells.length < columns.length
    return csvLine([...own.map(textOf), ...reasons, ...(isShort ? [surplus] : [])])
  }
}

/** Writes a line of NDJSON: the row's fields, or its text if that is no row. */
function ndjsonRow([text]: readonly string[], reasons: Reasons): string {
  const told = Object.fromEntries(refusalColumns.map((name, index) => [name, reasons[index]]))
  return `${JSON.stringify({ ...(text === undefined ? {} : membersOf(text)), ...told })}\n`
}

function membersOf(text: string): object {
  try {
    const row = parseJson(Buffer.from(text))
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row
  } catch (error) {
    if (!jsonFault.is(error)) throw error
  }
  return { refusedRow: text }
}
