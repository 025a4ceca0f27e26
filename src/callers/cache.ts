import { GroupCommit } from '../database/group-commit.ts'
import type { Sql } from '../database/open.ts'
import type { Peers } from '../runtime/peer-processes.ts'
import { limits } from '../vocabulary/limits.ts'
import { Refusal, tokenInvalid } from '../vocabulary/refusals.ts'
import type { Caller } from './caller.ts'
import type { Credential } from './credentials.ts'
import { requireStillActingFor } from './permissions.ts'
import { findCallers, type KnownCaller, noteUse, type SessionRules } from './store.ts'

/** Entries in use are renewed before they expire, so that no request waits. */
const renewAfterMs = 450

interface Entry extends KnownCaller {
  kind: Credential['kind']
  askedAt: number
  /** It is a time of the monotonic clock. */
  trustedUntil: number
}

interface Asked {
  at: number
  answer: Promise<Caller | undefined>
}

/** Changes of operators' access have this key; those of an application have its ID. */
export const operators = ''

/** Keeps callers in memory by their credentials, for a second at most. One query looks up many requests' callers. */
export class CallerCache {
  private readonly peers: Peers
  /** For reads without locks, because transactions that hold locks wait for them. */
  private readonly pool: Sql
  private readonly control: Sql
  private readonly entries = new Map<string, Entry>()
  private readonly asked = new Map<string, Asked>()
  private readonly lookUps: GroupCommit<Credential, KnownCaller | undefined>
  /** When access last changed, by application ID or `operators`. */
  private readonly changes = new Map<string, number>()
  private changedAt = Number.NEGATIVE_INFINITY
  onChange: (whose: string) => void = () => {}

  constructor(pool: Sql, control: Sql, peers: Peers, rules: SessionRules) {
    this.peers = peers
    this.pool = pool
    this.control = control
    this.lookUps = new GroupCommit({
      maxBatch: 512,
      maxWaiting: limits.callersWaiting,
      maxWaitMs: Number.POSITIVE_INFINITY,
      claims: () => [],
      write: (credentials) => findCallers(pool, credentials, rules),
      onBatch: () => {},
    })
    peers.onAsked('access', (whose) => {
      this.forget(whose)
      return null
    })
  }

  /** Returns the credential's caller; undefined if unknown. Throws 10005 for a frozen application. */
  check(credential: Credential): Caller | undefined | Promise<Caller | undefined> {
    const now = performance.now()
    const entry = this.entries.get(credential.hash)
    if (entry?.kind !== credential.kind || now >= entry.trustedUntil || !this.isUnchanged(entry)) {
      return this.lookUp(credential, this.changedAt)
    }
    // A failure is reported by the next request that needs the result.
    if (now - entry.askedAt > renewAfterMs) this.lookUp(credential, this.changedAt).catch(() => {})
    return callerOf(entry)
  }

  checkAnew(credential: Credential): Promise<Caller | undefined> {
    return this.lookUp(credential, performance.now())
  }

  /** Reports a change of access. It resolves once this machine's processes apply it; others follow within 1 s. */
  async noteChange(whose: string): Promise<void> {
    this.forget(whose)
    await this.peers.ask('access', whose)
  }

  /** Throws as `present` does, and if the caller has lost an application. */
  async requireAccess(caller: Caller): Promise<Caller> {
    const now = await this.present(caller)
    requireStillActingFor(caller, now, undefined)
    return now
  }

  /** Returns the caller with its current rights, by a new look-up. Throws 10002, 10003, 10005 and 10034. */
  async present(caller: Caller): Promise<Caller> {
    if (caller.kind === 'operator') {
      const now = (await caller.requireStanding?.(this.pool)) ?? caller
      return { ...now, ...(caller.requireStanding && { requireStanding: caller.requireStanding }) }
    }
    const found = await this.lookUp({ kind: 'token', hash: caller.tokenHash }, performance.now())
    if (found === undefined) throw tokenInvalid('invalid_token')
    return caller
  }

  private forget(whose: string): void {
    const now = performance.now()
    this.changedAt = now
    this.changes.set(whose, now)
    this.onChange(whose)
    if (this.changes.size < 1000) return
    for (const [name, at] of this.changes) if (now - at > limits.callersTrustedMs) this.changes.delete(name)
  }

  private isUnchanged({ caller, askedAt }: Entry): boolean {
    const changedAt = this.changes.get(caller.kind === 'application' ? caller.appId : operators)
    return changedAt === undefined || askedAt > changedAt
  }

  /** Asks the database once for all requests with this credential; only look-ups that started after `since` count. */
  private lookUp(credential: Credential, since: number): Promise<Caller | undefined> {
    const name = `${credential.kind} ${credential.hash}`
    const underWay = this.asked.get(name)
    if (underWay !== undefined && underWay.at > since) return underWay.answer
    const at = performance.now()
    const asked: Asked = { at, answer: this.load(credential, at, () => this.asked.get(name) === asked) }
    this.asked.set(name, asked)
    const done = () => {
      if (this.asked.get(name) === asked) this.asked.delete(name)
    }
    asked.answer.then(done, done)
    return asked.answer
  }

  // Stores the result, unless a later look-up has stored its own.
  private async load(credential: Credential, askedAt: number, isLatest: () => boolean): Promise<Caller | undefined> {
    const found = await this.lookUps.submit(credential)
    if (found?.isUseOld) await noteUse(this.control, credential)
    if (isLatest()) this.keep(credential, askedAt, found)
    return found && callerOf(found)
  }

  /** Stores a found caller. Invented credentials take no memory. */
  private keep({ kind, hash }: Credential, askedAt: number, found: KnownCaller | undefined): void {
    this.entries.delete(hash)
    if (found === undefined) return
    if (this.entries.size >= limits.callersKnown) {
      for (const oldest of this.entries.keys()) {
        this.entries.delete(oldest)
        break
      }
    }
    const trustedUntil = askedAt + Math.min(limits.callersTrustedMs, found.remainingMs)
    this.entries.set(hash, { ...found, kind, askedAt, trustedUntil })
  }
}

function callerOf({ caller, isFrozen }: KnownCaller): Caller {
  if (isFrozen) throw new Refusal('applicationFrozen', caller.kind === 'application' ? { appId: caller.appId } : {})
  return caller
}
