// Creates per second and what they cost: Forecourt, a baseline and a floor, side by side in one run on one database.
import { spawnSync } from 'node:child_process'
import { type Figure, measure, medianFigure, requireEvents, rotated } from './measure.ts'
import { measureMemory } from './memory.ts'
import { measureOneConnection } from './one-connection.ts'
import { type Bench, runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress, totalMicros } from './report.ts'
import { type Server, startBaseline, startEcho, startForecourt } from './servers.ts'

/** The least that a row costs the database and the driver when it shares its transaction with many. */
const floorRowMicros = 15

await runBench(async (bench) => {
  const { cluster, options, keep } = bench
  const echo = await keep(startEcho('Echo on Bun'))
  const baseline = await keep(startBaseline('Baseline: Fastify and pg', await cluster.createDatabase('baseline')))
  const prepared = await keep(
    startBaseline('Baseline, statements prepared', await cluster.createDatabase('prepared'), 'prepared'),
  )
  const onBun = await keep(startForecourt('Forecourt on Bun', 'bun', await cluster.createDatabase('bun')))
  const onNode = build()
    ? [await keep(startForecourt('Forecourt on Node', 'node', await cluster.createDatabase('node')))]
    : []
  const against = options.against
  const elsewhere =
    against === undefined
      ? []
      : [await keep(startForecourt(`Bun, ${against}`, 'bun', await cluster.createDatabase('elsewhere'), {}, against))]
  const creators = [baseline, prepared, onBun, ...elsewhere, ...onNode]

  const figures = await measureInRounds(bench, [echo, ...creators])
  for (const server of creators) await requireEvents(server)
  const oneConnection = await measureOneConnection(bench, onBun)
  // Fresh ones, whose figures hold nothing of the rounds before.
  const forMemory = [await keep(startForecourt(onBun.name, 'bun', await cluster.createDatabase('memory_bun')))]
  if (onNode.length > 0) {
    forMemory.push(await keep(startForecourt('Forecourt on Node', 'node', await cluster.createDatabase('memory_node'))))
  }
  const memory = await measureMemory(forMemory, options)

  const floorMicros = (figures.get(echo)?.serverMicros ?? Number.NaN) + floorRowMicros
  const baselineRate = figures.get(baseline)?.perSecond ?? Number.NaN
  const rows = [...figures].map(([server, figure]) => {
    if (server === echo) return [...figureRow(server.name, figure), '', '']
    const timesBaseline = (figure.perSecond / baselineRate).toFixed(1)
    return [
      ...figureRow(server.name, figure),
      `${timesBaseline} ×`,
      `${(totalMicros(figure) / floorMicros).toFixed(2)} ×`,
    ]
  })
  const floor = `The floor is the echo and ${floorRowMicros} µs a row: ${floorMicros.toFixed(1)} µs.`
  const main = table([...figureHeadings, 'rate of baseline', 'CPU of floor'], rows)
  process.stdout.write(`${[main, floor, oneConnection, memory].join('\n\n')}\n`)
})

async function measureInRounds({ cluster, options }: Bench, servers: Server[]): Promise<Map<Server, Figure>> {
  const figures = new Map<Server, Figure[]>(servers.map((server) => [server, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const server of rotated(servers, round)) {
      // What others have left to be written is not this one's to pay for.
      await cluster.admin`checkpoint`
      const figure = await measure(cluster, server, options)
      figures.get(server)?.push(figure)
      tellProgress(round, server.name, showFigure(figure))
    }
  }
  return new Map(servers.map((server) => [server, medianFigure(figures.get(server) ?? [])]))
}

/** Compiles the source for Node. Says so when that fails: the other figures are still worth having. */
function build(): boolean {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { encoding: 'utf8' })
  if (status !== 0)
    process.stderr.write(`Without Forecourt on Node, because "npm run build" fails:\n${stdout}${stderr}\n`)
  return status === 0
}
