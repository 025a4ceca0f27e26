/** Spreadsheets take this for a formula; includes full-width letters of Chinese and Japanese input. */
const formula = /^'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/
/** Spreadsheets take this for a number or coordinates, though it starts like a formula. */
const number = /^(?:-\d+(?:\.\d+)?|[+-]\d+(?:\.\d+)?\s*,\s*[+-]?\d+(?:\.\d+)?)$/

/** Puts a quote before a formula, and one more before a quoted one, so that `withoutQuote` restores every text. */
export function defused(text: string): string {
  return formula.test(text) && !number.test(text) ? `'${text}` : text
}

/** Undoes `defused`. */
export function withoutQuote(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell
}
