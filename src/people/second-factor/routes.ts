import { requireStanding } from '../../callers/access-control.ts'
import { operators } from '../../callers/cache.ts'
import { actorOf, type Caller, type OperatorCaller } from '../../callers/caller.ts'
import { writeOnce } from '../../callers/write-once.ts'
import type { Context } from '../../context.ts'
import type { Statements } from '../../database/open.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { type Handler, handle, type OperationRequest, read } from '../../http/handler.ts'
import { sealedFor } from '../../secrets/store.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import { lockOperators, requireOperator } from '../operators/store.ts'
import { deleteSessionsOf, forgetBrowsers, noteShown } from '../sessions/store.ts'
import { counted } from './codes.ts'
import * as contract from './contract.ts'
import {
  hashRecoveryCode,
  newGeneratorSecret,
  newRecoveryCodes,
  otpauthUrlOf,
  plainCode,
  stepOfCode,
} from './generator.ts'
import { beginPasskey, checkNewPasskey, requireRoom } from './passkeys.ts'
import * as store from './store.ts'

interface Owner {
  operatorId: number
  name: string
  role: string
  sessionId: number | null
}

type By = Pick<OperationRequest, 'caller' | 'sourceAddress' | 'pending'>

/** Throws 10003 for an operator key and for a session of one. */
function requireOwner(caller: Caller): Owner {
  const { operatorId, name, role, sessionId } = caller as OperatorCaller
  if (operatorId === null) throw new Refusal('notPermitted')
  return { operatorId, name, role, sessionId }
}

class FactorChanges {
  private readonly context: Context

  constructor(context: Context) {
    this.context = context
  }

  async shown(sql: Statements, { operatorId }: Pick<Owner, 'operatorId'>, role: string) {
    const { rules } = this.context
    const isRequired = rules.factorRoles.some((asked) => asked === role)
    return { isRequired, ...(await store.readFactors(sql, operatorId)) }
  }

  log(tx: Statements, type: PlatformEventType, { caller, sourceAddress }: By, owner: Owner, more: object) {
    const { operatorId, name } = owner
    const [actor, address] = [actorOf(caller), sourceAddress()]
    const data = { operatorId, name, ...more }
    return insertPlatformEvent(tx, { type, actor, subject: operatorId, address, data })
  }

  /** Checks under the lock: the session's rights may have changed meanwhile. */
  async lock(tx: Statements, operation: Admission, caller: Caller, { operatorId }: Owner) {
    const account = await store.lockAccount(tx, operatorId)
    await requireStanding(tx, operation, caller, this.context.rules, { holds: true })
    return account
  }

  /** Recovery codes come with the first factor. Throws 10033 if `save` returns undefined: another request was first. */
  async add(
    operation: Admission,
    by: By,
    kind: 'code' | 'passkey',
    save: (tx: Statements, owner: Owner) => Promise<object | undefined>,
  ) {
    const owner = requireOwner(by.caller)
    const added = await by.pending.transaction(this.context.sql, async (tx) => {
      const { role } = await this.lock(tx, operation, by.caller, owner)
      const before = await this.shown(tx, owner, role)
      const told = await save(tx, owner)
      if (told === undefined) throw new Refusal('codeInvalid')
      const isFirst = countOf(before) === 0
      const recoveryCodes = isFirst ? await this.newCodes(tx, owner.operatorId) : null
      if (owner.sessionId !== null) await noteShown(tx, owner.sessionId, kind)
      await this.log(tx, 'secondFactor.added', by, owner, told)
      return { ...(await this.shown(tx, owner, role)), recoveryCodes }
    })
    await this.context.callers.noteChange(operators)
    return added
  }

  async newCodes(tx: Statements, operatorId: number): Promise<string[]> {
    const codes = newRecoveryCodes()
    await store.replaceRecoveryCodes(
      tx,
      operatorId,
      codes.map((code) => hashRecoveryCode(operatorId, code)),
    )
    return codes
  }

  /** Throws 10056 if there is none, and 10057 for the last one of a role that requires one. */
  async remove(
    operation: Admission,
    by: By,
    take: (tx: Statements, operatorId: number) => Promise<object | undefined>,
  ) {
    const owner = requireOwner(by.caller)
    const removed = await by.pending.transaction(this.context.sql, async (tx) => {
      const { role } = await this.lock(tx, operation, by.caller, owner)
      const told = await take(tx, owner.operatorId)
      if (told === undefined) throw new Refusal('secondFactorNotFound')
      const after = await this.shown(tx, owner, role)
      if (countOf(after) === 0) {
        if (after.isRequired) throw new Refusal('lastSecondFactor')
        await store.deleteFactors(tx, owner.operatorId)
      }
      await this.log(tx, 'secondFactor.removed', by, owner, told)
      return this.shown(tx, owner, role)
    })
    await this.context.callers.noteChange(operators)
    return removed
  }
}

const countOf = ({ totp, passkeys }: Pick<contract.SecondFactors, 'totp' | 'passkeys'>) =>
  passkeys.length + (totp === null ? 0 : 1)

export function secondFactorRoutes(context: Context): Handler[] {
  const { sql, secrets, callers } = context
  const changes = new FactorChanges(context)

  return [
    read(contract.getSecondFactors, ({ caller, sql }) => {
      const owner = requireOwner(caller)
      return changes.shown(sql, owner, owner.role)
    }),

    handle(contract.startTotp, async ({ caller, pending }) => {
      const owner = requireOwner(caller)
      const { operatorId, name } = owner
      const secret = newGeneratorSecret()
      await pending.transaction(sql, async (tx) => {
        await changes.lock(tx, contract.startTotp, caller, owner)
        await store.keepDraft(tx, operatorId, secrets.seal(sealedFor(operatorId), secret))
      })
      return { secret, otpauthUrl: otpauthUrlOf(secret, name) }
    }),

    handle(contract.saveTotp, async ({ body, ...by }) => {
      const { operatorId, name } = requireOwner(by.caller)
      let found: { secret: string; step: number } | undefined
      await counted(sql, { operatorId, name, address: by.sourceAddress() }, async () => {
        const draft = await store.findDraft(sql, operatorId)
        if (draft === undefined) {
          // It goes with the account.
          await by.pending.requireStanding()
          return false
        }
        const opened = secrets.openOnce(sealedFor(operatorId), draft.secret)
        const step = stepOfCode(opened, plainCode(body.code), draft.now)
        found = step === undefined ? undefined : { secret: draft.secret, step }
        return found !== undefined
      })
      return changes.add(contract.saveTotp, by, 'code', async (tx) => {
        const isSaved = found !== undefined && (await store.saveGenerator(tx, operatorId, found.secret, found.step))
        return isSaved ? { factor: 'totp' } : undefined
      })
    }),

    handle(contract.deleteTotp, ({ body: _, ...by }) =>
      changes.remove(contract.deleteTotp, by, async (tx, operatorId) =>
        (await store.deleteGenerator(tx, operatorId)) ? { factor: 'totp' } : undefined,
      ),
    ),

    handle(contract.startPasskey, ({ caller }) => beginPasskey(context, requireOwner(caller))),

    handle(contract.savePasskey, async ({ body, ...by }) => {
      const { operatorId } = requireOwner(by.caller)
      const passkey = await checkNewPasskey(context, operatorId, body)
      return changes.add(contract.savePasskey, by, 'passkey', async (tx) => {
        requireRoom((await store.passkeysOf(tx, operatorId)).length)
        const passkeyId = await store.insertPasskey(tx, operatorId, body.name, passkey)
        return passkeyId === undefined ? undefined : { factor: 'passkey', passkeyId, passkeyName: body.name }
      })
    }),

    handle(contract.deletePasskey, ({ body, ...by }) =>
      changes.remove(contract.deletePasskey, by, async (tx, operatorId) => {
        const passkeyName = await store.deletePasskey(tx, operatorId, body.id)
        return passkeyName === undefined ? undefined : { factor: 'passkey', passkeyId: body.id, passkeyName }
      }),
    ),

    handle(contract.renewRecoveryCodes, async ({ caller, sourceAddress, pending }) => {
      const owner = requireOwner(caller)
      return pending.transaction(sql, async (tx) => {
        const { role } = await changes.lock(tx, contract.renewRecoveryCodes, caller, owner)
        if (countOf(await changes.shown(tx, owner, role)) === 0) throw new Refusal('secondFactorNotFound')
        const recoveryCodes = await changes.newCodes(tx, owner.operatorId)
        await changes.log(tx, 'secondFactor.added', { caller, sourceAddress, pending }, owner, {
          factor: 'recoveryCodes',
        })
        return { recoveryCodes }
      })
    }),

    handle(contract.resetSecondFactors, async ({ body, ...by }) => {
      const { id, reason } = body
      if ((by.caller as OperatorCaller).operatorId === id) throw new Refusal('notPermitted')
      const reset = await writeOnce(sql, by, async (tx) => {
        await lockOperators(tx)
        const { name, role } = await requireOperator(tx, id)
        await store.lockAccount(tx, id)
        const owner = { operatorId: id, name, role, sessionId: null }
        const before = await changes.shown(tx, owner, role)
        if (countOf(before) === 0) throw new Refusal('secondFactorNotFound')
        await store.deleteFactors(tx, id)
        await deleteSessionsOf(tx, id, null)
        await forgetBrowsers(tx, id)
        await changes.log(tx, 'secondFactor.reset', by, owner, { reason })
        return requireOperator(tx, id)
      })
      await callers.noteChange(operators)
      return reset
    }),
  ]
}
