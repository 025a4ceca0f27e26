import { afterAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { tell } from '../kit/scale.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { Cluster, coordinatorUrl, type Node, withNode } from './cluster.ts'
import { Caller } from './traffic.ts'

// All shards of a node move to the others, and about as many move back, as when a node is removed and another one added.
// Callers send requests of every kind meanwhile. Each request succeeds, at once or when its caller repeats it after 50003,
// and the rows of every answered request are there afterwards.

const place = new Workplace()
let cluster: Cluster | undefined
afterAll(async () => {
  await place.clear()
  await cluster?.clear()
}, 120_000)

/** How many shards are on a node. */
async function shardsOn(url: string, { url: node }: Node): Promise<number> {
  const { hostname, port } = new URL(node)
  const [row] = await withNode(
    url,
    (sql) => sql<{ count: number }[]>`
      select count(*)::int as count from pg_dist_placement join pg_dist_node using (groupid)
      join pg_dist_shard using (shardid) join pg_dist_partition using (logicalrelid)
      where nodename = ${hostname} and nodeport = ${port}::text::int and partmethod = 'h'`,
  )
  return row?.count ?? 0
}

test.if(coordinatorUrl !== undefined)(
  'while shards move, every request succeeds, at once or repeated after 50003, and nothing is lost',
  async () => {
    cluster = await Cluster.find()
    const url = await cluster.newDistributed()
    const service = await place.startService({ env: { DATABASE_URL: url } })
    const client = new Client(service)
    const callers = await Promise.all([1, 2, 3, 4].map(() => Caller.start(client, 30)))
    const expectAllWell = (when: string) =>
      expect(
        callers.flatMap(({ wrong }) => wrong),
        when,
      ).toEqual([])
    try {
      // Every caller has sent requests of every kind.
      expect(await becomesTrue(() => callers.every(({ succeeded }) => (succeeded.get('createAct') ?? 0) > 0))).toBe(
        true,
      )
      expectAllWell('before')
      const moved = cluster.nodes.at(-1) as Node
      const { hostname, port } = new URL(moved.url)
      const shards = await shardsOn(url, moved)
      expect(shards).toBeGreaterThan(0)

      let began = performance.now()
      await withNode(url, (sql) => sql`select citus_drain_node(${hostname}, ${port}::text::int)`)
      tell(`drained of ${shards} shards in ${Math.round((performance.now() - began) / 1000)} s`)
      expect(await shardsOn(url, moved)).toBe(0)
      expectAllWell('after the node was drained')

      began = performance.now()
      await withNode(url, async (sql) => {
        await sql`select citus_set_node_property(${hostname}, ${port}::text::int, 'shouldhaveshards', true)`
        await sql`select citus_rebalance_start()`
        let state: string | undefined
        await becomesTrue(async () => {
          const [status] = await sql`select state::text from citus_rebalance_status()`
          state = status?.state
          return state !== 'scheduled' && state !== 'running'
        }, 600_000)
        expect(state).toBe('finished')
      })
      tell(`balanced again in ${Math.round((performance.now() - began) / 1000)} s`)
      // Citus moves no more shards when the nodes differ by less than a tenth.
      expect(await shardsOn(url, moved)).toBeGreaterThan(0.8 * shards)
      await sleep(2_000)
    } finally {
      await Promise.all(callers.map((one) => one.stop()))
    }
    expectAllWell('after the rebalance')
    for (const { summary } of callers) tell(summary)
    for (const one of callers) expect(await one.differences()).toEqual([])
    expect(await service.stop()).toBe(0)
  },
  1_200_000,
)
