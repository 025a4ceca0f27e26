// How many blocks every operation reads with few rows and with many: writes docs/performance/operations.md.
//
//   bun bench/operation-costs.ts [--devices 200000]
//
// With --devices it prints the page for this number of devices and leaves the file as it is.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { boundOf, type Cost, few, manyInGate, measureOperations, mostOf } from '../test/costs/walk.ts'
import { table } from './report.ts'

const given = process.argv[process.argv.indexOf('--devices') + 1]
const isForPage = !process.argv.includes('--devices')
const many = isForPage ? manyInGate : Number(given)
const shown = (count: number) => count.toLocaleString('en')

const notes: string[] = []
/** The letter of a note, which stands below the table once. */
function letterOf(note: string): string {
  if (note === '') return ''
  if (!notes.includes(note)) notes.push(note)
  return `(${String.fromCharCode(97 + notes.indexOf(note))})`
}
const noted = (cost: Cost) =>
  cost.isOpen ?? cost.allowed?.because ?? (mostOf(cost) > boundOf(cost, many) ? 'It grows.' : '')
const changed = (cost: Cost) => Math.max(cost.small.dirtied, cost.large.dirtied, cost.analysed.dirtied)
const costs = await measureOperations(many, { precise: true })
const rows = costs
  .filter(({ small, large, analysed }) => small.read + large.read + analysed.read > 0)
  .map((cost) => [
    cost.name,
    shown(cost.small.read),
    shown(cost.large.read),
    shown(cost.analysed.read),
    shown(changed(cost)),
    letterOf(noted(cost)),
  ])
const headings = [
  'operation',
  `${shown(few)} devices`,
  `${shown(many)} without statistics`,
  'with statistics',
  'dirtied',
  'note',
]
const footnotes = notes.map((note) => `${letterOf(note)} ${note.replace(/\d{4,}/g, (digits) => shown(Number(digits)))}`)
const page = `# What an operation reads

Written by \`bun bench/operation-costs.ts\`; don’t edit it. Blocks of 8 kB that each operation reads and dirties on PostgreSQL 15, with
${shown(few)} devices in an application and with ${shown(many)}. [Performance](../performance.md#what-an-operation-reads) says how they
are counted. Operations that don’t use the database are left out.

${table(headings, rows)}

${footnotes.join('  \n')}
`
if (isForPage) writeFileSync(join(import.meta.dirname, '../docs/performance/operations.md'), page)
else process.stdout.write(page)
process.exit(0)
