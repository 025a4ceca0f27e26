import { afterAll, expect, test } from 'bun:test'
import { Workplace } from '../kit/workplace.ts'
import { Cluster, coordinatorUrl, withNode } from './cluster.ts'

// A partition of history consists of a partition of every shard, on all nodes. If a first start creates several at
// once, a statement could take longer than it may, and the start fails.

const place = new Workplace()
let cluster: Cluster | undefined
afterAll(async () => {
  await place.clear()
  await cluster?.clear()
}, 120_000)

test.if(coordinatorUrl !== undefined)(
  'the first start makes each partition in a transaction of its own, whatever a statement of a request may take',
  async () => {
    cluster = await Cluster.find()
    const url = await cluster.newDistributed()
    const service = await place.startService({ env: { DATABASE_URL: url, FORECOURT_STATEMENT_TIMEOUT_MS: '1000' } })
    expect(await service.stop()).toBe(0)
    const made = await withNode(
      url,
      (sql) => sql<{ parent: string; transaction: string }[]>`
        select parent, c.xmin::text as transaction from history_partition p join pg_class c on c.relname = p.name`,
    )
    expect(new Set(made.map(({ parent }) => parent))).toEqual(new Set(['event', 'state_change']))
    expect(made.length).toBeGreaterThanOrEqual(4)
    expect(new Set(made.map(({ transaction }) => transaction)).size, 'transactions').toBe(made.length)
  },
  300_000,
)
