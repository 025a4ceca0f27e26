import type { Sql } from '../database/open.ts'
import { hashSecret, type OperatorCaller } from '../http/authenticate.ts'
import type { Peers } from '../process/peers.ts'
import { type Acting, findKey, findSession, noteKeyUse, renewSession } from './store.ts'

/** Operators are few, and what they may do must change within the contract's 1 s on every process. */
const trustedForMs = 500
/** How often what is in use is noted. */
const renewEveryMs = 60_000
const maxEntries = 10_000

interface Entry {
  caller: OperatorCaller | undefined
  until: number
  renewedAt: number
}

/** Who acts by an operator key or a session; each is looked up again after half a second. */
export class OperatorAccess {
  private readonly pool: Sql
  private readonly peers: Peers
  private readonly settingKeyHash: string | null
  private readonly entries = new Map<string, Entry>()

  constructor(pool: Sql, settingKey: string | undefined, peers: Peers) {
    this.pool = pool
    this.peers = peers
    this.settingKeyHash = settingKey === undefined ? null : hashSecret(settingKey)
  }

  /** The caller behind a key, or undefined for one that is not valid. */
  ofKey(keyHash: string): Promise<OperatorCaller | undefined> {
    return this.look(keyHash, async (renewedAt) => {
      const acting = await findKey(this.pool, keyHash)
      if (acting !== undefined && performance.now() - renewedAt > renewEveryMs) await noteKeyUse(this.pool, keyHash)
      return acting && callerOf(acting)
    })
  }

  /** The caller behind a session's cookie, or undefined when it has ended. A session that is used lasts longer. */
  ofSession(tokenHash: string): Promise<OperatorCaller | undefined> {
    return this.look(tokenHash, async (renewedAt) => {
      const acting = await findSession(this.pool, tokenHash, this.settingKeyHash)
      if (acting !== undefined && performance.now() - renewedAt > renewEveryMs) {
        await renewSession(this.pool, tokenHash)
      }
      return acting && callerOf(acting)
    })
  }

  /** Makes all processes of this machine look again at once; others do within half a second. */
  async noteChange(): Promise<void> {
    this.forget()
    await this.peers.ask('access', null)
  }

  /** Makes this process look again at once. */
  forget(): void {
    for (const entry of this.entries.values()) entry.until = 0
  }

  private async look(
    hash: string,
    find: (renewedAt: number) => Promise<OperatorCaller | undefined>,
  ): Promise<OperatorCaller | undefined> {
    const known = this.entries.get(hash)
    const askedAt = performance.now()
    if (known !== undefined && known.until > askedAt) return known.caller
    const renewedAt = known?.renewedAt ?? Number.NEGATIVE_INFINITY
    const caller = await find(renewedAt)
    // Nothing is kept of guesses.
    if (caller === undefined) this.entries.delete(hash)
    else {
      if (this.entries.size >= maxEntries) this.entries.clear()
      const isRenewed = askedAt - renewedAt > renewEveryMs
      this.entries.set(hash, { caller, until: askedAt + trustedForMs, renewedAt: isRenewed ? askedAt : renewedAt })
    }
    return caller
  }
}

/** Who acts, as operations see them. */
export function callerOf({ kind, appIds, ...acting }: Acting): OperatorCaller {
  const applications = appIds === null ? null : new Set(appIds)
  return { kind: 'operator', source: kind, ...acting, applications }
}
