// How many callbacks a second one process delivers, what one costs, and what creates lose while very many are drained.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SecretBox } from '../src/secrets/box.ts'
import type { Cluster } from './cluster.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { type LoadResult, load } from './load.ts'
import { median, medianFigure, rotated } from './measure.ts'
import { type Bench, runBench } from './program.ts'
import { showFigure, table, tellProgress } from './report.ts'
import { type Registry, startForecourt, startReceiver } from './servers.ts'

const receiverDelayMs = 5
const drained = 100_000
const drainedApplications = 100
const warmUpSeconds = 2

/** The key that the callbacks' secrets are sealed with. */
const key = randomBytes(32)
const keyFolder = mkdtempSync(join(tmpdir(), 'forecourt-bench-key-'))
const keyFile = join(keyFolder, 'secrets.key')
writeFileSync(keyFile, key.toString('base64'))
process.once('exit', () => rmSync(keyFolder, { recursive: true, force: true }))

const drainHeadings = [`receiver of ${receiverDelayMs} ms`, 'callbacks/s', 'server µs', 'database µs', 'receiver µs']

interface DrainFigure {
  perSecond: number
  serverMicros: number
  databaseMicros: number
  receiverMicros: number
}

await runBench(async (bench) => {
  const { cluster, keep } = bench
  const receiver = await keep(startReceiver(receiverDelayMs))
  const env = { FORECOURT_PRIVATE_CALLBACKS: 'allow', FORECOURT_SECRETS_KEY_FILE: keyFile }
  const start = async (name: string) => keep(startForecourt(name, 'bun', await cluster.createDatabase(name), env))
  const [alone, beside] = [await start('alone'), await start('beside')]
  const drains = [
    { applications: 1, events: 1_000 },
    { applications: drainedApplications, events: drained },
  ]
  const rows: string[][] = []
  for (const { applications, events } of drains) {
    const endpoints = await makeEndpoints(beside, applications, receiver.url)
    const figure = await measureDrain(cluster, beside, endpoints, events, receiver.pid)
    rows.push([`${applications} side by side`, ...showDrain(figure)])
  }
  process.stdout.write(`${table(drainHeadings, rows)}\n\n`)
  process.stdout.write(`${await measureCreates(bench, alone, beside, receiver.url)}\n`)
})

function showDrain({ perSecond, serverMicros, databaseMicros, receiverMicros }: DrainFigure): string[] {
  return [
    Math.round(perSecond).toLocaleString('en'),
    ...[serverMicros, databaseMicros, receiverMicros].map((micros) => micros.toFixed(1)),
  ]
}

/** Applications with a callback, which is held back for now. */
async function makeEndpoints({ database: { sql } }: Registry, count: number, url: string): Promise<string[]> {
  const rows = await sql`
    with made as (
      insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
      select 'drain' || gen_random_uuid(), 'drain', '', 7200, now() from generate_series(1, ${count}::int)
      returning app_id
    ), heads as (
      insert into event_head (app_id) select app_id from made
    )
    insert into application_lock (app_id) select app_id from made returning app_id`
  const appIds = rows.map((row) => row.app_id as string)
  const box = new SecretBox([key])
  const secrets = appIds.map((appId) => ({ app_id: appId, secret: box.seal(appId, `whsec_${'A'.repeat(43)}=`) }))
  await sql`
    insert into third_party_config (app_id, operator_name, callback_url, callback_events, callback_secret, updated_at)
    select app_id, 'Operator', ${url}, '{device.bound}', secret, now()
    from json_to_recordset(${JSON.stringify(secrets)}::text::json) as s (app_id text, secret text)`
  return appIds
}

/** Writes events of creates for these applications in turn, without a sender. */
async function fill({ database: { sql } }: Registry, appIds: string[], events: number): Promise<void> {
  await sql`delete from callback_endpoint`
  await sql`truncate delivery`
  const [{ next = 0 } = {}] = await sql`select max(last_event_id) as next from event_head`
  const [record] = await sql`select data from event where type = 'device.bound' limit 1`
  await sql`
    insert into callback_endpoint (app_id, through_event_id, held_until)
    select app_id, (select max(last_event_id) from event_head), 'infinity'
    from json_array_elements_text(${JSON.stringify(appIds)}::text::json) as app_id`
  await sql`
    insert into event (app_id, id, type, time, actor, subject, data)
    select (${JSON.stringify(appIds)}::text::json) ->> (n % ${appIds.length}::int), ${next}::bigint + n, 'device.bound', now(), 'bench',
      'SN-' || n, ${record?.data ?? JSON.stringify({ text: 'x'.repeat(700) })}
    from generate_series(1, ${events}::int) as n`
  await sql`update event_head set last_event_id = ${next}::bigint + ${events}::int`
  await sql`vacuum analyze event`
}

async function release({ database: { sql } }: Registry): Promise<void> {
  await sql`update callback_endpoint set held_until = '-infinity', due_at = '-infinity'`
}

async function countDelivered({ database: { sql } }: Registry): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from delivery where status = 2`
  return row?.count ?? 0
}

async function measureDrain(
  cluster: Cluster,
  server: Registry,
  appIds: string[],
  events: number,
  receiverPid: number,
): Promise<DrainFigure> {
  const cpu = () => [processCpu(server.pid), databaseCpu(cluster.pid), processCpu(receiverPid)]
  const run = async (count: number) => {
    await fill(server, appIds, count)
    const before = cpu()
    const startedAt = performance.now()
    await release(server)
    while ((await countDelivered(server)) < count) await Bun.sleep(50)
    const seconds = (performance.now() - startedAt) / 1000
    const [serverMicros, databaseMicros, receiverMicros] = cpu().map((after, at) => (after - (before[at] ?? 0)) / count)
    return { perSecond: count / seconds, serverMicros, databaseMicros, receiverMicros } as DrainFigure
  }
  // A first run warms up, so that this does not count for the measured one.
  await run(Math.ceil(events / 5))
  return run(events)
}

/** The result of a load of creates, with the processor time of server and database per create. */
type CreateFigure = Pick<LoadResult, 'p50Ms' | 'p99Ms'> &
  Record<'perSecond' | 'serverMicros' | 'databaseMicros', number>

/** The rate of creates on a server that sends no callbacks and on one that sends as many as it may, in turns. */
async function measureCreates(
  { cluster, options }: Bench,
  alone: Registry,
  beside: Registry,
  receiverUrl: string,
): Promise<string> {
  const figures = { alone: [] as CreateFigure[], beside: [] as CreateFigure[] }
  const callbacks: number[] = []
  const appIds = new Map<Registry, string[]>()
  for (const server of [alone, beside]) {
    appIds.set(server, await makeEndpoints(server, drainedApplications, receiverUrl))
  }
  /** The load, after the same events have been written on both servers; only one of them sends them. */
  const create = async (server: Registry, isSending: boolean): Promise<CreateFigure> => {
    await fill(server, appIds.get(server) ?? [], drained)
    await cluster.admin`checkpoint`
    if (isSending) await release(server)
    // Runs the load until callbacks and creates together have a steady rate.
    await load(server, { ...options, seconds: warmUpSeconds })
    const cpu = () => [processCpu(server.pid), databaseCpu(cluster.pid)] as const
    const [before, deliveredBefore, startedAt] = [cpu(), await countDelivered(server), performance.now()]
    const { requests, seconds, p50Ms, p99Ms } = await load(server, options)
    const after = cpu()
    const delivered = await countDelivered(server)
    if (delivered >= drained) throw new Error('This is not a result: the drain ended before the creates.')
    if (isSending) callbacks.push(((delivered - deliveredBefore) * 1000) / (performance.now() - startedAt))
    await server.database.sql`delete from callback_endpoint`
    await Bun.sleep(1_000)
    const [serverMicros, databaseMicros] = [(after[0] - before[0]) / requests, (after[1] - before[1]) / requests]
    return { perSecond: requests / seconds, p50Ms, p99Ms, serverMicros, databaseMicros }
  }
  const runAlone = async () => figures.alone.push(await create(alone, false))
  const runBeside = async () => figures.beside.push(await create(beside, true))
  for (let round = 0; round < options.rounds; round++) {
    for (const run of rotated([runAlone, runBeside], round)) await run()
    tellProgress(round, 'alone', showFigure(figures.alone[round] as CreateFigure))
    const rate = `${callbacks[round]?.toFixed(0)} callbacks/s`
    tellProgress(round, 'beside callbacks', `${showFigure(figures.beside[round] as CreateFigure)}, ${rate}`)
  }
  const [without, within] = [medianFigure(figures.alone), medianFigure(figures.beside)]
  const rows = [
    ['callbacks that nobody sends', ...showCreates(without), ''],
    [
      `${drained.toLocaleString('en')} callbacks being sent`,
      ...showCreates(within),
      Math.round(median(callbacks)).toLocaleString('en'),
    ],
  ]
  const headings = ['creates beside', 'creates/s', 'p50 ms', 'p99 ms', 'server µs', 'database µs', 'callbacks/s']
  const kept = (within.perSecond / without.perSecond).toFixed(2)
  return `${table(headings, rows)}\n\nCreates keep ${kept} of their rate.`
}

function showCreates({ perSecond, p50Ms, p99Ms, serverMicros, databaseMicros }: CreateFigure): string[] {
  return [
    Math.round(perSecond).toLocaleString('en'),
    ...[p50Ms, p99Ms, serverMicros, databaseMicros].map((value) => value.toFixed(1)),
  ]
}
