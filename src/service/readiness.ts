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

/** Probes that follow each other closely, over however many connections, are answered by one look into the database. */
export const heldMs = 50

/** Well before the request itself is given up: a probe that fails must say which check did. */
export function probeMs({ statementTimeoutMs }: Pick<Config, 'statementTimeoutMs'>): number {
  return Math.min(2000, statementTimeoutMs / 2)
}

export function readinessOf({ sql, inFlight, peers, config, schemaVersion }: Parts): Readiness {
  // One after the other: a write that is refused takes its connection with it, and what else was asked there.
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
      // Later the others go on while one is started again, so that is no reason to send nothing here.
      { name: 'workers', ok: peers.workers.isStarted },
    ]
  }
}
