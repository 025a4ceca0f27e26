import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'
import { goneWithin, postgresProcessesIn, signal } from '../../src/embedded/processes.ts'
import { Cluster, coordinatorUrl, type Node, startNode } from '../citus/cluster.ts'
import { Client } from '../kit/client.ts'
import { type OwnDatabase, withSql } from '../kit/database.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, becomes, becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { contradictions, stored, totals, Writers } from './writers.ts'

// Kills nodes of a Citus cluster and the service while two applications create records. Nothing else may use the
// cluster meanwhile, because its servers are killed.

const kills = atScale(8, 40)
const place = new Workplace()
const random = randomNumbers(seed)
/**
 * Citus completes a transaction that only some nodes have committed; it searches for such transactions once a minute.
 */
const finishedMs = 150_000
let nodes: readonly Node[] = []
let database: OwnDatabase
let writers: Writers[] = []

beforeAll(async () => {
  if (coordinatorUrl === undefined) return
  nodes = (await Cluster.find()).nodes
  database = await place.findDatabase()
}, 120_000)
afterAll(async () => {
  for (const one of writers) one.abandon()
  await place.clear()
}, 120_000)

async function kill({ dataDir }: Node): Promise<void> {
  const processes = postgresProcessesIn(dataDir)
  for (const one of processes) signal(one, 'SIGKILL')
  await Promise.all(processes.map((one) => goneWithin(one, 10_000)))
  // A zombie process with the id in these files would make the start believe that the server is still running.
  const pidFile = join(dataDir, 'postmaster.pid')
  const [, , , port, socketFolder = ''] = readFileSync(pidFile, 'utf8').split('\n')
  if (socketFolder !== '') rmSync(join(socketFolder, `.s.PGSQL.${port}.lock`), { force: true })
  rmSync(pidFile)
}

/** Devices without their binding and bindings without their device, on any nodes. */
async function halves(sql: postgres.Sql): Promise<string[]> {
  const read = async (table: string) => {
    const rows = await sql.unsafe(
      `select concat_ws(' ', app_id, device_no, extract(epoch from bound_at)) as row from ${table}`,
    )
    return new Set(rows.map(({ row }) => row as string))
  }
  const [devices, bindings] = [await read('device'), await read('device_binding')]
  return [...[...devices].filter((row) => !bindings.has(row)), ...[...bindings].filter((row) => !devices.has(row))]
}

/**
 * The number of transactions in the test's database that are prepared on a node, but neither committed nor rolled back.
 */
async function inDoubt(): Promise<number> {
  const counts = nodes.map(({ url }) =>
    withSql(connectionOf(url), async (sql) => {
      const [row] = await sql`select count(*)::int as count from pg_prepared_xacts where database = current_database()`
      return row?.count as number
    }),
  )
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

/** The test's database on a node. */
function connectionOf(nodeUrl: string) {
  const { hostname, port } = new URL(nodeUrl)
  return { ...database.connection, host: hostname, port: Number(port) }
}

test.if(coordinatorUrl !== undefined)(
  `${kills} kills of nodes and of the service lose nothing that was acknowledged, leave nothing half, and heal`,
  async () => {
    expect(
      nodes.every(({ dataDir }) => existsSync(dataDir)),
      'the nodes run on this machine',
    ).toBe(true)
    const env = { DATABASE_URL: database.url(), FORECOURT_STATEMENT_TIMEOUT_MS: '1000' }
    let service: Service = await place.startService({ env })
    const apps = [await newApplication(new Client(service)), await newApplication(new Client(service))]
    writers = apps.map((app) => new Writers(app, service))
    const checked = apps.map(() => 0)
    let lost = 0
    for (let killed = 0; killed < kills; killed++) {
      const had = writers.map(({ settled }) => settled.length)
      await becomesTrue(() => writers.every(({ settled }, index) => settled.length > (had[index] ?? 0) + 40))
      await anyMoment(random, 100)
      const victim = nodes[killed % (nodes.length + 1)]
      if (victim === undefined) await service.kill('SIGKILL')
      else await kill(victim)
      await anyMoment(random, 1500)
      if (victim === undefined) {
        service = await place.startService({ env })
        for (const one of writers) one.open(service)
      } else startNode(victim)
      const waiting = writers.flatMap(({ pending }) => [...pending])
      lost += waiting.filter(({ unknown }) => unknown > 0).length
      const isHealed = () => waiting.every(({ record }) => record !== undefined)
      const isWrong = () => writers.some(({ wrong }) => wrong.length > 0)
      expect(await becomesTrue(() => isHealed() || isWrong()), `creates go on after kill ${killed + 1}`).toBe(true)
      expect(
        writers.flatMap(({ wrong }) => wrong),
        `after kill ${killed + 1}`,
      ).toEqual([])
      // Every create that was acknowledged so far exists completely, and so do those whose response was lost.
      const settled = writers.map((one, index) => one.settled.slice(checked[index]))
      const wrong = () =>
        withSql(database.connection, (sql) =>
          Promise.all(apps.map(({ appId }, index) => contradictions(sql, appId, settled[index] ?? []))),
        )
      expect(await becomes([[], []], wrong, finishedMs), `after kill ${killed + 1}`).toEqual([[], []])
      for (const [index, { length }] of settled.entries()) checked[index] = (checked[index] ?? 0) + length
    }
    for (const one of writers) await one.finish()
    expect(writers.flatMap(({ wrong }) => wrong)).toEqual([])
    expect(await becomesTrue(async () => (await inDoubt()) === 0, finishedMs), 'nothing is in doubt').toBe(true)
    await withSql(database.connection, async (sql) => {
      expect(await halves(sql)).toEqual([])
      for (const [index, { appId }] of apps.entries()) {
        const { settled } = writers[index] as Writers
        expect(await contradictions(sql, appId, settled)).toEqual([])
        expect(await totals(sql, appId)).toEqual({ rows: settled.length, events: settled.length })
        expect((await stored(sql, appId, settled)).size).toBe(settled.length)
      }
    })
    expect(lost, 'kills came in the middle of writes').toBeGreaterThan(kills)
    expect(await service.stop()).toBe(0)
  },
  1_200_000,
)
