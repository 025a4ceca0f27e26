// Creates per second and what they cost: Forecourt, a baseline and a floor, side by side in one run on one database.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, measure, medianFigure, requireEvents, rotated } from './measure.ts'
import { measureMemory } from './memory.ts'
import { measureOneConnection } from './one-connection.ts'
import { type Bench, runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress, totalMicros } from './report.ts'
import { baselines, type Server, startBaseline, startEcho, startForecourt } from './servers.ts'

/** The least that a row costs the database and the driver when it shares its transaction with many. */
const floorRowMicros = 15

await runBench(async (bench) => {
  const { cluster, options, keep } = bench
  const echo = await keep(startEcho('Echo on Bun'))
  const startAs = async (name: string, database: string, args: string[]) =>
    keep(startBaseline(name, await cluster.createDatabase(database), args))
  const usual = buildUsual() ? [await startAs('NestJS and TypeORM', 'usual', baselines.nest)] : []
  const plain = await startAs('Fastify and pg', 'plain', baselines.plain)
  const prepared = await startAs('the same, statements prepared', 'prepared', baselines.prepared)
  const onBun = await keep(startForecourt('Forecourt on Bun', 'bun', await cluster.createDatabase('bun')))
  const onNode = build()
    ? [await keep(startForecourt('Forecourt on Node', 'node', await cluster.createDatabase('node')))]
    : []
  const creators = [...usual, plain, prepared, onBun, ...onNode]

  const figures = await measureInRounds(bench, [echo, ...creators])
  for (const server of creators) await requireEvents(server)
  const oneConnection = await measureOneConnection(bench, onBun)
  // New servers, whose memory holds nothing of the rounds before.
  const forMemory = [await keep(startForecourt(onBun.name, 'bun', await cluster.createDatabase('memory_bun')))]
  if (onNode.length > 0) {
    forMemory.push(await keep(startForecourt('Forecourt on Node', 'node', await cluster.createDatabase('memory_node'))))
  }
  const memory = await measureMemory(forMemory, options)

  const floorMicros = (figures.get(echo)?.serverMicros ?? Number.NaN) + floorRowMicros
  const baselineRate = figures.get(prepared)?.perSecond ?? Number.NaN
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
  const main = table([...figureHeadings, 'rate of prepared', 'CPU of floor'], rows)
  process.stdout.write(`${[main, floor, oneConnection, memory].join('\n\n')}\n`)
})

async function measureInRounds({ cluster, options }: Bench, servers: Server[]): Promise<Map<Server, Figure>> {
  const figures = new Map<Server, Figure[]>(servers.map((server) => [server, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const server of rotated(servers, round)) {
      // A checkpoint, so that no server pays for pages that another one left to be written.
      await cluster.admin`checkpoint`
      const figure = await measure(cluster, server, options)
      figures.get(server)?.push(figure)
      tellProgress(round, server.name, showFigure(figure))
    }
  }
  return new Map(servers.map((server) => [server, medianFigure(figures.get(server) ?? [])]))
}

/** Compiles the source for Node. */
function build(): boolean {
  return succeeds('Forecourt on Node', 'npm', ['run', '--silent', 'build'])
}

/** Compiles what people write with the usual tools, which are installed by `npm ci --prefix bench/nest`. */
function buildUsual(): boolean {
  const folder = join(import.meta.dirname, 'nest')
  return existsSync(join(folder, 'node_modules'))
    ? succeeds('NestJS and TypeORM', join(import.meta.dirname, '..', 'node_modules', '.bin', 'tsc'), ['-p', folder])
    : tell('Without NestJS and TypeORM: "npm ci --prefix bench/nest" installs them.')
}

/** Reports when the command fails; the other figures are still useful. */
function succeeds(what: string, command: string, args: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 || tell(`Without ${what}, because "${command} ${args.join(' ')}" fails:\n${stdout}${stderr}`)
}

function tell(text: string): false {
  process.stderr.write(`${text}\n`)
  return false
}
