import { defused } from './formulas.ts'

// CSV by RFC 4180, as exports and files of refused rows are written.

/** Spreadsheets take a file without this mark for one in the machine's own encoding. */
export const byteOrderMark = '\ufeff'

export const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`

/** A cell. A text that a spreadsheet would take for a formula has a quote before it. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const cell = defused(text)
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
