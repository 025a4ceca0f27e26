import { limits } from '../vocabulary/limits.ts'

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
