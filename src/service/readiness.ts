import type { Config } from '../config.ts'
import { appliedVersion } from '../database/migrate.ts'
import { isWritable, type Sql } from '../database/open.ts'
import type { InFlight } from '../http/in-flight.ts'
import { inTime, shared } from '../runtime/event-loop.ts'
import type { Peers } from '../runtime/peer-processes.ts'

interface Parts {
  sql: Sql
  inFlight: InFlight
  peers: Peers
  config: Pick<Config, 'statementTimeoutMs'>
  schemaVersion: number
}

/** Whether the service can serve: each check by name. */
export type Readiness = () => Promise<{ name: ReadinessCheck; ok: boolean }[]>

type ReadinessCheck = 'database' | 'writable' | 'migrations' | 'capacity' | 'workers'

/** How long one look into the database answers further probes, over however many connections. */
export const heldMs = 50

/** Well before the request itself is given up: a probe that fails must say which check did. */
export function probeMs({ statementTimeoutMs }: Pick<Config, 'statementTimeoutMs'>): number {
  return Math.min(2000, statementTimeoutMs / 2)
}

export function readinessOf({ sql, inFlight, peers, config, schemaVersion }: Parts): Readiness {
  // One after the other: a refused write closes its connection, and other queries on it with it.
  const look = async () => ({ version: await appliedVersion(sql), canWrite: await isWritable(sql) })
  // Anybody may ask, as often as they like, and tokens and sign-ins are on these connections too.
  const lookOnce = shared(() => inTime(look(), undefined, probeMs(config)), heldMs)
  return async () => {
    const { version, canWrite } = (await lookOnce()) ?? {}
    return [
      { name: 'database', ok: version !== undefined },
      { name: 'writable', ok: canWrite === true },
      { name: 'migrations', ok: version === schemaVersion },
      { name: 'capacity', ok: !inFlight.isFull },
      // Only until all have started: later, the others serve while one is started again.
      { name: 'workers', ok: peers.workers.isStarted },
    ]
  }
}
