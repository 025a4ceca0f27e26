import { GroupCommit } from '../database/group-commit.ts'
import type { Sql } from '../database/open.ts'
import type { Peers } from '../runtime/peer-processes.ts'
import { limits } from '../vocabulary/limits.ts'
import { Refusal, tokenInvalid } from '../vocabulary/refusals.ts'
import type { Caller } from './caller.ts'
import type { Credential } from './credentials.ts'
import { requireStillActingFor } from './permissions.ts'
import { findCallers, type KnownCaller, noteUse, type SessionRules } from './store.ts'

/** An entry in use is looked up again after this time, before it expires, so that no request waits. */
const renewAfterMs = 450

interface Entry extends KnownCaller {
  kind: Credential['kind']
  askedAt: number
  /** Until when the entry is trusted, by this process's monotonic clock. */
  trustedUntil: number
}

/** A look-up that is under way. */
interface Asked {
  at: number
  answer: Promise<Caller | undefined>
}

/**
 * The key under which changes of operators' access are stored; changes of an application's access are stored under its
 * id.
 */
export const operators = ''

/**
 * Callers in memory by their credentials. Nearly every request finds its caller here. An entry is at most a second old,
 * and one query looks up the callers of many requests.
 */
export class CallerCache {
  private readonly peers: Peers
  /** For reads that wait for no lock: transactions that hold locks wait for them. */
  private readonly pool: Sql
  private readonly control: Sql
  private readonly entries = new Map<string, Entry>()
  private readonly asked = new Map<string, Asked>()
  private readonly lookUps: GroupCommit<Credential, KnownCaller | undefined>
  /**
   * When access last changed, by application id, or for all operators under `operators`. Entries that no longer matter
   * are removed.
   */
  private readonly changes = new Map<string, number>()
  private changedAt = Number.NEGATIVE_INFINITY

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

  /** Returns the credential's caller; undefined for an unknown one. Throws 10005 for a frozen application. */
  check(credential: Credential): Caller | undefined | Promise<Caller | undefined> {
    const now = performance.now()
    const entry = this.entries.get(credential.hash)
    if (entry?.kind !== credential.kind || now >= entry.trustedUntil || !this.isUnchanged(entry)) {
      return this.lookUp(credential, this.changedAt)
    }
    // A failed look-up is ignored here; the next request that needs its result reports it.
    if (now - entry.askedAt > renewAfterMs) this.lookUp(credential, this.changedAt).catch(() => {})
    return callerOf(entry)
  }

  /** As `check`, by a look-up that begins now. */
  checkAnew(credential: Credential): Promise<Caller | undefined> {
    return this.lookUp(credential, performance.now())
  }

  /**
   * Reports a change to all processes of this machine: when this resolves, it is in force in all of them. Other
   * machines see it within 1 s.
   */
  async noteChange(whose: string): Promise<void> {
    this.forget(whose)
    await this.peers.ask('access', whose)
  }

  /** As `present`, also that the caller still has every application that it had. */
  async requireAccess(caller: Caller): Promise<Caller> {
    const now = await this.present(caller)
    requireStillActingFor(caller, now, undefined)
    return now
  }

  /**
   * Returns a caller with its present rights; changes committed before this call count. Throws 10002, 10003, 10005 and 10034
   * for one that may not make its request any more.
   */
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
    if (this.changes.size < 1000) return
    for (const [name, at] of this.changes) if (now - at > limits.callersTrustedMs) this.changes.delete(name)
  }

  private isUnchanged({ caller, askedAt }: Entry): boolean {
    const changedAt = this.changes.get(caller.kind === 'application' ? caller.appId : operators)
    return changedAt === undefined || askedAt > changedAt
  }

  /** Asks the database once for all requests with the same credential; only look-ups that began after `since` count. */
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

  // Stores the result of a look-up, unless a later look-up has already stored its own.
  private async load(credential: Credential, askedAt: number, isLatest: () => boolean): Promise<Caller | undefined> {
    const found = await this.lookUps.submit(credential)
    if (found?.isUseOld) await noteUse(this.control, credential)
    if (isLatest()) this.keep(credential, askedAt, found)
    return found && callerOf(found)
  }

  /** Stores a found caller; invented credentials take no memory. */
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
