/**
 * A number with its digits in groups of three, as both languages write it. `toLocaleString` would follow the browser's
 * own language, and the first use of it takes a page longer than drawing its rows.
 */
export function grouped(value: number): string {
  return String(value).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',')
}
