import { availableParallelism } from 'node:os'
import { stateType } from '../src/events/history/store.ts'
import type { EventType } from '../src/vocabulary/event-types.ts'
import type { Cluster } from './cluster.ts'
import { databaseCpu, idleCpu, processCpu } from './cpu.ts'
import { creates, type LoadOptions, load, type Work } from './load.ts'
import type { Registry, Server } from './servers.ts'

/** One measurement, or the median of several. Microseconds are processor time for one request. */
export interface Figure {
  perSecond: number
  p50Ms: number
  p99Ms: number
  serverMicros: number
  databaseMicros: number
  loadMicros: number
  /** How much of all processors had nothing to do while the load lasted. */
  idlePercent: number
  /** Bytes of the database's log of changes for one request. */
  walBytes: number
}

const warmUpSeconds = 2
/** The processor time that an idle server may use in 200 ms for its own upkeep. */
const quietMicros = 10_000

/** Loads a server and returns the cost. Changes are counted in the database, not by responses. */
export async function measure(
  cluster: Cluster,
  server: Server,
  options: LoadOptions,
  work = creates(server, options.serials),
): Promise<Figure> {
  await load(server, { ...options, seconds: warmUpSeconds }, work)
  await becomesQuiet(server)
  const cpu = () => ({ server: processCpu(server.pid), database: databaseCpu(cluster.pid) })
  const eventsBefore = await countEvents(server, work.event)
  const before = cpu()
  const walBefore = await walPosition(cluster)
  const idleBefore = idleCpu()
  const start = performance.now()
  const result = await load(server, options, work)
  const processorMicros = (performance.now() - start) * 1000 * availableParallelism()
  const idlePercent = (100 * (idleCpu() - idleBefore)) / processorMicros
  await becomesQuiet(server)
  const after = cpu()
  const walAfter = await walPosition(cluster)
  const events = await countEvents(server, work.event)
  const told = events === undefined ? result.requests : events - (eventsBefore ?? 0)
  if (events !== undefined) requireAllDurable(server, told, result.requests, options.connections, work)
  // Requests that were under way when the load ended were processed too; they are counted where their events show it.
  const requests = work.eventPercent === 100 ? told : result.requests
  return {
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serverMicros: (after.server - before.server) / requests,
    // The floor uses no database, so the database's own time does not count for it.
    databaseMicros: server.database === undefined ? 0 : (after.database - before.database) / requests,
    loadMicros: result.cpu / requests,
    idlePercent,
    walBytes: (walAfter - walBefore) / requests,
  }
}

/** How many bytes the cluster has ever written to its log of changes. */
async function walPosition({ admin }: Cluster): Promise<number> {
  const [row] = await admin<[{ bytes: number }]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`
  return row.bytes
}

/** Waits until the work is done that the load left under way when it hung up; it counts for the load. */
async function becomesQuiet(server: Server): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const before = processCpu(server.pid)
    await Bun.sleep(200)
    if (processCpu(server.pid) - before <= quietMicros && !(await hasStatements(server))) return
  }
  throw new Error(`${server.name} is still busy 20 seconds after its load has ended.`)
}

/** Whether the server waits for its database, which may take long without costing it anything. */
async function hasStatements({ database }: Server): Promise<boolean> {
  if (database === undefined) return false
  const rows = await database.sql`
    select from pg_stat_activity
    where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
      and backend_type = 'client backend'`
  return rows.length > 0
}

/** Counts the events of a server's application. The floor stores none. */
async function countEvents({ database, appId }: Server, type: EventType): Promise<number | undefined> {
  if (database === undefined) return undefined
  const { sql } = database
  const ofType = type === stateType ? sql`state_change where true` : sql`event where type = ${type}`
  const [row] = await sql<{ events: number }[]>`select count(*)::int as events from ${ofType} and app_id = ${appId}`
  return row?.events
}

/**
 * Requires an event for every response of the load. Requests that were under way when the load ended may have written
 * events as well.
 */
function requireAllDurable(
  server: Server,
  events: number,
  answers: number,
  connections: number,
  { event, eventPercent }: Work,
): void {
  const expected = (answers * eventPercent) / 100
  // If only some requests have an event, the last requests of each connection may have more or fewer than their share.
  const least = eventPercent === 100 ? expected : expected - connections
  if (events >= least && events <= expected + connections) return
  const words = `${server.name} answered ${answers} requests, but there are ${events} events ${event}`
  throw new Error(`This is not a result: ${words}.`)
}

/** Checks that every device has its event, so that no server is fast because it leaves one out. */
export async function requireEvents(server: Registry): Promise<void> {
  const { name, appId, database } = server
  const [row] = await database.sql`select count(*)::int as devices from device where app_id = ${appId}`
  const events = await countEvents(server, 'device.bound')
  if (row?.devices === events) return
  throw new Error(`This is not a result: ${name} has ${row?.devices} devices and ${events} events.`)
}

/** The median of a few numbers. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

/** The median of each member on its own. */
export function medianFigure<Some extends Partial<Figure>>(figures: Some[]): Some {
  const members = Object.keys(figures[0] ?? {}) as (keyof Figure)[]
  return Object.fromEntries(
    members.map((member) => [member, median(figures.map((figure) => figure[member] ?? Number.NaN))]),
  ) as unknown as Some
}

/**
 * The order of a round: each round begins with another item, so that a drift of the machine affects all items alike.
 */
export function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const start = round % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
