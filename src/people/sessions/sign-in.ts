import { operators } from '../../callers/cache.ts'
import { actorOf } from '../../callers/caller.ts'
import type { Cookies } from '../../callers/cookies.ts'
import { hashSecret, newSecret } from '../../callers/credentials.ts'
import { findSessions, longestSessionDays } from '../../callers/store.ts'
import type { Context } from '../../context.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { JsonText } from '../../http/answer.ts'
import type { OperationRequest } from '../../http/handler.ts'
import { sourceNetwork } from '../../http/source-address.ts'
import { Turns } from '../../runtime/turns.ts'
import { limits } from '../../vocabulary/limits.ts'
import { Refusal, type RefusalName, unavailable } from '../../vocabulary/refusals.ts'
import * as attempts from '../sign-in-attempts/store.ts'
import type { SessionRecord } from './contract.ts'
import { hashPassword, isPasswordOf } from './passwords.ts'
import * as store from './store.ts'

/** Compared for an unknown name, so that it takes as long as a known one. */
let decoy: Promise<string> | undefined

export type Source = Pick<OperationRequest, 'header' | 'sourceAddress' | 'pending'>

type FurtherCheck = (account: store.Account, attempt: attempts.Attempt) => Promise<void>

/** Refusals that say nothing against the password. */
const rightPassword: readonly RefusalName[] = ['secondFactorRequired', 'passwordSignInOff']

/**
 * By source. Past the bound, no password begins its transactions: a crowd takes up no connection of the database, and
 * one source leaves turns to others.
 */
const checks = new Turns({
  atOnce: limits.passwordsAtOnce,
  waiting: limits.passwordsWaiting,
  waitingOfOne: limits.passwordsWaitingOfOne,
  full: unavailable,
})

/** Throws 10031, 10007, and 50003 if too many passwords wait. */
export function checkPassword(
  context: Pick<Context, 'sql' | 'cookies'>,
  shown: { name: string; password: string },
  source: Source,
  checkFurther: FurtherCheck = async () => {},
): Promise<store.Account> {
  const { pending } = source
  return checks.run(sourceNetwork(source.sourceAddress()), pending, () => check(context, shown, source, checkFurther))
}

async function check(
  { sql, cookies }: Pick<Context, 'sql' | 'cookies'>,
  { name, password }: { name: string; password: string },
  source: Source,
  checkFurther: FurtherCheck,
): Promise<store.Account> {
  const account = await store.findAccount(sql, name)
  const marks = browserMarks(cookies, source)
  const attempt: attempts.Attempt = {
    name,
    operatorId: account?.id ?? null,
    address: source.sourceAddress(),
    knownBrowser: account === undefined || marks.length === 0 ? null : await store.findBrowser(sql, account.id, marks),
  }
  return attempts.counted(sql, attempt, async () => {
    let fits: boolean
    try {
      decoy ??= hashPassword(newSecret()).catch((error) => {
        decoy = undefined
        throw error
      })
      const passwordHash = account?.passwordHash ?? (await decoy)
      fits = await isPasswordOf(passwordHash, password)
    } catch (error) {
      await attempts.uncountAttempt(sql, attempt)
      throw error
    }
    if (account === undefined || account.passwordHash === null || !fits) {
      await attempts.logRefused(sql, attempt)
      throw new Refusal('signInFailed')
    }
    await checkFurther(account, attempt).catch((error: unknown) => settleRefused(sql, attempt, error))
    await attempts.forgetAttempts(sql, attempt)
    return account
  })
}

/** For a right password whose further check was refused. Throws the error of that check. */
async function settleRefused(sql: Sql, attempt: attempts.Attempt, error: unknown): Promise<never> {
  const refusal = error instanceof Refusal ? error.refusal : undefined
  if (refusal !== undefined && rightPassword.includes(refusal)) await attempts.forgetAttempts(sql, attempt)
  // A refused code counts like a wrong password.
  else if (refusal === 'codeInvalid') await attempts.logRefused(sql, attempt)
  else if (refusal !== 'tooManyRequests') await attempts.uncountAttempt(sql, attempt)
  throw error
}

/**
 * Ends the browser's previous session (`formerHash`, if its cookie does not come) and the account's oldest beyond the
 * limit. `isStill` asks under the account's lock whether what was shown still counts. Throws 10031 if not.
 */
export async function beginSession(
  { sql, callers, cookies, ...shown }: Context,
  holder: Omit<store.NewSession, 'tokenHash' | 'userAgent' | 'address'>,
  source: Source,
  isStill: (tx: Statements) => Promise<boolean> = async () => true,
  formerHash: string | null = null,
): Promise<JsonText> {
  const token = newSecret()
  const tokenHash = hashSecret(token)
  const address = source.sourceAddress()
  const userAgent =
    source
      .header('user-agent')
      ?.replace(/[\p{Cc}\p{Cs}]/gu, '')
      .slice(0, 255) ?? null
  let hasEnded = false
  const begin = async (tx: Statements) => {
    await store.insertSession(tx, { ...holder, tokenHash, userAgent, address })
    const begun = (await findSessions(tx, [tokenHash], shown.rules)).get(tokenHash)?.caller
    if (begun === undefined || begun.sessionId === null || !(await isStill(tx))) throw new Refusal('signInFailed')
    if (holder.operatorId !== null) {
      await store.keepBrowser(tx, holder.operatorId, tokenHash, browserMarks(cookies, source))
    }
    const former = cookies.find(source, 'session')
    const replaced = await store.sessionsReplacedBy(
      tx,
      begun.sessionId,
      holder,
      former === undefined ? formerHash : hashSecret(former),
    )
    const ended = await store.deleteSessions(tx, replaced, shown)
    const data = await store.requireSession(tx, begun.sessionId, shown)
    const by = { actor: actorOf(begun), address }
    await insertPlatformEvent(tx, { type: 'session.created', ...by, subject: data.id, data })
    await tellEnded(tx, ended, by)
    hasEnded = ended.length > 0
    return data
  }
  const record = await transaction(sql, begin, '', source.pending)
  if (hasEnded) await callers.noteChange(operators)
  return withCookies(record, [cookies.set(source, 'session', token, longestSessionDays * daySeconds)])
}

interface By {
  actor: string
  address: string
}

/** Order of locks everywhere: all accounts, one account, its sessions, its factors, and last the log (for an event). */
export async function endSessions(
  tx: Statements,
  ids: readonly number[],
  shown: store.SessionView,
  by: By,
): Promise<void> {
  await tellEnded(tx, await store.deleteSessions(tx, ids, shown), by)
}

async function tellEnded(tx: Statements, ended: readonly SessionRecord[], by: By): Promise<void> {
  for (const data of ended) await insertPlatformEvent(tx, { type: 'session.ended', ...by, subject: data.id, data })
}

const daySeconds = 86_400

/** The browser stays marked. */
export function withoutSession(cookies: Cookies, data: object, source: Source): JsonText {
  return withCookies(data, [cookies.clear(source, 'session'), ...markOf(cookies, source)])
}

/** Marks the browser, unless it is marked; the mark lasts longer than the session. */
export function withMark(cookies: Cookies, data: object, source: Source): JsonText {
  return withCookies(data, markOf(cookies, source))
}

/** The token of a session marks its browser: in the session's cookie, and in a second one that lasts longer. */
function browserMarks(cookies: Cookies, source: Source): string[] {
  const marks = [cookies.find(source, 'session'), cookies.find(source, 'browser')]
  return marks.filter((mark) => mark !== undefined).map(hashSecret)
}

function markOf(cookies: Cookies, source: Source): string[] {
  const token = cookies.find(source, 'session')
  if (token === undefined || token === cookies.find(source, 'browser')) return []
  return [cookies.set(source, 'browser', token, store.browserDays * daySeconds)]
}

function withCookies(data: object, cookies: string[]): JsonText {
  return new JsonText(JSON.stringify(data), { 'cache-control': 'no-store' }, cookies)
}
