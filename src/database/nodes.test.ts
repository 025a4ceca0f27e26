import { expect, test } from 'bun:test'
import { type Cluster, connectionsToNode, findAway, findNoRebalance, findTooFewConnections } from './nodes.ts'
import { connectionsOfProcess } from './pools.ts'

const settings = { maxConnections: 1000, reserved: 3, ownLimit: null, walLevel: 'logical' }
const inOrder: Cluster = {
  nodes: [
    { place: 'c:5432', isCoordinator: true, settings },
    { place: 'w1:5432', isCoordinator: false, settings },
    { place: 'w2:5432', isCoordinator: false, settings },
  ],
  otherProcesses: 0,
  keptOfSession: 16,
  openedToNode: 1000,
  openedBy: 'max_connections',
}
const workersWith = (changed: Partial<typeof settings> | { ownLimit: number }): Cluster => ({
  ...inOrder,
  nodes: inOrder.nodes.map((node) => (node.isCoordinator ? node : { ...node, settings: { ...settings, ...changed } })),
})
const needed = connectionsOfProcess * 16 + 10

test('a cluster in order has no fault', () => {
  expect(connectionsToNode(inOrder, 1)).toBe(needed)
  expect([findAway(inOrder), findTooFewConnections(inOrder, 1), findNoRebalance(inOrder)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('each setting that is too small is named, with its value, its node and what it is now', () => {
  const few = findTooFewConnections({ ...workersWith({ maxConnections: 100 }), openedToNode: 100 }, 1)
  expect(few?.what).toBe(
    `up to ${needed} connections are opened to a node (${connectionsOfProcess} sessions × 16, and 10 of Citus), but only 97 are allowed; beyond that, some operations are refused with 50003 and don’t recover`,
  )
  expect(few?.todo).toBe(
    `set max_connections to ${needed + 3} or more on w1:5432 and w2:5432 (now 100), max_connections to ${needed} or more on the coordinator (now 100), or citus.max_cached_conns_per_worker to 3 on the coordinator, which makes batches slower`,
  )
  const ofUser = findTooFewConnections(workersWith({ ownLimit: 50 }), 1)
  expect(ofUser?.todo).toStartWith(
    `set the connection limit of the user or the database to ${needed} or more on w1:5432 and w2:5432 (now 50), `,
  )
})

test('a limit of the coordinator bounds nothing: sessions keep what they have and wait for the rest', () => {
  const bounded: Cluster = { ...inOrder, openedToNode: 60, openedBy: 'citus.max_shared_pool_size' }
  expect(findTooFewConnections(bounded, 1)?.todo).toBe(
    `set citus.max_shared_pool_size to ${needed} or more on the coordinator (now 60), or citus.max_cached_conns_per_worker to 1 on the coordinator, which makes batches slower`,
  )
  expect(findTooFewConnections({ ...inOrder, openedToNode: null }, 1)).toBeUndefined()
})

test('every process counts, and where not even one connection of each session fits, no fewer are proposed', () => {
  expect(findTooFewConnections(inOrder, 2)).toBeUndefined()
  expect(findTooFewConnections(inOrder, 3)?.todo).toContain(
    `max_connections to ${3 * connectionsOfProcess * 16 + 13} or more on w1:5432`,
  )
  expect(findTooFewConnections(workersWith({ maxConnections: 30 }), 1)?.todo).not.toContain('max_cached')
})

test('a node that does not answer is named, and its settings are not guessed', () => {
  const nodes = inOrder.nodes.map((node) => (node.place === 'w2:5432' ? { ...node, settings: null } : node))
  const away = { ...inOrder, nodes }
  expect(findAway(away)?.what).toBe('w2:5432 does not answer the coordinator')
  expect([findTooFewConnections(away, 1), findNoRebalance(away)]).toEqual([undefined, undefined])
})

test('nodes from which no shard can be moved while it is written are named', () => {
  expect(findNoRebalance(workersWith({ walLevel: 'replica' }))?.what).toBe(
    'wal_level is replica on w1:5432, w2:5432, so rebalancing to a new node can’t start',
  )
})
