import { operators } from '../../callers/cache.ts'
import type { OperatorCaller } from '../../callers/caller.ts'
import { hashSecret, newOperatorKey, newSecret } from '../../callers/credentials.ts'
import { type KeyedRequest, writeOnce } from '../../callers/write-once.ts'
import type { Context } from '../../context.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { etagOf, requireMatch, tagged } from '../../http/etag.ts'
import { type Handler, handle, type OperationRequest, read } from '../../http/handler.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { readMoment, showMoment } from '../../vocabulary/moments.ts'
import { type FieldFault, fieldFault, invalidField, invalidRequest, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { useCode } from '../second-factor/codes.ts'
import { hashPassword } from '../sessions/passwords.ts'
import { beginSession, checkPassword } from '../sessions/sign-in.ts'
import { deleteSessionsOf, forgetBrowsers, isUnchanged, requireAccount } from '../sessions/store.ts'
import { unlink } from '../sign-on/store.ts'
import { handOverViews } from '../views/store.ts'
import type { OperatorRecord } from './contract.ts'
import * as contract from './contract.ts'
import { changedAccount, nameFaults, passwordFaults } from './rules.ts'
import * as store from './store.ts'

type ActorAndAddress = Pick<OperationRequest, 'actor' | 'sourceAddress'>

export function operatorRoutes(context: Context): Handler[] {
  const { sql, callers, config } = context

  const logEvent = (
    tx: Statements,
    type: PlatformEventType,
    { actor, sourceAddress }: ActorAndAddress,
    data: { id: number; [member: string]: unknown },
  ) => {
    const [subject, address] = [String(data.id), sourceAddress()]
    return insertPlatformEvent(tx, { type, actor, subject, address, data })
  }

  const writeLocked = <Data extends object>(request: KeyedRequest, write: (tx: Statements) => Promise<Data>) =>
    writeOnce(sql, request, async (tx) => {
      await store.lockOperators(tx)
      return write(tx)
    })

  /** Every process then forgets what it remembers of accounts and keys. */
  async function change<Data extends object>(request: KeyedRequest, write: (tx: Statements) => Promise<Data>) {
    const data = await writeLocked(request, write)
    await callers.noteChange(operators)
    return data
  }

  /** Reassigns the keys and views of an account that ends, if a new owner is named. Throws 10001. */
  async function handOver(tx: Statements, by: ActorAndAddress, ending: OperatorRecord, to: number | null) {
    if (to === null) return
    if (ending.status === 1) {
      throw invalidField('handOverTo', 'can be given only if the account is disabled', '仅可在停用账号时填写')
    }
    const { id, name } = ending
    const { name: newOwner, role } = await store.requireHeir(tx, id, to)
    const keys = await store.keysOf(tx, id)
    if (role === 'developer' && keys.length > 0) {
      throw invalidField(
        'handOverTo',
        'is a developer; developers can’t own keys, so choose another account',
        '是 developer，其密钥无法使用：请选择其他账号',
      )
    }
    for (const key of keys) {
      const { after } = await store.replaceKeyOwner(tx, key.id, to)
      await logEvent(tx, 'operatorKey.handedOver', by, after)
    }
    const views = await handOverViews(tx, id, to)
    if (views.length === 0) return
    await logEvent(tx, 'view.handedOver', by, { id, name, newOwner, newOwnerId: to, views })
  }

  /** Returns the account as it is now. */
  async function logChange(tx: Statements, type: PlatformEventType, by: ActorAndAddress, before: OperatorRecord) {
    const after = await store.requireOperator(tx, before.id)
    await logEvent(tx, type, by, changedAccount(before, after))
    return after
  }

  async function makeSetUp(tx: Statements, id: number) {
    const token = newSecret()
    const expiresAt = await store.insertSetUp(tx, id, hashSecret(token))
    return { setUpPath: setUpPath(token), setUpExpireTime: showMoment(expiresAt) }
  }

  return [
    handle(
      contract.createOperator,
      async ({ body, ...by }) => {
        const { name, role } = body
        const appIds = given(body.appIds) ?? []
        const password = given(body.password)
        const passwordHash = password === null ? null : await hashPassword(password)
        const made = await writeLocked(by, async (tx) => {
          const id = await store.insertOperator(tx, { name, role, passwordHash })
          await store.replaceMemberships(tx, id, appIds)
          const operator = await store.requireOperator(tx, id)
          await logEvent(tx, 'operator.created', by, operator)
          const setUp = passwordHash === null ? await makeSetUp(tx, id) : noSetUp
          return { ...operator, ...setUp }
        })
        const { setUpPath, setUpExpireTime, ...record } = made
        return tagged(made, etagOf(record))
      },
      {
        check: ({ name, password, role, appIds }) => [
          ...nameFaults(name),
          ...passwordFaults('password', password, name),
          ...membershipFaults(role, given(appIds)),
        ],
      },
    ),

    handle(
      contract.updateOperator,
      async ({ body, header, ...by }) => {
        const operator = await change(by, async (tx) => {
          const before = await store.requireOperator(tx, body.id)
          requireMatch(header('if-match'), etagOf(before))
          const { id, appIds, name, role, status } = body
          const after = { ...before, role: role ?? before.role, status: status ?? before.status }
          if (before.source === 2 && after.role !== before.role) throw new Refusal('managedBySignOn')
          if (isOwnAdmin(before) && !isActiveAdmin(after)) await store.requireOtherAdmin(tx, id)
          await store.updateOperator(tx, id, { name, role, status })
          const memberships = requestedMemberships(before, after, appIds)
          requireNone(membershipFaults(after.role, memberships))
          await store.replaceMemberships(tx, id, memberships ?? [])
          if (after.status !== 1) await deleteSessionsOf(tx, id, null)
          await handOver(tx, by, after, given(body.handOverTo))
          return logChange(tx, 'operator.updated', by, before)
        })
        return tagged(operator)
      },
      { check: ({ name }) => nameFaults(name) },
    ),

    handle(contract.deleteOperator, ({ body, ...by }) =>
      change(by, async (tx) => {
        const before = await store.requireOperator(tx, body.id)
        if (isOwnAdmin(before)) await store.requireOtherAdmin(tx, body.id)
        await handOver(tx, by, { ...before, status: 2 }, given(body.handOverTo))
        const keys = await store.keysOf(tx, body.id)
        await store.deleteOperator(tx, body.id)
        for (const key of keys) await logEvent(tx, 'operatorKey.deleted', by, key)
        await logEvent(tx, 'operator.deleted', by, before)
        return before
      }),
    ),

    handle(contract.resetOperator, ({ body, ...by }) =>
      change(by, async (tx) => {
        const before = await store.requireOperator(tx, body.id)
        if (before.source === 2) throw new Refusal('managedBySignOn')
        if (isOwnAdmin(before) && before.isSetUp) await store.requireOtherAdmin(tx, body.id)
        await store.updateOperator(tx, body.id, { passwordHash: null })
        // An identity that was linked, perhaps from a stolen session, must not open the account again.
        await unlink(tx, body.id)
        await deleteSessionsOf(tx, body.id, null)
        await forgetBrowsers(tx, body.id)
        const setUp = await makeSetUp(tx, body.id)
        return { ...(await logChange(tx, 'operator.reset', by, before)), ...setUp }
      }),
    ),

    handle(
      contract.setUpOperator,
      async ({ body, header, sourceAddress, pending }) => {
        const tokenHash = hashSecret(body.setUpToken)
        const account = await store.requireSetUp(sql, tokenHash)
        requireNone(passwordFaults('password', body.password, given(body.name) ?? account.name))
        const { hasFactor, role } = await requireAccount(sql, account.id)
        if (config.passwords === 'admins' && role !== 'admin') throw new Refusal('passwordSignInOff')
        const code = given(body.code)
        if (hasFactor && code === null) throw new Refusal('secondFactorRequired')
        const passwordHash = await hashPassword(body.password)
        const holder = { operatorId: account.id, name: account.name, address: sourceAddress() }
        if (hasFactor && code !== null) await useCode(context, holder, code, pending)
        const name = given(body.name)
        const id = await pending.transaction(sql, async (tx) => {
          await store.lockOperators(tx)
          const { id } = await store.requireSetUp(tx, tokenHash)
          // If the account has got a factor meanwhile, the caller has not shown it.
          if ((await requireAccount(tx, id)).hasFactor !== hasFactor) throw new Refusal('secondFactorRequired')
          const before = await store.requireOperator(tx, id)
          await store.updateOperator(tx, id, { passwordHash, ...(name === null ? {} : { name }) })
          await store.deleteSetUps(tx, id)
          const actor = `operator:${name ?? before.name}#${id}`
          await logChange(tx, 'operator.setUp', { actor, sourceAddress }, before)
          return id
        })
        const method = hasFactor ? 'password+code' : 'password'
        const session = { operatorId: id, operatorKeyId: null, settingKeyHash: null, method } as const
        const source = { header, sourceAddress, pending }
        return beginSession(context, session, source, (tx) => isUnchanged(tx, { id, passwordHash, hasFactor }))
      },
      { check: ({ name, password }) => [...nameFaults(name), ...passwordFaults('password', password, name)] },
    ),

    handle(
      contract.changePassword,
      async ({ body, ...by }) => {
        const { operatorId, sessionId, name } = by.caller as OperatorCaller
        if (operatorId === null) throw new Refusal('operatorNotFound')
        if ((await store.requireOperator(sql, operatorId)).source === 2) throw new Refusal('managedBySignOn')
        requireNone(passwordFaults('newPassword', body.newPassword, name))
        await checkPassword(context, { name, password: body.password }, by)
        const passwordHash = await hashPassword(body.newPassword)
        return change(by, async (tx) => {
          const before = await store.requireOperator(tx, operatorId)
          await store.updateOperator(tx, operatorId, { passwordHash })
          await deleteSessionsOf(tx, operatorId, sessionId)
          return logChange(tx, 'operator.passwordChanged', by, before)
        })
      },
      { check: ({ password, newPassword }) => passwordFaults('newPassword', newPassword, null, password) },
    ),

    read(contract.getOperator, async ({ sql, query }) => tagged(await store.requireOperator(sql, query.id))),

    read(contract.pageOperators, ({ sql, query }) => store.pageOfOperators(sql, query)),

    handle(
      contract.createOperatorKey,
      async ({ body, ...by }) => {
        const operatorKey = newOperatorKey()
        const { operatorId, operatorKeyId } = by.caller as OperatorCaller
        const { name, role } = body
        const expireTime = given(body.expireTime)
        const expiresAt = expireTime === null ? inDays(contract.keyDays) : readMoment(expireTime)
        return writeLocked(by, async (tx) => {
          const made = { operatorId, operatorKeyId, createdBy: by.actor, expiresAt }
          const key = { name, role, keyHash: hashSecret(operatorKey), ...made }
          const record = await store.insertOperatorKey(tx, key)
          await logEvent(tx, 'operatorKey.created', by, record)
          return { ...record, operatorKey }
        })
      },
      { check: ({ name, expireTime }) => [...nameFaults(name), ...keyEndFaults(given(expireTime))] },
    ),

    handle(contract.deleteOperatorKey, ({ body, ...by }) =>
      change(by, async (tx) => {
        const data = await store.deleteOperatorKey(tx, body.id)
        await logEvent(tx, 'operatorKey.deleted', by, data)
        return data
      }),
    ),

    handle(contract.handOverOperatorKey, ({ body, ...by }) =>
      change(by, async (tx) => {
        const { before, after } = await store.replaceKeyOwner(tx, body.id, body.operatorId)
        if (after.operatorId !== before.operatorId) await logEvent(tx, 'operatorKey.handedOver', by, after)
        return after
      }),
    ),

    read(contract.pageOperatorKeys, ({ sql, query }) =>
      store.pageOfOperatorKeys(sql, contract.pageOperatorKeys.id, query),
    ),

    read(contract.pageOwnOperatorKeys, async ({ sql, caller, query }) => {
      const { operatorId } = caller as OperatorCaller
      if (operatorId === null) throw new Refusal('notPermitted')
      return store.pageOfOperatorKeys(sql, contract.pageOwnOperatorKeys.id, { ...query, operatorId })
    }),
  ]
}

/** A local admin: one must remain, so that somebody can sign in without the identity provider. */
function isOwnAdmin({ role, source }: Pick<OperatorRecord, 'role' | 'source'>): boolean {
  return role === 'admin' && source === 1
}

function isActiveAdmin({ role, status }: Pick<OperatorRecord, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 1
}

function requestedMemberships(
  before: OperatorRecord,
  after: { role: string },
  appIds: string[] | null | '' | undefined,
) {
  if (appIds !== undefined) return given(appIds)
  return after.role === 'developer' ? before.appIds : []
}

const noSetUp = { setUpPath: null, setUpExpireTime: null }

/** The token follows #, so that neither logs nor referrers contain it. */
function setUpPath(token: string): string {
  return `/console/set-up#${token}`
}

/** Creates a setup link for the first admin; undefined if an account is set up. */
export async function makeFirstSetUp(sql: Sql): Promise<string | undefined> {
  return transaction(sql, async (tx) => {
    await store.lockOperators(tx)
    if (await store.hasOperators(tx)) return undefined
    const token = newSecret()
    await store.insertSetUp(tx, await store.ensureFirstOperator(tx), hashSecret(token))
    return setUpPath(token)
  })
}

function membershipFaults(role: string | undefined, appIds: readonly string[] | null): FieldFault[] {
  if (role === undefined || role === 'developer' || appIds === null || appIds.length === 0) return []
  return [fieldFault('appIds', 'is only for developers', '仅适用于 developer 角色')]
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

function keyEndFaults(expireTime: string | null): FieldFault[] {
  const end = expireTime === null ? inDays(contract.keyDays) : readMoment(expireTime)
  if (end > new Date() && end <= inDays(contract.mostKeyDays)) return []
  const en = `must lie in the future, within ${contract.mostKeyDays} days`
  return [fieldFault('expireTime', en, `必须晚于当前时间，且在 ${contract.mostKeyDays} 天之内`)]
}

function requireNone(faults: FieldFault[]): void {
  if (faults.length > 0) throw invalidRequest(faults)
}
