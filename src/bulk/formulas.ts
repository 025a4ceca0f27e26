/** What spreadsheets take for the beginning of a formula, full-width letters of Chinese and Japanese input included. */
const formula = /^'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/
/** Begins like a formula, and is a number or a pair of coordinates in any spreadsheet. */
const number = /^(?:-\d+(?:\.\d+)?|[+-]\d+(?:\.\d+)?\s*,\s*[+-]?\d+(?:\.\d+)?)$/

/**
 * Puts a quote before a cell that a spreadsheet would read as a formula. A text that begins with such a quote gets one
 * more, so that `withoutQuote` restores every text.
 */
export function defused(text: string): string {
  return formula.test(text) && !number.test(text) ? `'${text}` : text
}

/** The text that a cell was made of by `defused`. */
export function withoutQuote(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell
}
