import { join } from 'node:path'
import type { Database } from './cluster.ts'
import type { DriverFigure } from './driver-loop.ts'
import { measure, medianFigure, rotated } from './measure.ts'
import type { Bench } from './program.ts'
import { showFigure, table, tellProgress } from './report.ts'
import type { Registry } from './servers.ts'

const forecourt = 'Forecourt, one connection'
const wholeLoop = 'driver: lock, check, device, event'
const insertLoop = 'driver: bare insert of the device'

/**
 * What group commit costs when there is nothing to group: one client of the service, compared with one connection of
 * the driver.
 */
export async function measureOneConnection({ cluster, options }: Bench, server: Registry): Promise<string> {
  const { rounds, seconds, serials } = options
  const runLoop = (kind: string) => runDriverLoop(server.database, [kind, seconds, serials, cluster.pid], seconds)
  const measurements: [string, () => Promise<DriverFigure>][] = [
    [forecourt, () => measure(cluster, server, { connections: 1, seconds, serials })],
    [wholeLoop, () => runLoop('whole')],
    [insertLoop, () => runLoop('insert')],
  ]
  const figures = new Map<string, DriverFigure[]>(measurements.map(([name]) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of rotated(measurements, round)) {
      const figure = await run()
      figures.get(name)?.push(figure)
      tellProgress(round, name, showFigure(figure))
    }
  }
  const medians = new Map([...figures].map(([name, several]) => [name, medianFigure(several)]))
  const rate = medians.get(forecourt)?.perSecond ?? Number.NaN
  const rows = [...medians].map(([name, { perSecond, p50Ms, serverMicros, databaseMicros }]) => [
    name,
    Math.round(perSecond).toLocaleString('en'),
    p50Ms.toFixed(2),
    serverMicros.toFixed(0),
    databaseMicros.toFixed(0),
    `${(rate / perSecond).toFixed(2)} ×`,
  ])
  return table(['one connection', 'creates/s', 'p50 ms', 'server or client µs', 'database µs', 'Forecourt is'], rows)
}

async function runDriverLoop(
  database: Database,
  parameters: (string | number)[],
  seconds: number,
): Promise<DriverFigure> {
  const loop = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dirname, 'driver-loop.ts'), ...parameters.map(String)],
    env: { ...process.env, ...database.env },
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: (seconds + 30) * 1000,
  })
  const output = await loop.stdout.text()
  if ((await loop.exited) !== 0) throw new Error(`The driver loop "${parameters[0]}" failed.`)
  return JSON.parse(output)
}
