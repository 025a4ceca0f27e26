// Creates on databases that run already, side by side: what a server of one kind costs against another.
//
//   bun bench/databases.ts [--rounds 3] [--seconds 8] plain=postgres://… citus=postgres://…
import { cpus } from 'node:os'
import { Client } from '../test/kit/client.ts'
import { newApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import { load } from './load.ts'
import { median } from './measure.ts'
import { type Options, readOptions } from './options.ts'
import { table, tellProgress } from './report.ts'
import { createDevicePath, type Server } from './servers.ts'

/** The number of applications that create at once; a single one stays on one node, whatever the database is. */
const crowds = [1, 8]

interface Figure {
  perSecond: number
  p99Ms: number
  /** Processor time of the whole machine for a create: server, database, and the load itself. */
  micros: number
}

async function startOn(name: string, url: string): Promise<{ name: string; apps: Server[]; stop(): Promise<unknown> }> {
  const service = await startService({ env: { DATABASE_URL: url } })
  const client = new Client(service)
  const apps: Server[] = []
  for (let n = 0; n < Math.max(...crowds); n++) {
    const { appId, token } = await newApplication(client)
    const pid = service.process.pid as number
    apps.push({ name, pid, url: service.url + createDevicePath, appId, token, stop: async () => {} })
  }
  return { name, apps, stop: () => service.stop() }
}

async function measureCrowd(apps: Server[], { connections, seconds, serials }: Options): Promise<Figure> {
  const share = { connections: Math.ceil(connections / apps.length), seconds, serials }
  const all = (options: typeof share) => Promise.all(apps.map((app) => load(app, options)))
  await all({ ...share, seconds: 1 })
  const before = busyMicros()
  const results = await all(share)
  const micros = busyMicros() - before
  const sum = (of: (result: (typeof results)[number]) => number) => results.reduce((all, one) => all + of(one), 0)
  return {
    perSecond: sum(({ requests, seconds }) => requests / seconds),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    micros: micros / sum(({ requests }) => requests),
  }
}

function busyMicros(): number {
  return cpus().reduce((sum, { times }) => sum + (times.user + times.sys + times.nice + times.irq) * 1000, 0)
}

const options = readOptions()
const started = []
for (const named of options.others) {
  const at = named.indexOf('=')
  started.push(await startOn(named.slice(0, at), named.slice(at + 1)))
}
const rows: string[][] = []
for (const crowd of crowds) {
  const figures = started.map((): Figure[] => [])
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, { name, apps }] of started.entries()) {
      const figure = await measureCrowd(apps.slice(0, crowd), options)
      figures[index]?.push(figure)
      tellProgress(round, name, `${crowd} applications: ${Math.round(figure.perSecond)}/s`)
    }
  }
  const medians = figures.map((of) => ({
    perSecond: median(of.map(({ perSecond }) => perSecond)),
    p99Ms: median(of.map(({ p99Ms }) => p99Ms)),
    micros: median(of.map(({ micros }) => micros)),
  }))
  for (const [index, { perSecond, p99Ms, micros }] of medians.entries()) {
    const ratio = perSecond / (medians[0]?.perSecond ?? Number.NaN)
    const told = [
      Math.round(perSecond).toLocaleString('en'),
      p99Ms.toFixed(0),
      micros.toFixed(0),
      `${ratio.toFixed(2)} ×`,
    ]
    rows.push([started[index]?.name ?? '', String(crowd), ...told])
  }
}
const headings = ['database', 'applications', 'creates/s', 'p99 ms', 'machine µs', 'rate of the first']
process.stdout.write(`${table(headings, rows)}\n`)
for (const { stop } of started) await stop()
process.exit(0)
