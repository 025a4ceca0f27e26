import type { Sql } from '../database/open.ts'
import { type ApplicationCaller, type Caller, tokenInvalid } from '../http/authenticate.ts'
import type { Peers } from '../process/peers.ts'
import { Refusal } from '../refusals.ts'
import { findToken, recentAccessChanges } from './store.ts'

interface Entry {
  caller: ApplicationCaller
  isFrozen: boolean
  accessVersion: number
  /** By this process's monotonic clock. */
  expiresAt: number
}

/** With the polling interval below, this keeps every process within the contract's 1 s. */
const trustedForMs = 900
const pollEveryMs = 300
const maxEntries = 200_000

/**
 * Verified tokens in memory. In the steady state a request asks the database nothing: one small query, three times a
 * second, names the applications whose access changed lately, and their entries are dropped. When that query has not
 * come back in time, requests wait for it instead of trusting what may be outdated.
 */
export class AccessCache {
  private readonly pool: Sql
  private readonly peers: Peers
  private readonly entries = new Map<string, Entry>()
  private readonly versions = new Map<string, number>()
  private readonly byApplication = new Map<string, Set<string>>()
  private readonly loading = new Map<string, Promise<ApplicationCaller | undefined>>()
  private freshAsOf = Number.NEGATIVE_INFINITY
  /** The database's time of the newest look at changes, as the database tells it. */
  private seenUntil: string | null = null
  private polling: Promise<void> | undefined
  private timer: ReturnType<typeof setInterval> | undefined

  constructor(pool: Sql, peers: Peers) {
    this.pool = pool
    this.peers = peers
  }

  start(): void {
    // A failure is told to the requests that need the answer; the timer only tries again.
    this.timer = setInterval(() => void this.poll().catch(() => {}), pollEveryMs)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  /** The application behind a token, or undefined for one that is not valid. Throws 10005 for a frozen one. */
  check(tokenHash: string): ApplicationCaller | undefined | Promise<ApplicationCaller | undefined> {
    const now = performance.now()
    if (now - this.freshAsOf > trustedForMs) return this.poll().then(() => this.checkFresh(tokenHash))
    return this.checkFresh(tokenHash)
  }

  /** Tells all processes of this machine of a change: it is in force there when this resolves. */
  async noteChange(): Promise<void> {
    await Promise.all([this.refresh(), this.peers.ask('access', null)])
  }

  /** Looks at the changes now; what was committed before this call is in force when it resolves. */
  async refresh(): Promise<void> {
    // A poll that is under way may have read before the change.
    await this.polling?.catch(() => {})
    await this.poll().catch(() => {
      this.freshAsOf = Number.NEGATIVE_INFINITY
    })
  }

  /**
   * Looks anew whether a caller has the power that it was admitted with; changes that were committed before this call
   * count. Throws 10002 and 10005.
   */
  async requirePower(caller: Caller): Promise<void> {
    if (caller.kind !== 'application') return
    await this.refresh()
    if ((await this.check(caller.tokenHash)) === undefined) throw tokenInvalid('invalid_token')
  }

  private checkFresh(tokenHash: string): ApplicationCaller | undefined | Promise<ApplicationCaller | undefined> {
    const entry = this.entries.get(tokenHash)
    if (entry === undefined) return this.loadOnce(tokenHash)
    if (entry.expiresAt <= performance.now()) {
      this.drop(tokenHash, entry)
      return undefined
    }
    return callerOf(entry)
  }

  /** After a change of access, all who use a token ask for it at once. */
  private loadOnce(tokenHash: string): Promise<ApplicationCaller | undefined> {
    const loading = this.loading.get(tokenHash)
    if (loading !== undefined) return loading
    const started = this.load(tokenHash).finally(() => this.loading.delete(tokenHash))
    this.loading.set(tokenHash, started)
    return started
  }

  private async load(tokenHash: string): Promise<ApplicationCaller | undefined> {
    // From before it was asked, so that a slow answer lengthens nothing.
    const askedAt = performance.now()
    const known = await findToken(this.pool, tokenHash)
    if (known === undefined) return undefined
    const { appId, rateLimitPerSecond, isFrozen, accessVersion, remainingMs } = known
    // A change was polled while this was being read: it says what was before.
    if (accessVersion < (this.versions.get(appId) ?? accessVersion)) return this.load(tokenHash)
    const entry: Entry = {
      caller: { kind: 'application', appId, tokenHash, rateLimitPerSecond },
      isFrozen,
      accessVersion,
      expiresAt: askedAt + remainingMs,
    }
    this.keep(tokenHash, entry)
    return callerOf(entry)
  }

  private keep(tokenHash: string, entry: Entry): void {
    if (this.entries.size >= maxEntries) {
      const [oldest] = this.entries
      if (oldest !== undefined) this.drop(...oldest)
    }
    this.entries.set(tokenHash, entry)
    const tokens = this.byApplication.get(entry.caller.appId) ?? new Set()
    this.byApplication.set(entry.caller.appId, tokens.add(tokenHash))
  }

  private drop(tokenHash: string, { caller }: Entry): void {
    this.entries.delete(tokenHash)
    const tokens = this.byApplication.get(caller.appId)
    tokens?.delete(tokenHash)
    if (tokens?.size === 0) this.byApplication.delete(caller.appId)
  }

  private poll(): Promise<void> {
    this.polling ??= this.readChanges().finally(() => {
      this.polling = undefined
    })
    return this.polling
  }

  private async readChanges(): Promise<void> {
    const asOf = performance.now()
    const { changes, seenUntil } = await recentAccessChanges(this.pool, this.seenUntil)
    const recent = new Set(changes.map((change) => change.appId))
    for (const appId of this.versions.keys()) if (!recent.has(appId)) this.versions.delete(appId)
    for (const { appId, accessVersion } of changes) {
      if (this.versions.get(appId) === accessVersion) continue
      this.versions.set(appId, accessVersion)
      for (const tokenHash of this.byApplication.get(appId) ?? []) {
        const entry = this.entries.get(tokenHash)
        if (entry !== undefined && entry.accessVersion < accessVersion) this.drop(tokenHash, entry)
      }
    }
    this.seenUntil = seenUntil
    this.freshAsOf = asOf
  }
}

function callerOf(entry: Entry): ApplicationCaller {
  if (entry.isFrozen) throw new Refusal('applicationFrozen')
  return entry.caller
}
