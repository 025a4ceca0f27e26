import { operators } from '../../callers/cache.ts'
import type { Context } from '../../context.ts'
import type { Statements } from '../../database/open.ts'
import type { Pending } from '../../database/pending.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { sealedFor } from '../../secrets/store.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { limits } from '../../vocabulary/limits.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Role } from '../../vocabulary/roles.ts'
import type { OperatorRecord } from '../operators/contract.ts'
import { changedAccount, nameFaults } from '../operators/rules.ts'
import { deleteSetUps, lockOperators, requireOperator, requireSetUp } from '../operators/store.ts'
import { lockAccount } from '../second-factor/store.ts'
import { beginSession, endSessions, type Source } from '../sessions/sign-in.ts'
import { noteProof, noteProviderProof, requireAccount, requireSession, sessionsOfAccount } from '../sessions/store.ts'
import type { Identity } from './provider.ts'
import { signOnFault } from './provider-faults.ts'
import type { SealedFlow } from './routes.ts'
import { claimAt, namesOf, roleOf } from './rules.ts'
import * as store from './store.ts'

export interface Ended {
  cookies: string[]
  /** The provider confirmed the identity, and our second factor is still required. */
  lacks?: 'secondFactor'
}

/** A link or a confirmation that came back from the provider, for the session that began it. */
export interface Arrival {
  purpose: 'link' | 'confirm'
  sessionId: number
  /** When the flow began, in seconds since 1970. */
  startedAt: number
  who: Pick<Identity, 'issuer' | 'subject' | 'authTime'>
}

/** `checked`: not carried out, because the browser has not shown the session that began it. */
type Extent = 'whole' | 'checked'

/** Tolerated difference between the clocks of provider and service. */
const anewSeconds = 10
const actor = 'platform:signOn'

export class Arrivals {
  private readonly context: Context

  constructor(context: Context) {
    this.context = context
  }

  /** Throws 10052, 10032, 10062 and 10064. */
  async enter({ purpose, setUpHash, formerHash }: SealedFlow, identity: Identity, source: Source): Promise<Ended> {
    const known = await this.takeClaims(identity, source, purpose === 'signIn')
    const operatorId = purpose === 'setUp' ? await this.setUp(setUpHash ?? '', identity, source) : known
    if (operatorId === undefined) throw new Refusal('signOnRefused')
    return this.begin(operatorId, identity, source, formerHash)
  }

  /** Carries a link or a confirmation out, or only checks it. Throws 10002, 10034, 10062, 10064 and 10065. */
  async complete(arrival: Arrival, source: Source, extent: Extent, pending?: Pending): Promise<Ended> {
    const { callers, sql } = this.context
    const run = (tx: Statements) =>
      arrival.purpose === 'link' ? this.link(tx, arrival, source, extent) : this.confirm(tx, arrival, extent)
    const ended = await (pending === undefined
      ? transaction(sql, run, '', source.pending)
      : pending.transaction(sql, run))
    if (extent === 'whole') await callers.noteChange(operators)
    return ended
  }

  private async begin(
    operatorId: number,
    identity: Identity,
    source: Source,
    formerHash: string | null | undefined,
  ): Promise<Ended> {
    const { secrets, config } = this.context
    const { idToken } = identity
    const signOn = {
      hours: config.oidcSessionHours,
      providerSession: identity.sessionId,
      idToken: idToken.length > limits.idTokenKept ? null : secrets.seal(sealedFor(operatorId), idToken),
    }
    const session = { operatorId, operatorKeyId: null, settingKeyHash: null, method: 'signOn', signOn } as const
    const isStill = async (tx: Statements) => (await store.findLinked(tx, identity))?.id === operatorId
    const { cookies = [] } = await beginSession(this.context, session, source, isStill, formerHash ?? null)
    return { cookies }
  }

  /**
   * Updates an account from the provider's claims, whatever the person came for; with `makes`, creates one if they give
   * a role. Throws 10062 for a disabled account, and for one created by sign-on whose claims give no role.
   */
  async takeClaims(identity: Identity, source: Source, makes: boolean): Promise<number | undefined> {
    const { sql, callers } = this.context
    const role = this.roleOf(identity)
    let isChanged = false
    const take = async (tx: Statements) => {
      await lockOperators(tx)
      const account = await store.findLinked(tx, identity)
      if (account === undefined) return makes && role !== undefined ? this.make(tx, identity, role, source) : undefined
      if (account.status !== 1) return 'refused'
      if (account.source === 1) return account.id
      isChanged = true
      if (role === undefined) {
        await this.leave(tx, account, source)
        return 'refused'
      }
      await this.giveRole(tx, account, role, source)
      return account.id
    }
    const taken = await transaction(sql, take, '', source.pending)
    if (isChanged) await callers.noteChange(operators)
    if (taken === 'refused') throw new Refusal('signOnRefused')
    return taken
  }

  private roleOf({ claims }: Identity): Role | undefined {
    const { oidcRoles, oidcRoleClaim } = this.context.config
    return oidcRoles && roleOf(claimAt(claims, oidcRoleClaim), oidcRoles)
  }

  private async make(tx: Statements, identity: Identity, role: Role, source: Source): Promise<number> {
    const names = namesOf(identity.claims, identity.subject, (name) => nameFaults(name).length > 0)
    const id = await store.insertAccount(tx, names, role)
    await store.link(tx, id, identity)
    await this.log(tx, 'operator.created', await this.recordOf(tx, id), source)
    return id
  }

  private async giveRole(tx: Statements, account: store.LinkedAccount, role: Role, source: Source): Promise<void> {
    const { id, hasLeft } = account
    if (role === account.role && !hasLeft) return
    const before = await this.recordOf(tx, id)
    await store.updateAccount(tx, id, role)
    await this.logChange(tx, 'operator.updated', before, source, hasLeft ? false : undefined)
  }

  /** Suspends the account's keys until its claims give a role again. */
  private async leave(tx: Statements, account: store.LinkedAccount, source: Source): Promise<void> {
    await lockAccount(tx, account.id)
    const ids = await sessionsOfAccount(tx, account.id)
    await endSessions(tx, ids, this.context, { actor, address: source.sourceAddress() })
    if (account.hasLeft) return
    const before = await this.recordOf(tx, account.id)
    await store.noteLeft(tx, account.id)
    await this.logChange(tx, 'operator.updated', before, source, true)
  }

  /** Throws 10052, 10064, and 10032 for an account with a second factor, which the provider would bypass. */
  private setUp(setUpHash: string, identity: Identity, source: Source): Promise<number> {
    const setUp = async (tx: Statements) => {
      await lockOperators(tx)
      const { id } = await requireSetUp(tx, setUpHash)
      if ((await requireAccount(tx, id)).hasFactor) throw new Refusal('secondFactorRequired')
      const before = await this.recordOf(tx, id)
      await store.link(tx, id, identity)
      await deleteSetUps(tx, id)
      await this.logChange(tx, 'operator.setUp', before, source)
      return id
    }
    return transaction(this.context.sql, setUp, '', source.pending)
  }

  /** Throws 10002, 10034, 10064 and 10065. */
  private async link(tx: Statements, { sessionId, who }: Arrival, source: Source, extent: Extent): Promise<Ended> {
    await lockOperators(tx)
    const { operatorId, isLimited } = await requireSession(tx, sessionId, this.context)
    if (operatorId === null) throw new Refusal('notPermitted')
    if (isLimited) throw new Refusal('secondFactorSetUpRequired')
    const before = await this.recordOf(tx, operatorId)
    if (before.source === 2) throw new Refusal('managedBySignOn')
    await store.requireLinkable(tx, operatorId, who)
    if (extent === 'checked') return { cookies: [] }
    await store.link(tx, operatorId, who)
    await this.logChange(tx, 'operator.updated', before, source)
    return { cookies: [] }
  }

  /** If our second factor is required too, it must complete the proof. Throws 10002 and `signOnFault`. */
  private async confirm(tx: Statements, { sessionId, startedAt, who }: Arrival, extent: Extent): Promise<Ended> {
    const { rules } = this.context
    const { operatorId } = await requireSession(tx, sessionId, this.context)
    const account = await store.findLinked(tx, who)
    if (account === undefined || account.id !== operatorId)
      throw signOnFault('a different person signed in than the one in the session')
    if (who.authTime === undefined || who.authTime < startedAt - anewSeconds) {
      throw signOnFault('the person didn’t sign in again (auth_time)')
    }
    if (extent === 'checked') return { cookies: [] }
    if (rules.asksFactorAfterSignOn && (await requireAccount(tx, operatorId)).hasFactor) {
      await noteProviderProof(tx, sessionId)
      return { cookies: [], lacks: 'secondFactor' }
    }
    await noteProof(tx, sessionId)
    return { cookies: [] }
  }

  private recordOf(tx: Statements, id: number): Promise<OperatorRecord> {
    return requireOperator(tx, id)
  }

  /** `hasLeft`: the claims no longer give a role, or give one again; the record does not show it. */
  private async logChange(
    tx: Statements,
    type: PlatformEventType,
    before: OperatorRecord,
    source: Source,
    hasLeft?: boolean,
  ): Promise<void> {
    const account = changedAccount(before, await this.recordOf(tx, before.id))
    const left =
      hasLeft === undefined ? account : { ...account, hasLeft, before: { ...account.before, hasLeft: !hasLeft } }
    await this.log(tx, type, left, source)
  }

  private async log(tx: Statements, type: PlatformEventType, data: OperatorRecord, source: Source): Promise<void> {
    const { id, name } = data
    const by = type === 'operator.setUp' ? `operator:${name}#${id}` : actor
    await insertPlatformEvent(tx, { type, actor: by, subject: id, address: source.sourceAddress(), data })
  }
}
