import { operators } from '../../callers/cache.ts'
import type { OperatorCaller } from '../../callers/caller.ts'
import { hashSecret } from '../../callers/credentials.ts'
import { findKeys, noteUse } from '../../callers/store.ts'
import { writeOnce } from '../../callers/write-once.ts'
import type { Context } from '../../context.ts'
import type { Statements } from '../../database/open.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import type { JsonText } from '../../http/answer.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import type { SecretBox } from '../../secrets/box.ts'
import { sealedFor } from '../../secrets/store.ts'
import { type FieldFault, invalidField, invalidRequest, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { beginPasskeySignIn } from '../second-factor/passkeys.ts'
import { hasPasskey } from '../second-factor/store.ts'
import { attemptFrom, judged } from '../sign-in-attempts/store.ts'
import * as contract from './contract.ts'
import { type Credentials, isPasskeyGiven, requireCode, requirePasskey, requireProof } from './proof.ts'
import { beginSession, checkPassword, type Source, withMark, withoutSession } from './sign-in.ts'
import * as store from './store.ts'

/** Where a provider ends its own session. */
interface SignOutPages {
  endSessionUrl(idToken: string | null): Promise<string | null>
}

export function sessionRoutes(context: Context, provider: SignOutPages | undefined): Handler[] {
  const { sql, callers, rules, metrics, config } = context
  const { settingKeyHash } = rules

  async function checkKey(operatorKey: string, source: Source): Promise<store.SessionHolder> {
    const keyHash = hashSecret(operatorKey)
    if (keyHash === settingKeyHash) return { operatorId: null, operatorKeyId: null, settingKeyHash }
    const key = await judged(sql, attemptFrom(source.sourceAddress()), async () => {
      const found = (await findKeys(sql, [keyHash])).get(keyHash)
      if (found === undefined) throw new Refusal('signInFailed')
      return found
    })
    if (rules.factorRoles.includes(key.caller.role)) throw new Refusal('secondFactorSetUpRequired')
    if (key.isUseOld) await noteUse(sql, { kind: 'key', hash: keyHash })
    return { operatorId: null, operatorKeyId: key.caller.operatorKeyId, settingKeyHash: null }
  }

  async function signIn(body: Credentials, source: Source): Promise<JsonText> {
    const [name, password, operatorKey] = [given(body.name), given(body.password), given(body.operatorKey)]
    if (operatorKey !== null) {
      return beginSession(context, { ...(await checkKey(operatorKey, source)), method: 'operatorKey' }, source)
    }
    if (isPasskeyGiven(body)) {
      const { operatorId, passkeyId } = await requirePasskey(context, body, source)
      const session = { operatorId, operatorKeyId: null, settingKeyHash: null, method: 'passkey' } as const
      return beginSession(context, session, source, (tx) => hasPasskey(tx, operatorId, passkeyId))
    }
    if (name === null || password === null) throw invalidRequest(missing({ name, password }))
    const account = await checkPassword(context, { name, password }, source, async (account) => {
      if (config.passwords === 'admins' && account.role !== 'admin') throw new Refusal('passwordSignInOff')
      if (account.hasFactor) await requireCode(context, account, given(body.code), source)
    })
    const method = account.hasFactor ? 'password+code' : 'password'
    const session = { operatorId: account.id, operatorKeyId: null, settingKeyHash: null, method } as const
    return beginSession(context, session, source, (tx) => store.isUnchanged(tx, account))
  }

  async function signOutUrlOf(operatorId: number | null, idToken: string | null | undefined): Promise<string | null> {
    if (provider === undefined || idToken === undefined || operatorId === null) return null
    const opened = idToken === null ? null : openSealed(context.secrets, operatorId, idToken)
    return provider.endSessionUrl(opened)
  }

  return [
    handle(contract.createSession, async ({ body, ...source }) => {
      try {
        const session = await signIn(body, source)
        metrics.countSignIn('succeeded')
        return session
      } catch (error) {
        const refusal = error instanceof Refusal ? error.refusal : undefined
        if (refusal === 'signInFailed') metrics.countSignIn('refused')
        if (refusal === 'tooManyRequests') metrics.countSignIn('locked')
        throw error
      }
    }),

    handle(contract.startPasskeySession, () => beginPasskeySignIn(context)),

    handle(contract.getSession, async ({ caller, ...source }) => {
      const { sessionId, operatorId, name, role, applications } = caller as OperatorCaller
      if (sessionId !== null) {
        const session = await store.requireOwnSession(sql, sessionId, context)
        return operatorId === null ? session : withMark(context.cookies, session, source)
      }
      return { id: null, operatorId, name, role, appIds: applications && [...applications], ...noSessionMembers }
    }),

    handle(contract.confirmSession, async ({ caller, body, ...source }) => {
      const { sessionId } = caller as OperatorCaller
      if (sessionId === null) throw new Refusal('notPermitted')
      const proving = { caller: caller as OperatorCaller, sessionId }
      const { factor, isProof } = await requireProof(context, proving, body, source)
      await source.pending.transaction(sql, async (tx) => {
        if (isProof) await store.noteProof(tx, sessionId)
        if (factor !== null) await store.noteShown(tx, sessionId, factor)
      })
      await callers.noteChange(operators)
      return store.requireSession(sql, sessionId, context)
    }),

    handle(contract.getSettings, async () => {
      const { timeZone, mapTileUrl = null, inventoryPolicy, presenceSeconds, privateCallbacks } = config
      const coordinateSystem = config.coordinates
      return { timeZone, mapTileUrl, inventoryPolicy, presenceSeconds, coordinateSystem, privateCallbacks }
    }),

    handle(contract.deleteSession, async ({ actor, body, ...request }) => {
      const caller = request.caller as OperatorCaller
      const { sessionId, operatorId } = caller
      const isAdmin = seesAll(caller)
      const id = given(body.id) ?? sessionId
      if (id === null) {
        throw invalidField('id', 'is required when the caller has no session', '无会话的调用方必须指定')
      }
      const isOwn = id === sessionId
      // A key may end only the session in which it is used.
      if (!isOwn && !isAdmin && operatorId === null) throw new Refusal('sessionNotFound')
      let idToken: string | null | undefined
      const ended = await writeOnce(sql, request, async (tx) => {
        if (isOwn) idToken = await store.findIdToken(tx, id)
        const data = await store.deleteSession(tx, id, isOwn || isAdmin ? null : operatorId, context)
        if (data === undefined) return undefined
        const address = request.sourceAddress()
        await insertPlatformEvent(tx, { type: 'session.ended', actor, subject: id, address, data })
        if (data.operatorId !== operatorId) await requireSeesAll(tx, caller)
        return { ended: true, signOutUrl: null }
      })
      await callers.noteChange(operators)
      if (isOwn) {
        const signOutUrl = await signOutUrlOf(operatorId, idToken)
        return withoutSession(context.cookies, { ended: false, ...ended, signOutUrl }, request)
      }
      if (ended === undefined) throw new Refusal('sessionNotFound')
      return ended
    }),

    read(contract.pageSessions, ({ sql, caller, query }) => {
      const { operatorId, sessionId } = caller as OperatorCaller
      const requested = given(query.operatorId)
      if (seesAll(caller as OperatorCaller)) {
        return store.pageOfSessions(sql, { ...query, operatorId: requested, sessionId: null }, context)
      }
      // A caller without an account (a key) sees only its current session.
      const own =
        operatorId === null ? { operatorId: null, sessionId: sessionId ?? 0 } : { operatorId, sessionId: null }
      return store.pageOfSessions(sql, { ...query, ...own }, context)
    }),
  ]
}

/** An admin's session that lacks its factor sees and ends only those of its account. */
const seesAll = ({ role, lacks }: OperatorCaller) => role === 'admin' && lacks === null

/** Once locks have been waited for. Throws 10002, 10003, 10034 and 10053. */
async function requireSeesAll(tx: Statements, caller: OperatorCaller): Promise<void> {
  if (!seesAll((await caller.requireStanding?.(tx)) ?? caller)) throw new Refusal('sessionNotFound')
}

const noSessionMembers = {
  ...{ userAgent: null, address: null, createTime: null, seenTime: null, expireTime: null },
  ...{ method: null, isLimited: false, confirmedUntil: null },
  ...{ source: null, isLinked: false, hasPassword: false },
}

/** Null if it cannot be opened, for example because its encryption key is no longer held. */
function openSealed(secrets: SecretBox, operatorId: number, sealed: string): string | null {
  try {
    return secrets.openOnce(sealedFor(operatorId), sealed)
  } catch {
    return null
  }
}

function missing(members: Record<string, string | null>): FieldFault[] {
  const reason = {
    en: 'is required unless a passkey or operatorKey is given',
    zh: '未提供通行密钥或 operatorKey 时必填',
  }
  return Object.entries(members).flatMap(([field, value]) => (value === null ? [{ field, reason }] : []))
}
