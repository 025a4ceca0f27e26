import { defused } from './formulas.ts'

// Writes CSV by RFC 4180.

/** Without it, spreadsheets assume the machine's own encoding. */
export const byteOrderMark = '\ufeff'

export const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`

/** Writes a cell, with a quote before a text that a spreadsheet would take for a formula. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const cell = defused(text)
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
