import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { isDistributed } from '../database/cluster.ts'
import { appliedVersion } from '../database/migrate.ts'
import { areNodesFit } from '../database/nodes.ts'
import { isWritable } from '../database/open.ts'
import type { InFlight } from '../http/in-flight.ts'
import { cached } from '../runtime/cached.ts'
import { inTime } from '../runtime/event-loop.ts'

export type Readiness = () => Promise<Check[]>

interface Check {
  name: 'database' | 'writable' | 'migrations' | 'capacity' | 'workers' | 'prices' | 'nodes'
  ok: boolean
}

/** Unfit nodes do not count: they concern all services, and a load balancer would take all of them out. */
export const isReady = (checks: readonly Check[]) => checks.every(({ name, ok }) => ok || name === 'nodes')

/** For how long one read of the database serves further probes. */
export const heldMs = 50
/** The nodes change rarely, and each check opens a new connection to each of them. */
const nodesHeldMs = 10_000

/** Well before the request times out, because a failing probe must say which check failed. */
export function probeMs({ statementTimeoutMs }: Pick<Config, 'statementTimeoutMs'>): number {
  return Math.min(2000, statementTimeoutMs / 2)
}

/** `arePricesWritten`: the prices that changed while the database was away are stored. */
export function readinessOf(
  { pools, peers, config }: Context,
  schemaVersion: number,
  inFlight: InFlight,
  arePricesWritten: () => boolean,
): Readiness {
  const { control: sql, background } = pools
  // One after the other: a refused write closes its connection, and would fail other queries on it.
  const look = async () => ({ version: await appliedVersion(sql), canWrite: await isWritable(sql) })
  // Shared: anybody may ask, as often as they like, and tokens and sign-ins use the same connections.
  const lookOnce = cached(() => inTime(look(), undefined, probeMs(config)), heldMs)
  const lookAtNodes = cached(() => inTime(areNodesFit(background, config.workers), false, probeMs(config)), nodesHeldMs)
  return async () => {
    const [{ version, canWrite } = {}, areFit] = await Promise.all([lookOnce(), isDistributed() && lookAtNodes()])
    return [
      { name: 'database', ok: version !== undefined },
      { name: 'writable', ok: canWrite === true },
      { name: 'migrations', ok: version === schemaVersion },
      { name: 'capacity', ok: !inFlight.isFull },
      // Fails only until all workers have started once: later, the others serve while one is started again.
      { name: 'workers', ok: peers.workers.isStarted },
      { name: 'prices', ok: arePricesWritten() },
      ...(isDistributed() ? [{ name: 'nodes', ok: areFit } as const] : []),
    ]
  }
}
