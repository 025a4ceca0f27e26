import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Finding } from '../../src/cli/finding.ts'
import { setDistributed } from '../../src/database/cluster.ts'
import { openDatabase } from '../../src/database/open.ts'
import { connectionsOfProcess } from '../../src/database/pools.ts'
import { noteDatabaseSize, readDatabaseSize } from '../../src/service/store.ts'
import { forecourt } from '../cli/support.ts'
import { Client } from '../kit/client.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { Cluster, coordinatorUrl, withNode } from './cluster.ts'

// Faults in the setup of nodes are reported before operations fail: by `distribute`, by the start, by `doctor` and by
// `/readyz`.

const onCluster = test.if(coordinatorUrl !== undefined)
const place = new Workplace()
let cluster: Cluster
beforeAll(async () => {
  if (coordinatorUrl !== undefined) cluster = await Cluster.find()
})
afterAll(async () => {
  await place.clear()
  await cluster?.clear()
}, 120_000)

const quiet = { FORECOURT_LOG_LEVEL: 'fatal' }
const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Runs a statement on the first worker, in the database of the same name; `%I` stands for that name. */
function onWorker(url: string, statement: string) {
  const [, worker] = cluster.nodes
  if (worker === undefined) throw new Error('the cluster has no worker')
  const text = statement.replaceAll('%I', `"${nameOf(url)}"`)
  return withNode(worker.url, (sql) => sql.unsafe(text))
}

async function doctor(url: string, env: Record<string, string> = {}): Promise<Map<string, Finding>> {
  const settings = { DATABASE_URL: url, FORECOURT_DATA_DIR: place.newFolder(), FORECOURT_PORT: '0', ...env }
  const { stdout, stderr } = await forecourt(['doctor', '--json'], settings)
  expect(stderr).toBe('')
  return new Map((JSON.parse(stdout) as { checks: Finding[] }).checks.map((finding) => [finding.name, finding]))
}

onCluster(
  'distribute is refused with the setting, its value and its node where the connections of the service do not fit',
  async () => {
    const url = await cluster.newDatabase()
    await withNode(url, (sql) =>
      sql.unsafe(`alter database "${nameOf(url)}" set citus.max_cached_conns_per_worker = 16`),
    )
    const env = { DATABASE_URL: url, ...quiet }
    const refused = await forecourt(['distribute'], { ...env, FORECOURT_WORKERS: '64' })
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    const [, , kept = ''] = /(\d+) sessions × (\d+), and 10 of Citus/.exec(refused.stderr) ?? []
    expect(Number(kept), 'connections that a session keeps').toBeGreaterThan(1)
    const needed = 64 * connectionsOfProcess * Number(kept) + 10
    expect(refused.stderr).toContain(`up to ${needed} connections are opened to a node`)
    for (const { url: node } of cluster.nodes.slice(1)) expect(refused.stderr).toContain(new URL(node).host)
    await withNode(url, (sql) => sql.unsafe(`alter database "${nameOf(url)}" reset citus.max_cached_conns_per_worker`))
    const done = await forecourt(['distribute'], env)
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('Database distributed.')])
    const [{ level } = { level: '' }] = await onWorker(url, `select current_setting('wal_level') as level`)
    expect(done.stderr.includes(`wal_level is ${level} on`)).toBe(level !== 'logical')
    expect((await doctor(url)).get('rebalance')?.status).toBe(level === 'logical' ? 'ok' : 'warn')
  },
  120_000,
)

onCluster(
  'too few connections of a node are a warning of the start and of doctor, and a check of /readyz that refuses nothing',
  async () => {
    const url = await cluster.newDistributed()
    expect([(await doctor(url)).get('node connections'), (await doctor(url)).get('nodes')]).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
    ])
    await onWorker(url, 'alter database %I connection limit 20')
    const { status, message, todo } = (await doctor(url)).get('node connections') as Finding
    expect([status, message]).toEqual(['warn', expect.stringContaining('only 20 are allowed')])
    expect(todo).toMatch(
      /^Set the connection limit of the user or the database to \d+ or more on \S+:\d+ \(now 20\)\.$/,
    )
    const service = await place.startService({ env: { DATABASE_URL: url, FORECOURT_LOG_LEVEL: 'warn' } })
    expect(service.stderr().split('but only 20 are allowed')).toHaveLength(2)
    const client = new Client(service)
    const readiness = async () => {
      const { status, data } = await client.call('getReadiness', {})
      return { status, ready: data.ready, nodes: data.checks.find(({ name }) => name === 'nodes')?.ok }
    }
    const metric = async () => /^forecourt_nodes_ok (\d)$/m.exec((await client.operate('getMetrics', {})).text)?.[1]
    expect(await readiness()).toEqual({ status: 200, ready: true, nodes: false })
    expect(await metric()).toBe('0')
    await onWorker(url, 'alter database %I connection limit -1')
    expect(await becomesTrue(async () => (await readiness()).nodes === true)).toBe(true)
    expect(await becomesTrue(async () => (await metric()) === '1')).toBe(true)
    expect(await service.stop()).toBe(0)
  },
  120_000,
)

onCluster(
  'a node that is away is named, upkeep goes on without its size, and the log has one line of it',
  async () => {
    const url = await cluster.newDistributed()
    const service = await place.startService({
      env: { DATABASE_URL: url, FORECOURT_PRESENCE_SECONDS: '2', FORECOURT_LOG_LEVEL: 'warn' },
    })
    const sql = openDatabase({ target: url, connections: 1, statementTimeoutMs: 10_000 })
    setDistributed(true)
    try {
      await noteDatabaseSize(sql)
      const { bytes } = await readDatabaseSize(sql)
      expect(bytes).toBeGreaterThan(0)
      await onWorker(url, 'alter database %I allow_connections false')
      await onWorker(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(url)}' and pid <> pg_backend_pid()`,
      )
      await noteDatabaseSize(sql)
      expect((await readDatabaseSize(sql)).bytes).toBeNull()
      expect((await doctor(url)).get('nodes')).toMatchObject({
        status: 'fail',
        message: expect.stringMatching(/^\S+:\d+ does not answer the coordinator$/),
      })
      const told = () => service.stderr().split('search for devices without reports failed').length - 1
      expect(await becomesTrue(() => told() > 0)).toBe(true)
      // The worker searches a few more times.
      await sleep(3_000)
      expect(told()).toBe(1)
    } finally {
      setDistributed(false)
      await onWorker(url, 'alter database %I allow_connections true')
      await sql.end({ timeout: 1 })
    }
    expect(await service.stop()).toBe(0)
  },
  120_000,
)
