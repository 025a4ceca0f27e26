// State reports a second and what one costs, by how many of them change anything, with creates in the same run.
import { type Figure, measure, medianFigure, requireEvents, rotated } from './measure.ts'
import { type Bench, runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress } from './report.ts'
import { reportsOf } from './reports.ts'
import { startForecourt } from './servers.ts'

const kinds = [
  { name: 'reports, all changed', changedPercent: 100 },
  { name: 'reports, 10 % changed', changedPercent: 10 },
  { name: 'reports, none changed', changedPercent: 0 },
]

await runBench(async ({ cluster, options, keep }: Bench) => {
  const server = await keep(startForecourt('Forecourt on Bun', 'bun', await cluster.createDatabase('states')))
  const works = await Promise.all(kinds.map(({ changedPercent }) => reportsOf(server, changedPercent)))
  await cluster.admin`checkpoint`

  const figures = new Map<string, Figure[]>()
  const measurements = [
    { name: 'creates', run: () => measure(cluster, server, options) },
    ...kinds.map(({ name }, at) => ({ name, run: () => measure(cluster, server, options, works[at]) })),
  ]
  for (let round = 0; round < options.rounds; round++) {
    for (const { name, run } of rotated(measurements, round)) {
      await cluster.admin`checkpoint`
      const figure = await run()
      figures.set(name, [...(figures.get(name) ?? []), figure])
      tellProgress(round, name, showFigure(figure))
    }
  }
  await requireEvents(server)

  const rows = measurements.map(({ name }) => figureRow(name, medianFigure(figures.get(name) ?? [])))
  process.stdout.write(`${table(['Forecourt on Bun', ...figureHeadings.slice(1)], rows)}\n`)
})
