// What history costs: the same work on an empty database and with millions of events, and pruning and backups.
//
//   bun bench/history.ts [--events 600000,10000000,50000000] [--compression pglz]
//
// A fifth of the events made a device, the others changed its state. One application has 120,000 devices and so 600,000
// events at every size. 10 million events need some 6 GB of disk, which is given back at the end.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installHistoryKeeping } from '../src/events/history/store.ts'
import { Client } from '../test/kit/client.ts'
import { deviceBody, newApplication, type TestApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import type { Cluster, Database } from './cluster.ts'
import { measureCommand } from './command.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { fillFleet } from './fleet.ts'
import { fillHistory } from './history-fill.ts'
import { creates, load } from './load.ts'
import { type Figure, measure, medianFigure, rotated } from './measure.ts'
import { filterQuestions, type Question } from './page-questions.ts'
import { type Bench, runBench } from './program.ts'
import { showFigure, table, tellProgress, totalMicros } from './report.ts'
import { reportsOf } from './reports.ts'
import { type Registry, type Service, startForecourt } from './servers.ts'
import { timeRequests } from './timing.ts'

const eventsEach = 5
/** Devices of the application whose feed and pages are read. */
const largest = 120_000
/** Long enough that no device becomes offline during the measurement. */
const env = { FORECOURT_PRESENCE_SECONDS: '86400' }
/** Pruning keeps the changes of state of the last ten of thirty days. */
const prunedTo = { eventDays: 400, stateEventDays: 10 }

/** The printed figures of one size, by their names. */
type Column = Map<string, string>

await runBench(async (bench) => {
  const { cluster, options, keep } = bench
  const empty = await keep(startForecourt('empty', 'bun', await cluster.createDatabase('empty'), env))
  const shared = await keep(startForecourt('empty, shared', 'bun', await cluster.createDatabase('shared'), env))
  await addLaterApplication(shared)
  const baselines = { empty: await loadsOf(empty), shared: { name: 'creates', server: shared, work: undefined } }
  const columns: Column[] = []
  for (const events of options.events) columns.push(await measureSize(bench, events, baselines))
  const heads = options.events.map((events) => `${events.toLocaleString('en')} events`)
  const rows = [...(columns[0]?.keys() ?? [])].map((what) => [what, ...columns.map((column) => column.get(what) ?? '')])
  process.stdout.write(`${table(['', ...heads], rows)}\n`)
})

/** The loads of one server: each by its name, and what it is compared with. */
async function loadsOf(server: Registry) {
  const [changed, unchanged] = [await reportsOf(server, 100), await reportsOf(server, 0)]
  return [
    { name: 'creates', server, work: undefined },
    { name: 'reports, all changed', server, work: changed },
    { name: 'reports, none changed', server, work: unchanged },
    { name: 'creates, consecutive serials', server, work: creates(server, 'counted') },
  ]
}
type Load = Awaited<ReturnType<typeof loadsOf>>[number]

interface Baselines {
  empty: Load[]
  /** Creates of an application that is not the last one of its indexes. */
  shared: Load
}

/**
 * Adds an application with devices whose rows come after the server's own in every index. The entries of the last
 * application are cheaper: PostgreSQL finds their page without a search, and fills it before it begins another one.
 */
async function addLaterApplication({ client, appId }: Service): Promise<void> {
  let later = await newApplication(client)
  while (later.appId < appId) later = await newApplication(client)
  const devices = Array.from({ length: 1000 }, () => deviceBody(later.appId))
  const { code, text } = await client.call('createDevices', { appId: later.appId, devices }, { token: later.token })
  if (code !== 0) throw new Error(text)
}

async function measureSize(bench: Bench, events: number, baselines: Baselines): Promise<Column> {
  const { cluster, keep } = bench
  const devices = events / eventsEach
  const database = await cluster.createDatabase(`history_${events}`)
  const first = await keep(startService({ env: { DATABASE_URL: database.url, ...env } }))
  const large = await newApplication(new Client(first))
  await first.stop()
  const began = performance.now()
  await fillFleet(database.sql, { devices, largest: Math.min(largest, devices) }, large.appId, large.appId)
  await fillHistory(database, eventsEach - 1)
  const column: Column = new Map()
  const tell = (what: string, figure: string) => {
    column.set(what, figure)
    process.stderr.write(`${events.toLocaleString('en')} events: ${what}: ${figure}\n`)
  }
  tell('filled in, s', ((performance.now() - began) / 1000).toFixed(0))
  await tellSizes(database, devices, tell)

  await measureReads(bench, database, large, tell)
  await measureLoads(bench, database, baselines, tell)
  await measureCompression(bench, database, tell)
  await measureBackup(cluster, database, tell)
  await measurePruning(bench, database, tell)
  await database.drop()
  return column
}

type Tell = (what: string, figure: string) => void

/** Prints the bytes on the disk for each row. Partitions count with their indexes. */
async function tellSizes({ sql }: Database, devices: number, tell: Tell): Promise<void> {
  const [size] = await sql<[Record<string, number>]>`
    with tree as (select parent, sum(pg_total_relation_size(relid))::float8 as bytes
      from (values ('event'), ('state_change')) as t (parent), pg_partition_tree(parent) group by parent),
    counted as (select (select count(*)::float8 from event) as events, (select count(*)::float8 from state_change) as changes)
    select pg_database_size(current_database())::float8 as database, pg_table_size('device')::float8 as device,
      pg_relation_size('device_by_age')::float8 as by_age, pg_total_relation_size('device_binding')::float8 as binding,
      pg_total_relation_size('device_presence')::float8 as presence, events, changes,
      (select bytes from tree where parent = 'event') as event,
      (select bytes from tree where parent = 'state_change') as change
    from counted`
  const by = (bytes: number | undefined, rows: number | undefined) => ((bytes ?? 0) / (rows || 1)).toFixed(0)
  tell('database, GB', ((size.database ?? 0) / 1e9).toFixed(1))
  const parts = [size.device, size.by_age, size.binding, size.presence].map((bytes) => by(bytes, devices))
  tell('bytes a device: row + `device_by_age` + binding + presence', parts.join(' + '))
  tell(
    'bytes an event of a creation, a change of state',
    `${by(size.event, size.events)}, ${by(size.change, size.changes)}`,
  )
}

/** Reads of the application that is the same at every size: its feed, and its pages. */
async function measureReads(
  { cluster, keep }: Bench,
  database: Database,
  large: TestApplication,
  tell: Tell,
): Promise<void> {
  const service = await keep(startService({ env: { DATABASE_URL: database.url, ...env } }))
  const client = new Client(service)
  const cpu = () => processCpu(service.process.pid as number) + databaseCpu(cluster.pid)
  const serials = await database.sql<{ device_no: string }[]>`
    select device_no from device where app_id = ${large.appId} order by hashtext(device_no) limit 100`
  const feed: Question[] = [
    { what: 'newest', queries: [{ order: 'desc' }, { order: 'desc', pageSize: 100 }] },
    { what: 'by type', queries: [{ type: 'device.bound', order: 'desc' }, { type: 'device.stateChanged' }] },
    { what: 'of one device', queries: serials.map(({ device_no: deviceNo }) => ({ deviceNo })) },
  ]
  const pages = filterQuestions.filter(({ what }) => ['nothing', 'district, some', 'name, few'].includes(what))
  const { token } = large
  const asks = {
    feed: { questions: feed, ask: (query: object) => client.call('pageEvents', query, { token }) },
    devices: { questions: pages, ask: (query: object) => client.call('pageDevices', query, { token }) },
  }
  for (const [kind, { questions, ask }] of Object.entries(asks)) {
    for (const { what, queries } of questions) {
      const { p50, p99 } = await timeRequests(queries, cpu, async (query) => {
        const { code, text } = await ask(query)
        if (code !== 0) throw new Error(text)
      })
      tell(`${kind}, ${what}: p50 and p99, ms`, `${p50.toFixed(1)}, ${p99.toFixed(1)}`)
    }
  }
  await service.stop()
}

/** A load that failed because the machine was busy is tried again. */
function run({ cluster, options }: Bench, { server, work }: Load): Promise<Figure> {
  return measure(cluster, server, options, work).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`)
    return measure(cluster, server, options, work)
  })
}

function kilobytes({ walBytes }: Figure): string {
  return (walBytes / 1000).toFixed(1)
}

/** Creates and reports, in the same rounds as on the empty database. */
async function measureLoads(
  bench: Bench,
  database: Database,
  { empty: emptyLoads, shared }: Baselines,
  tell: Tell,
): Promise<void> {
  const { cluster, options, keep } = bench
  const full = await keep(startForecourt('full', 'bun', database, env))
  const own = await loadsOf(full)
  const loads = [...emptyLoads, shared, ...own]

  // The first writes after a checkpoint put whole pages into the write-ahead log; the writes of later rounds put in
  // less.
  const fresh: string[] = []
  for (const load of [emptyLoads[0], own[0]] as Load[]) {
    await cluster.admin`checkpoint`
    fresh.push(kilobytes(await run(bench, load)))
  }
  tell('log of a create after a checkpoint, kB: empty, full', fresh.join(', '))

  const figures = new Map<Load, Figure[]>(loads.map((load) => [load, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const load of rotated(loads, round)) {
      const figure = await run(bench, load)
      figures.get(load)?.push(figure)
      tellProgress(round, `${load.server.name}, ${load.name}`, showFigure(figure))
    }
  }
  const medianOf = (load: Load | undefined) => medianFigure(figures.get(load as Load) ?? [])
  // Each round is compared with itself, because the other load on the machine differs from round to round.
  const rate = (load: Load | undefined, other: Load | undefined) => ratio(figures, load, other, (one) => one.perSecond)
  const cost = (load: Load | undefined, other: Load | undefined) => ratio(figures, load, other, totalMicros)
  const [scattered, changed, unchanged, counted] = own
  tell('creates/s', Math.round(medianOf(scattered).perSecond).toLocaleString('en'))
  const of = (of: Load | undefined, than: Load | undefined) =>
    `${rate(of, than)} × (${cost(of, than)} × the processor time)`
  tell('creates against empty', of(scattered, emptyLoads[0]))
  tell('creates against empty, of two applications', of(scattered, shared))
  tell('creates of consecutive serials against empty', of(counted, emptyLoads[3]))
  const perRound = (load: Load | undefined) => (figures.get(load as Load) ?? []).map(kilobytes).join(' ')
  tell('log of a create in each round, kB: empty', perRound(emptyLoads[0]))
  tell('the same, full', perRound(scattered))
  tell('reports that change nothing against creates', of(unchanged, scattered))
  tell('reports that all change against creates', of(changed, scattered))
  tell('the same on the empty database', `${of(emptyLoads[2], emptyLoads[0])}; ${of(emptyLoads[1], emptyLoads[0])}`)
  tell(
    'idle, %: creates, none changed, all changed',
    [scattered, unchanged, changed].map((load) => medianOf(load).idlePercent.toFixed(0)).join(', '),
  )
  await full.stop()
}

/**
 * Creates after a checkpoint, without and with compressed pages in the log. The setting is the database's and holds for new
 * connections only, so each measurement has a server of its own.
 */
async function measureCompression(bench: Bench, database: Database, tell: Tell): Promise<void> {
  const { cluster, options, keep } = bench
  const { admin } = cluster
  const settings = ['off', options.compression]
  const figures = new Map<string, Figure[]>(settings.map((setting) => [setting, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const setting of rotated(settings, round)) {
      await admin`alter database ${admin(database.name)} set wal_compression = ${admin.unsafe(setting)}`
      const server = await keep(startForecourt(`compression ${setting}`, 'bun', database, env))
      await admin`checkpoint`
      const figure = await run(bench, { name: 'creates', server, work: undefined })
      await server.stop()
      figures.get(setting)?.push(figure)
      tellProgress(round, server.name, showFigure(figure))
    }
  }
  await admin`alter database ${admin(database.name)} reset wal_compression`
  const [plain, squeezed] = settings
  tell(
    `creates after a checkpoint, ${options.compression} against none`,
    `${ratio(figures, squeezed, plain, (one) => one.perSecond)} × (${ratio(figures, squeezed, plain, totalMicros)} × the processor time)`,
  )
  const logs = settings.map((setting) => kilobytes(medianFigure(figures.get(setting) ?? [])))
  tell(`their log, kB: none, ${options.compression}`, logs.join(', '))
}

/** The median of the ratios of each round. */
function ratio<Key>(
  figures: Map<Key, Figure[]>,
  load: Key | undefined,
  other: Key | undefined,
  read: (figure: Figure) => number,
): string {
  const others = figures.get(other as Key) ?? []
  const ratios = (figures.get(load as Key) ?? []).map((figure, round) => read(figure) / read(others[round] as Figure))
  return medianFigure(ratios.map((perSecond) => ({ perSecond }))).perSecond.toFixed(2)
}

async function measureBackup({ pid, admin }: Cluster, { url }: Database, tell: Tell): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'))
  try {
    await admin`checkpoint`
    const file = join(folder, 'backup')
    const { seconds } = await measureCommand('bun', ['backup', file], url, pid)
    tell('backup: s, MB', `${seconds.toFixed(0)}, ${(statSync(file).size / 1e6).toFixed(0)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Drops two thirds of the changes of state, by the function that upkeep calls, while devices are created. */
async function measurePruning({ options, keep }: Bench, database: Database, tell: Tell): Promise<void> {
  const { sql } = database
  const service = await keep(startForecourt('pruned', 'bun', database, env))
  const now = async () => {
    const [row] = await sql<[{ bytes: number; partitions: number }]>`
      select pg_database_size(current_database())::float8 as bytes, (select count(*)::int from history_partition) as partitions`
    return row
  }
  const before = await now()
  const beside = load(service, options)
  await Bun.sleep(500)
  const began = performance.now()
  await installHistoryKeeping(sql, prunedTo)
  const milliseconds = performance.now() - began
  const after = await now()
  const { p99Ms } = await beside
  await service.stop()
  const gigabytes = ((before.bytes - after.bytes) / 1e9).toFixed(1)
  tell(
    'pruned: partitions, GB, ms',
    `${before.partitions - after.partitions}, ${gigabytes}, ${milliseconds.toFixed(0)}`,
  )
  tell('creates beside it: p99, ms', p99Ms.toFixed(0))
}
