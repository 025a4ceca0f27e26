import { operators } from '../../callers/cache.ts'
import type { Config } from '../../config.ts'
import type { Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { sealedFor } from '../../secrets/store.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Role } from '../../vocabulary/roles.ts'
import type { OperatorRecord } from '../operators/contract.ts'
import { changedAccount, nameFaults } from '../operators/rules.ts'
import { deleteSetUps, lockOperators, requireOperator, requireSetUp } from '../operators/store.ts'
import { lockAccount } from '../second-factor/store.ts'
import { beginSession, endSessions, type SessionParts, type Source } from '../sessions/sign-in.ts'
import { noteProof, requireAccount, requireSession, sessionsOfAccount } from '../sessions/store.ts'
import type { Identity } from './provider.ts'
import { SignOnFault } from './provider-faults.ts'
import type { SealedFlow } from './routes.ts'
import { claimAt, namesOf, roleOf } from './rules.ts'
import * as store from './store.ts'

interface Parts extends SessionParts {
  config: Pick<Config, 'oidcRoles' | 'oidcRoleClaim' | 'oidcSessionHours'>
}

/** The end of a successful sign-on: the cookies for the browser. */
export interface Ended {
  cookies: string[]
}

/** How far the clocks of provider and service may differ when a person must sign in again at the provider. */
const anewSeconds = 10
const actor = 'platform:signOn'

/** Handles a person who comes back from the provider, by the purpose of the flow. */
export class Arrivals {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Throws 10002, 10052, 10062, 10064, 10065 and `SignOnFault`. */
  async take(flow: SealedFlow, identity: Identity, source: Source): Promise<Ended> {
    switch (flow.purpose) {
      case 'link':
        return this.link(flow, identity, source)
      case 'confirm':
        return this.confirm(flow, identity)
      case 'setUp':
        return this.begin(await this.setUp(flow, identity, source), identity, source)
      default:
        return this.begin(await this.admit(identity, source), identity, source)
    }
  }

  private async begin(operatorId: number, identity: Identity, source: Source): Promise<Ended> {
    const { secrets, config } = this.parts
    const signOn = {
      hours: config.oidcSessionHours,
      providerSession: identity.sessionId,
      idToken: secrets.seal(sealedFor(operatorId), identity.idToken),
    }
    const session = { operatorId, operatorKeyId: null, settingKeyHash: null, method: 'signOn', signOn } as const
    const isStill = async (tx: Statements) => (await store.findLinked(tx, identity))?.id === operatorId
    const { cookies = [] } = await beginSession(this.parts, session, source, isStill)
    return { cookies }
  }

  /** The account of a person who signs in, made or changed as the provider says. Throws 10062. */
  private async admit(identity: Identity, source: Source): Promise<number> {
    const { sql, callers } = this.parts
    const role = this.roleOf(identity)
    const admitted = await transaction(sql, async (tx) => {
      await lockOperators(tx)
      const account = await store.findLinked(tx, identity)
      if (account === undefined) return role === undefined ? undefined : this.make(tx, identity, role, source)
      if (account.status !== 1) return undefined
      if (account.source === 1) return account.id
      if (role === undefined) {
        await this.leave(tx, account, source)
        return undefined
      }
      await this.giveRole(tx, account, role, source)
      return account.id
    })
    await callers.noteChange(operators)
    if (admitted === undefined) throw new Refusal('signOnRefused')
    return admitted
  }

  private roleOf({ claims }: Identity): Role | undefined {
    const { oidcRoles, oidcRoleClaim } = this.parts.config
    return oidcRoles && roleOf(claimAt(claims, oidcRoleClaim), oidcRoles)
  }

  private async make(tx: Statements, identity: Identity, role: Role, source: Source): Promise<number> {
    const names = namesOf(identity.claims, identity.subject, (name) => nameFaults(name).length > 0)
    const id = await store.insertAccount(tx, names, role)
    await store.link(tx, id, identity)
    await this.log(tx, 'operator.created', await this.recordOf(tx, id), source)
    return id
  }

  /** Gives an account the role that its claims make now, and lets its keys work again if they were suspended. */
  private async giveRole(tx: Statements, account: store.LinkedAccount, role: Role, source: Source): Promise<void> {
    const { id, hasLeft } = account
    if (role === account.role && !hasLeft) return
    const before = await this.recordOf(tx, id)
    await store.updateAccount(tx, id, role)
    await this.logChange(tx, 'operator.updated', before, source, hasLeft ? false : undefined)
  }

  /** Ends the account's sessions and suspends its keys, until its claims make a role again. */
  private async leave(tx: Statements, account: store.LinkedAccount, source: Source): Promise<void> {
    await lockAccount(tx, account.id)
    const ids = await sessionsOfAccount(tx, account.id)
    await endSessions(tx, ids, this.parts, { actor, address: source.sourceAddress() })
    if (account.hasLeft) return
    const before = await this.recordOf(tx, account.id)
    await store.noteLeft(tx, account.id)
    await this.logChange(tx, 'operator.updated', before, source, true)
  }

  /**
   * Links the account of a set-up link, in place of a password. Throws 10052, 10064, and 10032 for an account with a
   * second factor: otherwise the provider would be a way around that factor.
   */
  private setUp({ setUpHash }: SealedFlow, identity: Identity, source: Source): Promise<number> {
    return transaction(this.parts.sql, async (tx) => {
      await lockOperators(tx)
      const { id } = await requireSetUp(tx, setUpHash ?? '')
      if ((await requireAccount(tx, id)).hasFactor) throw new Refusal('secondFactorRequired')
      const before = await this.recordOf(tx, id)
      await store.link(tx, id, identity)
      await deleteSetUps(tx, id)
      await this.logChange(tx, 'operator.setUp', before, source)
      return id
    })
  }

  /** Links the account of a session. Throws 10002, 10034, 10064 and 10065. */
  private async link({ sessionId }: SealedFlow, identity: Identity, source: Source): Promise<Ended> {
    const { sql, callers } = this.parts
    await transaction(sql, async (tx) => {
      await lockOperators(tx)
      const { operatorId, isLimited } = await requireSession(tx, sessionId ?? 0, this.parts)
      if (operatorId === null) throw new Refusal('notPermitted')
      if (isLimited) throw new Refusal('secondFactorSetUpRequired')
      const before = await this.recordOf(tx, operatorId)
      if (before.source === 2) throw new Refusal('managedBySignOn')
      await store.link(tx, operatorId, identity)
      await this.logChange(tx, 'operator.updated', before, source)
    })
    await callers.noteChange(operators)
    return { cookies: [] }
  }

  /** Gives a session a new proof, because its person has signed in again. Throws 10002 and `SignOnFault`. */
  private async confirm({ sessionId, startedAt }: SealedFlow, identity: Identity): Promise<Ended> {
    const { sql, callers } = this.parts
    await transaction(sql, async (tx) => {
      const { operatorId } = await requireSession(tx, sessionId ?? 0, this.parts)
      const account = await store.findLinked(tx, identity)
      if (account === undefined || account.id !== operatorId)
        throw new SignOnFault('the person who signed in again is not the one of the session')
      if (identity.authTime === undefined || identity.authTime < startedAt - anewSeconds) {
        throw new SignOnFault('the person has not signed in anew (auth_time)')
      }
      await noteProof(tx, sessionId ?? 0)
    })
    await callers.noteChange(operators)
    return { cookies: [] }
  }

  private recordOf(tx: Statements, id: number): Promise<OperatorRecord> {
    return requireOperator(tx, id, this.parts.showMoment)
  }

  /**
   * Writes the event of a change. `hasLeft`, where that changed: whether the claims make no role any more, which the
   * record does not tell.
   */
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
