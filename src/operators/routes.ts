import { hash, verify } from '@node-rs/argon2'
import { transaction } from '../database/transaction.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { hashSecret, newOperatorKey, newSecret, type OperatorCaller, sessionCookie } from '../http/authenticate.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, JsonText, type OperationRequest } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { type FieldFault, invalidRequest, Refusal } from '../refusals.ts'
import { given } from '../values.ts'
import type { OperatorRecord } from './contract.ts'
import * as contract from './contract.ts'
import * as store from './store.ts'

/** argon2id with the parameters that RFC 9106 and OWASP name for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** What an unknown name's password is compared with, so that it takes as long as a known one's. */
let decoy: Promise<string> | undefined

const longestSessionSeconds = store.longestSessionDays * 86_400

export function operatorRoutes(platform: Platform): Handler[] {
  const { sql, operatorAccess, showMoment, readMoment, config } = platform
  const settingKeyHash = config.operatorKey === undefined ? null : hashSecret(config.operatorKey)

  type EventType = 'operator.created' | 'operator.updated' | 'operator.deleted' | 'operator.reset'
  const tell = (tx: Parameters<typeof insertPlatformEvent>[0], type: EventType, actor: string, data: { id: number }) =>
    insertPlatformEvent(tx, { type, time: new Date(), actor, subject: String(data.id), data })

  /** Changes an account under the lock of all, and ends what it may no longer do at once. */
  async function change(id: number, run: (tx: Parameters<typeof insertPlatformEvent>[0]) => Promise<void>) {
    const operator = await transaction(sql, async (tx) => {
      await store.lockOperators(tx)
      await run(tx)
      return store.requireOperator(tx, id, showMoment)
    })
    operatorAccess.forget()
    return operator
  }

  async function makeSetUp(tx: Parameters<typeof insertPlatformEvent>[0], id: number) {
    const token = newSecret()
    const expiresAt = await store.insertSetUp(tx, id, hashSecret(token))
    return { setUpPath: setUpPath(token), setUpExpireTime: showMoment(expiresAt) }
  }

  /** Begins a session and answers it, with its cookie. */
  async function signIn(holder: store.SessionHolder, header: OperationRequest['header']): Promise<JsonText> {
    const token = newSecret()
    const userAgent =
      header('user-agent')
        ?.replace(/[\p{Cc}\p{Cs}]/gu, '')
        .slice(0, 255) ?? null
    const record = await transaction(sql, async (tx) => {
      await store.insertSession(tx, holder, hashSecret(token), userAgent)
      const acting = await store.findSession(tx, hashSecret(token), settingKeyHash)
      // Disabled or revoked at this very moment.
      if (acting === undefined || acting.sessionId === null) throw new Refusal('signInFailed')
      return store.requireSession(tx, acting.sessionId, showMoment)
    })
    return withCookie(record, token, longestSessionSeconds, header)
  }

  /** The account that a name and a password fit. Throws 10031 and 10007. */
  async function checkPassword(name: string, password: string): Promise<store.Account> {
    await store.countAttempt(sql, name)
    const account = await store.findAccount(sql, name)
    decoy ??= hash(newSecret(), hashing)
    const fits = await verify(account?.passwordHash ?? (await decoy), password)
    if (account === undefined || !fits) throw new Refusal('signInFailed')
    await store.forgetAttempts(sql, name)
    return account
  }

  async function checkKey(operatorKey: string): Promise<store.SessionHolder> {
    const keyHash = hashSecret(operatorKey)
    if (keyHash === settingKeyHash) return { operatorId: null, operatorKeyId: null, settingKeyHash }
    const known = await store.findKey(sql, keyHash)
    if (known === undefined) throw new Refusal('signInFailed')
    return { operatorId: null, operatorKeyId: known.keyId, settingKeyHash: null }
  }

  return [
    handle(contract.createOperator, async ({ body, actor }) => {
      const { name, role } = body
      const appIds = membershipsOf(role, given(body.appIds))
      const password = given(body.password)
      const passwordHash = password === null ? null : await hash(password, hashing)
      return transaction(sql, async (tx) => {
        await store.lockOperators(tx)
        const id = await store.insertOperator(tx, { name, role, passwordHash })
        await store.replaceMemberships(tx, id, appIds)
        const operator = await store.requireOperator(tx, id, showMoment)
        await tell(tx, 'operator.created', actor, operator)
        const setUp = passwordHash === null ? await makeSetUp(tx, id) : noSetUp
        return { ...operator, ...setUp }
      })
    }),

    handle(contract.updateOperator, async ({ body, actor, header }) => {
      const operator = await change(body.id, async (tx) => {
        const before = await store.requireOperator(tx, body.id, showMoment)
        requireMatch(header('if-match'), etagOf(before))
        const { id, appIds, ...members } = body
        const after = { ...before, ...members }
        if (before.role === 'admin' && !isActiveAdmin(after)) await store.requireOtherAdmin(tx, id)
        await store.updateOperator(tx, id, members)
        await store.replaceMemberships(tx, id, membershipsOf(after.role, wishedMemberships(before, after, appIds)))
        if (after.status !== 1) await store.deleteSessionsOf(tx, id, null)
        await tell(tx, 'operator.updated', actor, await store.requireOperator(tx, id, showMoment))
      })
      return tagged(operator)
    }),

    handle(contract.deleteOperator, async ({ body, actor }) => {
      const operator = await transaction(sql, async (tx) => {
        await store.lockOperators(tx)
        const before = await store.requireOperator(tx, body.id, showMoment)
        if (before.role === 'admin') await store.requireOtherAdmin(tx, body.id)
        await store.deleteOperator(tx, body.id)
        await tell(tx, 'operator.deleted', actor, before)
        return before
      })
      operatorAccess.forget()
      return operator
    }),

    handle(contract.resetOperator, async ({ body, actor }) => {
      let setUp = {} as Awaited<ReturnType<typeof makeSetUp>>
      const operator = await change(body.id, async (tx) => {
        const before = await store.requireOperator(tx, body.id, showMoment)
        if (before.role === 'admin' && before.isSetUp) await store.requireOtherAdmin(tx, body.id)
        await store.updateOperator(tx, body.id, { passwordHash: null })
        await store.deleteSessionsOf(tx, body.id, null)
        await store.deleteSetUps(tx, body.id)
        setUp = await makeSetUp(tx, body.id)
        await tell(tx, 'operator.reset', actor, before)
      })
      return { ...operator, ...setUp }
    }),

    handle(contract.setUpOperator, async ({ body, header }) => {
      const passwordHash = await hash(body.password, hashing)
      const name = given(body.name)
      const operatorId = await transaction(sql, async (tx) => {
        await store.lockOperators(tx)
        const id = await store.takeSetUp(tx, hashSecret(body.setUpToken))
        await store.updateOperator(tx, id, { passwordHash, ...(name === null ? {} : { name }) })
        await store.deleteSetUps(tx, id)
        const operator = await store.requireOperator(tx, id, showMoment)
        await tell(tx, 'operator.updated', `operator:${operator.name}`, operator)
        return id
      })
      return signIn({ operatorId, operatorKeyId: null, settingKeyHash: null }, header)
    }),

    handle(contract.changePassword, async ({ body, caller }) => {
      const { operatorId, sessionId, name } = caller as OperatorCaller
      if (operatorId === null) throw new Refusal('operatorNotFound')
      await checkPassword(name, body.password)
      const passwordHash = await hash(body.newPassword, hashing)
      return change(operatorId, async (tx) => {
        await store.updateOperator(tx, operatorId, { passwordHash })
        await store.deleteSessionsOf(tx, operatorId, sessionId)
      })
    }),

    handle(contract.getOperator, async ({ query }) => tagged(await store.requireOperator(sql, query.id, showMoment))),

    handle(contract.pageOperators, ({ query }) => store.pageOfOperators(sql, query, showMoment)),

    handle(contract.createOperatorKey, async ({ body, actor }) => {
      const operatorKey = newOperatorKey()
      const expireTime = given(body.expireTime)
      const expiresAt = expireTime === null ? null : readMoment(expireTime)
      if (expiresAt !== null && expiresAt.getTime() <= Date.now()) throw invalidRequest([pastExpiry])
      const { name, role } = body
      const created = await transaction(sql, async (tx) => {
        const key = { name, role, keyHash: hashSecret(operatorKey), createdBy: actor, expiresAt }
        const record = await store.insertOperatorKey(tx, key, showMoment)
        const event = { time: new Date(), actor, subject: String(record.id), data: record }
        await insertPlatformEvent(tx, { type: 'operatorKey.created', ...event })
        return record
      })
      return { ...created, operatorKey }
    }),

    handle(contract.deleteOperatorKey, async ({ body, actor }) => {
      const deleted = await transaction(sql, async (tx) => {
        const data = await store.deleteOperatorKey(tx, body.id, showMoment)
        const event = { time: new Date(), actor, subject: String(body.id), data }
        await insertPlatformEvent(tx, { type: 'operatorKey.deleted', ...event })
        return data
      })
      operatorAccess.forget()
      return deleted
    }),

    handle(contract.pageOperatorKeys, ({ query }) => store.pageOfOperatorKeys(sql, query, showMoment)),

    handle(contract.createSession, async ({ body, header }) => {
      const [name, password, operatorKey] = [given(body.name), given(body.password), given(body.operatorKey)]
      if (operatorKey !== null) return signIn(await checkKey(operatorKey), header)
      if (name === null || password === null) throw invalidRequest(missing({ name, password }))
      const { id } = await checkPassword(name, password)
      return signIn({ operatorId: id, operatorKeyId: null, settingKeyHash: null }, header)
    }),

    handle(contract.getSession, async ({ caller }) => {
      const { sessionId, operatorId, name, role, applications } = caller as OperatorCaller
      if (sessionId !== null) return store.requireSession(sql, sessionId, showMoment)
      const nothing = { userAgent: null, createTime: null, seenTime: null, expireTime: null }
      return { id: null, operatorId, name, role, appIds: applications && [...applications], ...nothing }
    }),

    handle(contract.getSettings, async () => {
      const { timeZone, mapTileUrl = null, inventoryPolicy, presenceSeconds, privateCallbacks } = config
      return { timeZone, mapTileUrl, inventoryPolicy, presenceSeconds, privateCallbacks }
    }),

    handle(contract.deleteSession, async ({ caller, body, header }) => {
      const { sessionId, operatorId, role } = caller as OperatorCaller
      const id = given(body.id) ?? sessionId
      if (id === null) throw invalidRequest([noSession])
      const isOwn = id === sessionId
      // A key has no sessions but the one that it is used in.
      if (!isOwn && role !== 'admin' && operatorId === null) throw new Refusal('sessionNotFound')
      const ended = await store.deleteSession(sql, id, isOwn || role === 'admin' ? null : operatorId)
      operatorAccess.forget()
      if (!ended && !isOwn) throw new Refusal('sessionNotFound')
      return isOwn ? withCookie({ ended }, '', 0, header) : { ended }
    }),

    handle(contract.pageSessions, ({ caller, query }) => {
      const { operatorId, sessionId, role } = caller as OperatorCaller
      const wished = given(query.operatorId)
      if (role === 'admin')
        return store.pageOfSessions(sql, { ...query, operatorId: wished, sessionId: null }, showMoment)
      // One without an account sees the session that it is in, if it is in one.
      const own =
        operatorId === null ? { operatorId: null, sessionId: sessionId ?? 0 } : { operatorId, sessionId: null }
      return store.pageOfSessions(sql, { ...query, ...own }, showMoment)
    }),
  ]
}

function isActiveAdmin({ role, status }: Pick<OperatorRecord, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 1
}

/** Those that are given; else the ones until now, which end with the role of a developer. */
function wishedMemberships(before: OperatorRecord, after: { role: string }, appIds: string[] | null | '' | undefined) {
  if (appIds !== undefined) return given(appIds)
  return after.role === 'developer' ? before.appIds : []
}

const noSetUp = { setUpPath: null, setUpExpireTime: null }

/** Where a set-up link leads. The token stands behind #, so that no log and no referrer has it. */
function setUpPath(token: string): string {
  return `/console/set-up#${token}`
}

/** Makes a set-up link for the first admin while nobody can sign in; undefined when someone can. */
export async function makeFirstSetUp({ sql, config }: Platform): Promise<string | undefined> {
  if (config.operatorKey !== undefined) return undefined
  return transaction(sql, async (tx) => {
    await store.lockOperators(tx)
    if (await store.hasOperators(tx)) return undefined
    const token = newSecret()
    await store.insertSetUp(tx, await store.ensureFirstOperator(tx), hashSecret(token))
    return setUpPath(token)
  })
}

/** Only developers are members of applications. Throws 10001 for others who are to be. */
function membershipsOf(role: string, appIds: string[] | null): string[] {
  if (role === 'developer' || appIds === null || appIds.length === 0) return appIds ?? []
  const reason = { en: 'is for developers only', zh: '仅适用于 developer 角色' }
  throw invalidRequest([{ field: 'appIds', reason }])
}

const noSession: FieldFault = {
  field: 'id',
  reason: { en: 'is required of a caller without a session', zh: '无会话的调用方必须指定' },
}
const pastExpiry: FieldFault = { field: 'expireTime', reason: { en: 'must lie in the future', zh: '必须晚于当前时间' } }

function missing(members: Record<string, string | null>): FieldFault[] {
  const reason = { en: 'is required, where no operatorKey is given', zh: '未提供 operatorKey 时必填' }
  return Object.entries(members).flatMap(([field, value]) => (value === null ? [{ field, reason }] : []))
}

function withCookie(data: object, token: string, maxAgeSeconds: number, header: OperationRequest['header']): JsonText {
  const isSecure = header('x-forwarded-proto') === 'https' || header('origin')?.startsWith('https://')
  const cookie = `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return new JsonText(JSON.stringify(data), {
    'set-cookie': isSecure ? `${cookie}; Secure` : cookie,
    'cache-control': 'no-store',
  })
}
