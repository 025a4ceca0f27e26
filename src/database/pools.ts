import { limits } from '../vocabulary/limits.ts'
import type { Database } from './database.ts'
import type { Sql } from './open.ts'

/** Connections by pool in each worker (decision 0014). Reads have more of their own. */
export const poolSizes = {
  access: 2,
  control: 3,
  writes: 3,
  devices: 1,
  creates: 2,
  states: 1,
  tokens: 1,
  callbacks: 3,
  bulk: 3,
  background: 3,
}

/** Limits a worker's connections to one host. */
export const connectionsOfProcess = Object.values(poolSizes).reduce((sum, size) => sum + size, limits.readsAtOnce)

/** How long a statement of the background may take: it blocks no request. */
export const backgroundMs = 60_000

/**
 * Opens a process's pools, one per purpose, so that an exhausted one delays no other work. The start already needs
 * `control` (clients, sessions, probes and operators' changes), so it is passed in.
 */
export function openPools(database: Database, control: Sql) {
  return {
    access: database.open(poolSizes.access, { isByKeys: true }),
    control,
    /** Changes by applications, except creates and states. */
    writes: database.open(poolSizes.writes, { isByKeys: true }),
    // For the lane of devices. Batches on several connections would wait for each other's locks.
    devices: database.open(poolSizes.devices, { isWritePath: true }),
    // For the lane of sites, and for what devices and sites look up.
    creates: database.open(poolSizes.creates, { isWritePath: true }),
    states: database.open(poolSizes.states, { isWritePath: true }),
    tokens: database.open(poolSizes.tokens, { isWritePath: true }),
    // Also reads the events that streams send.
    callbacks: database.open(poolSizes.callbacks, { isWritePath: true }),
    bulk: database.open(poolSizes.bulk, { isWritePath: true }),
    background: database.open(poolSizes.background, { longestStatementMs: backgroundMs }),
  }
}

export type Pools = ReturnType<typeof openPools>
