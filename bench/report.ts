import type { Figure } from './measure.ts'

/** A table that can be read in a terminal and pasted into the README. */
export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(headings), rule, ...rows.map(line)].join('\n')
}

export const figureHeadings = [
  'server',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'server µs',
  'database µs',
  'total µs',
  'wrk µs',
  'idle %',
]

export function figureRow(name: string, figure: Figure): string[] {
  const { perSecond, p50Ms, p99Ms, serverMicros, databaseMicros, loadMicros, idlePercent } = figure
  return [
    name,
    Math.round(perSecond).toLocaleString('en'),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    ...[serverMicros, databaseMicros, totalMicros(figure), loadMicros].map((micros) => micros.toFixed(1)),
    idlePercent.toFixed(0),
  ]
}

/** What one create costs the server and the database together. */
export function totalMicros({ serverMicros, databaseMicros }: Figure): number {
  return serverMicros + databaseMicros
}

/** Prints progress to stderr, apart from the result: the figures of one measurement. */
export function tellProgress(round: number, name: string, words: string): void {
  process.stderr.write(`round ${round + 1}: ${name}: ${words}\n`)
}

export function showFigure(figure: Pick<Figure, 'perSecond' | 'serverMicros' | 'databaseMicros'>): string {
  const { perSecond, serverMicros, databaseMicros } = figure
  return `${Math.round(perSecond)}/s, server ${serverMicros.toFixed(1)} µs, database ${databaseMicros.toFixed(1)} µs`
}
