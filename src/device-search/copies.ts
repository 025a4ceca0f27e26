import { type CopyPools, DeviceCopy } from './copy.ts'
import { type Found, type Search, search } from './scan.ts'
import { countDevices } from './store.ts'

/** What a copy holds of a device, when its names and serials are long. */
const bytesPerDevice = 150
/** How far a copy may lag behind between two questions: while its application is busy, and while it is not. */
const busyMs = 500
const idleMs = 16_000
/** By how much a look may be late. */
const lookDelayMs = 1_000
/** With many copies it is longer, so that looking at one that has no news is done at most 20 times a second. */
const idleMsPerCopy = 50
/** How long a copy is kept fresh after it was asked for. Each change that it reads is work that creates have to share. */
const freshForMs = 60_000
/** A copy that was not asked for in so long is dropped: events that it has not followed could be removed by their days. */
const keptForMs = 3_600_000
/** An application that did not fit is not tried again for so long. */
const tooLargeMs = 300_000

export interface FoundInCopy extends Found {
  /** The last event that the answer takes into account. */
  through: number
}

interface Entry {
  /** Undefined while it is being loaded. */
  copy: DeviceCopy | undefined
  /** Answers nothing when there is no room for the copy. */
  loaded: Promise<DeviceCopy | undefined>
  bytes: number
  lookAt: number
  pauseMs: number
  /** By this process's monotonic clock. */
  askedAt: number
}

/** The copies of this process, within a bound on their memory: the one that was asked for longest ago makes room. */
export class Copies {
  /** In the order in which they were asked for. */
  private readonly entries = new Map<string, Entry>()
  private readonly tooLargeUntil = new Map<string, number>()
  private readonly pools: CopyPools
  private readonly maxBytes: number

  constructor(pools: CopyPools, maxBytes: number) {
    this.pools = pools
    this.maxBytes = maxBytes
  }

  /**
   * Searches an application's copy as it is after this call. Answers nothing when there is none to be had, or none soon
   * for one who does not want to wait.
   */
  async search(appId: string, wanted: Search, canWait: boolean): Promise<FoundInCopy | undefined> {
    const entry = this.use(appId)
    if (entry === undefined || (entry.copy === undefined && !canWait)) return undefined
    const copy = entry.copy ?? (await entry.loaded)
    if (copy === undefined) return undefined
    const fresh = copy.freshen()
    if (!canWait && this.lags(entry, copy)) {
      // Whoever asks next is told its failure, or tries again.
      fresh.catch(() => {})
      return undefined
    }
    await fresh
    return { ...search(copy.columns, wanted), through: copy.through }
  }

  /** Loads a copy that nobody has asked for yet, if there is room beside the others. */
  async prepare(appId: string): Promise<void> {
    if (this.entries.has(appId) || this.isTooLarge(appId)) return
    await this.begin(appId, false).loaded
  }

  /** Brings the copies up to date whose time has come, so that no answer has to catch up with much. */
  async look(): Promise<void> {
    const longest = Math.max(idleMs, this.entries.size * idleMsPerCopy)
    for (const [appId, entry] of this.entries) {
      const { copy } = entry
      const now = performance.now()
      if (copy !== undefined && now - entry.askedAt > keptForMs) this.entries.delete(appId)
      // Nobody looks at it: whoever does next waits once for what has changed since.
      if (copy === undefined || entry.lookAt > now || now - entry.askedAt > freshForMs) continue
      const before = copy.through
      await copy.freshen()
      entry.pauseMs = copy.through === before ? Math.min(longest, entry.pauseMs * 2) : busyMs
      entry.lookAt = performance.now() + entry.pauseMs
      entry.bytes = copy.columns.byteLength
    }
    this.makeRoom(0, true)
  }

  /** What there is: which applications, how many devices and bytes, and how long one of them was not looked at. */
  figures() {
    const copies = [...this.entries.values()].flatMap(({ copy }) => copy ?? [])
    const now = performance.now()
    return {
      appIds: copies.map(({ appId }) => appId),
      devices: copies.reduce((sum, { columns }) => sum + columns.devices, 0),
      bytes: copies.reduce((sum, { columns }) => sum + columns.byteLength, 0),
      lagSeconds: Math.max(0, ...copies.map(({ trueAt }) => (now - trueAt) / 1000)),
    }
  }

  /** The application's entry, now the last to make room. */
  private use(appId: string): Entry | undefined {
    const entry = this.entries.get(appId)
    if (entry === undefined) return this.isTooLarge(appId) ? undefined : this.begin(appId, true)
    entry.askedAt = performance.now()
    this.entries.delete(appId)
    this.entries.set(appId, entry)
    return entry
  }

  /** Whether the copy was left behind, so that catching up may take long. */
  private lags({ pauseMs }: Entry, { trueAt }: DeviceCopy): boolean {
    return performance.now() - trueAt > pauseMs + lookDelayMs
  }

  private isTooLarge(appId: string): boolean {
    return (this.tooLargeUntil.get(appId) ?? 0) > performance.now()
  }

  private begin(appId: string, mayPush: boolean): Entry {
    const entry: Entry = {
      copy: undefined,
      loaded: Promise.resolve(undefined),
      bytes: 0,
      lookAt: 0,
      pauseMs: busyMs,
      // Nobody has asked for it yet, so it is not kept fresh.
      askedAt: performance.now() - (mayPush ? 0 : freshForMs),
    }
    this.entries.set(appId, entry)
    entry.loaded = this.load(appId, entry, mayPush).then(
      (copy) => {
        entry.copy = copy
        if (copy === undefined) this.entries.delete(appId)
        return copy
      },
      (error) => {
        this.entries.delete(appId)
        throw error
      },
    )
    // Whoever waits for it is told; nobody has to.
    entry.loaded.catch(() => {})
    return entry
  }

  private async load(appId: string, entry: Entry, mayPush: boolean): Promise<DeviceCopy | undefined> {
    const most = Math.floor(this.maxBytes / bytesPerDevice)
    const devices = await countDevices(this.pools.loads, appId, most + 1)
    if (devices > most || !this.makeRoom(devices * bytesPerDevice, mayPush)) {
      this.tooLargeUntil.set(appId, performance.now() + tooLargeMs)
      return undefined
    }
    entry.bytes = devices * bytesPerDevice
    return DeviceCopy.load(appId, this.pools, devices)
  }

  /** Drops copies until so many more bytes fit; answers whether they do. */
  private makeRoom(bytes: number, mayPush: boolean): boolean {
    const free = () => this.maxBytes - [...this.entries.values()].reduce((sum, entry) => sum + entry.bytes, 0)
    for (const [appId, { copy }] of this.entries) {
      if (free() >= bytes || !mayPush) break
      if (copy !== undefined) this.entries.delete(appId)
    }
    return free() >= bytes
  }
}
