/**
 * Formats a number in groups of three digits, as both languages do. `toLocaleString` would follow the browser's
 * language, and its first call takes longer than rendering a page's rows.
 */
export function grouped(value: number): string {
  return String(value).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',')
}

/** How many rows a page operation has found; with a plus if there may be more. */
export const countOf = ({ total, totalIsExact }: { total: number; totalIsExact: boolean }) =>
  `${grouped(total)}${totalIsExact ? '' : '+'}`

/** A duration in milliseconds. One that is rounded to none took some time all the same. */
export const inMilliseconds = (ms: number) => (ms < 1 ? '< 1 ms' : `${grouped(ms)} ms`)
