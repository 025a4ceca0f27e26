// How many blocks every operation reads with few rows and with many: the table of docs/performance.md.
//
//   bun bench/operation-costs.ts [--devices 30000]
import { boundOf, type Cost, few, manyInGate, measureOperations, mostOf } from '../test/costs/walk.ts'
import { table } from './report.ts'

const given = process.argv[process.argv.indexOf('--devices') + 1]
const many = process.argv.includes('--devices') ? Number(given) : manyInGate

const noted = (cost: Cost) =>
  cost.isOpen ?? cost.allowed?.because ?? (mostOf(cost) > boundOf(cost, many) ? 'grows' : '')
const changed = (cost: Cost) => Math.max(cost.small.dirtied, cost.large.dirtied, cost.analysed.dirtied)
const costs = await measureOperations(many, { precise: true })
const shown = (count: number) => count.toLocaleString('en')
const rows = costs
  .filter(({ small, large, analysed }) => small.read + large.read + analysed.read > 0)
  .map((cost) => [
    cost.name,
    shown(cost.small.read),
    shown(cost.large.read),
    shown(cost.analysed.read),
    shown(changed(cost)),
    noted(cost),
  ])
const headings = [
  'operation',
  `${shown(few)} devices`,
  `${shown(many)} without statistics`,
  'with statistics',
  'dirtied',
  'why more',
]
process.stdout.write(`${table(headings, rows)}\n`)
process.exit(0)
