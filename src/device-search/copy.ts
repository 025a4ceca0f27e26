import type { Sql } from '../database/open.ts'
import { type CopiedDevice, DeviceColumns } from './columns.ts'
import { lastEventId, readChanges, readDevices } from './store.ts'

/** Few enough rows that what waits for the thread meanwhile waits for milliseconds. */
const loadStep = 4000
const changeStep = 4000

export interface CopyPools {
  /** For what an answer waits for. */
  changes: Sql
  /** For reading all devices of an application. */
  loads: Sql
}

/** What is known of an application's devices, as of an event. */
interface State {
  columns: DeviceColumns
  /** The last event that is in the columns. */
  through: number
}

/**
 * One application's devices in memory, kept true by its event log. Every change of a device writes an event in its own
 * transaction, and within an application events become visible in the order of their ids; so whatever was touched
 * since the last event that the copy knows is read again, and then the copy is what the table is.
 */
export class DeviceCopy {
  readonly appId: string
  private readonly pools: CopyPools
  private state: State
  private reloading: Promise<void> | undefined
  /** The last run that began, and the one that will begin when it ends. */
  private running: Promise<void> = Promise.resolve()
  private waiting: Promise<void> | undefined
  /** When it was true last, by this process's monotonic clock. */
  trueAt = performance.now()

  private constructor(appId: string, pools: CopyPools, state: State) {
    this.appId = appId
    this.pools = pools
    this.state = state
  }

  /** Reads all devices of an application, about so many. The copy is true after its first `freshen`. */
  static async load(appId: string, pools: CopyPools, devices: number): Promise<DeviceCopy> {
    return new DeviceCopy(appId, pools, await loadState(appId, pools.loads, devices))
  }

  get columns(): DeviceColumns {
    return this.state.columns
  }

  get through(): number {
    return this.state.through
  }

  /** When it resolves, what was committed before this call is in the copy. */
  freshen(): Promise<void> {
    if (this.waiting !== undefined) return this.waiting
    // A run that is under way may have read before the change that the caller must see.
    const next = this.running
      .catch(() => {})
      .then(() => {
        this.waiting = undefined
        return this.catchUp()
      })
    this.running = next
    this.waiting = next
    return next
  }

  private async catchUp(): Promise<void> {
    for (;;) {
      const { state } = this
      const asOf = performance.now()
      const isTrue = await advance(this.appId, this.pools.changes, state)
      if (!isTrue) this.state = await this.loadAnew()
      // Another state may also have been loaded meanwhile.
      if (state !== this.state) continue
      this.trueAt = asOf
      if (state.columns.isLoose) this.reloading ??= this.reload()
      return
    }
  }

  private loadAnew(): Promise<State> {
    return loadState(this.appId, this.pools.loads, this.state.columns.devices)
  }

  /** Replaces columns that have become loose, while they still serve. */
  private async reload(): Promise<void> {
    try {
      this.state = await this.loadAnew()
    } catch {
      // The loose columns are as true as before, and the next catch-up tries again.
    } finally {
      this.reloading = undefined
    }
  }
}

/** The event first: what changes while the devices are read is behind it, and is read again. */
async function loadState(appId: string, pool: Sql, devices: number): Promise<State> {
  const through = await lastEventId(pool, appId)
  const columns = new DeviceColumns(Math.ceil(devices * 1.05))
  const read = (after: CopiedDevice | undefined) => readDevices(pool, appId, after, loadStep)
  for (let rows = await read(undefined); rows.length > 0; ) {
    // The database reads on while these are taken in.
    const next = rows.length === loadStep ? read(rows.at(-1)) : []
    for (const row of rows) columns.put(row)
    rows = await next
  }
  return { columns, through }
}

/** Answers whether the state is true now. It is not when so much has happened that loading it anew is sooner done. */
async function advance(appId: string, pool: Sql, state: State): Promise<boolean> {
  const most = Math.max(4 * changeStep, state.columns.devices / 2)
  for (let read = 0; read < most; read += changeStep) {
    const { through, events, devices, others } = await readChanges(pool, appId, state.through, changeStep)
    for (const device of devices) state.columns.put(device)
    for (const deviceNo of others) state.columns.remove(deviceNo)
    state.through = through ?? state.through
    if (events < changeStep) return true
  }
  return false
}
