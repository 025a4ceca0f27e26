export type Columns<Row> = Record<string, (row: Row) => string | number | null | undefined>

/** Characters that fill two cells of a terminal count as two. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const lines = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((show) => cell(show(row))))]
  const widths = Object.keys(columns).map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))))
  const shown = lines.map((line) =>
    line.map((text, index) => text + ' '.repeat((widths[index] ?? 0) - widthOf(text))).join('  '),
  )
  return shown.map((line) => line.trimEnd()).join('\n')
}

export function sheet(members: Record<string, string | number | null | undefined>): string {
  const width = Math.max(...Object.keys(members).map((name) => name.length))
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join('\n')
}

function cell(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? '-' : String(value)
}

function widthOf(text: string): number {
  const wide = text.match(
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g,
  )
  return text.length + (wide?.length ?? 0)
}
