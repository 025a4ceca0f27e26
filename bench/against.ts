// What a create and a report of state cost in this checkout and in another one, by turns.
import { type Figure, measure, medianFigure, requireEvents, rotated } from './measure.ts'
import { runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress, totalMicros } from './report.ts'
import { reportsOf } from './reports.ts'
import { type Registry, startForecourt } from './servers.ts'

const kinds = [
  { name: 'creates', work: () => undefined },
  { name: 'reports, all changed', work: (server: Registry) => reportsOf(server, 100) },
  { name: 'reports, none changed', work: (server: Registry) => reportsOf(server, 0) },
]

await runBench(async ({ cluster, options, keep }) => {
  const { against = '' } = options
  const start = async (name: string, database: string, folder?: string) =>
    keep(startForecourt(name, 'bun', await cluster.createDatabase(database), {}, folder))
  const servers = [await start('this checkout', 'this'), await start(against, 'other', against)]
  const rows: string[][] = []
  for (const { name, work } of kinds) {
    const works = await Promise.all(servers.map(work))
    const figures = servers.map((): Figure[] => [])
    for (let round = 0; round < options.rounds; round++) {
      for (const at of rotated([0, 1], round)) {
        const server = servers[at] as Registry
        // A checkpoint, so that no server pays for pages that another one left to be written.
        await cluster.admin`checkpoint`
        const figure = await measure(cluster, server, options, works[at])
        figures[at]?.push(figure)
        tellProgress(round, `${name}, ${server.name}`, showFigure(figure))
      }
    }
    const [own = [], other = []] = figures
    const ratios = own.map((figure, round) => totalMicros(figure) / totalMicros(other[round] as Figure))
    const ratio = ratios.toSorted((a, b) => a - b)[ratios.length >> 1] ?? Number.NaN
    for (const [at, of] of figures.entries()) {
      const told = at === 0 ? `${ratio.toFixed(2)} ×` : ''
      rows.push([...figureRow(`${name}, ${servers[at]?.name}`, medianFigure(of)), told])
    }
  }
  for (const server of servers) await requireEvents(server)
  process.stdout.write(`${table([...figureHeadings, 'processor time'], rows)}\n`)
})
