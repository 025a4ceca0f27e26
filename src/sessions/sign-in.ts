import { hash, verify } from '@node-rs/argon2'
import type { Sql } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { hashSecret, newSecret, sessionCookie } from '../http/authenticate.ts'
import { JsonText, type OperationRequest } from '../http/serve.ts'
import { type Account, findAccount } from '../operators/store.ts'
import type { Platform } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import * as store from './store.ts'

/** argon2id with the parameters that RFC 9106 and OWASP name for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** What an unknown name's password is compared with, so that it takes as long as a known one's. */
let decoy: Promise<string> | undefined

const longestSessionSeconds = store.longestSessionDays * 86_400

export function hashPassword(password: string): Promise<string> {
  return hash(password, hashing)
}

/** The account that a name and a password fit. Throws 10031 and 10007. */
export async function checkPassword(sql: Sql, name: string, password: string): Promise<Account> {
  await store.countAttempt(sql, name)
  const account = await findAccount(sql, name)
  decoy ??= hashPassword(newSecret())
  const fits = await verify(account?.passwordHash ?? (await decoy), password)
  if (account === undefined || !fits) throw new Refusal('signInFailed')
  await store.forgetAttempts(sql, name)
  return account
}

/** Begins a session and answers it, with its cookie. Throws 10031 for a holder that was shut out meanwhile. */
export async function beginSession(
  { sql, config, showMoment }: Platform,
  holder: store.SessionHolder,
  header: OperationRequest['header'],
): Promise<JsonText> {
  const token = newSecret()
  const settingKeyHash = config.operatorKey === undefined ? null : hashSecret(config.operatorKey)
  const userAgent =
    header('user-agent')
      ?.replace(/[\p{Cc}\p{Cs}]/gu, '')
      .slice(0, 255) ?? null
  const record = await transaction(sql, async (tx) => {
    await store.insertSession(tx, holder, hashSecret(token), userAgent)
    const acting = await store.findSession(tx, hashSecret(token), settingKeyHash)
    if (acting === undefined || acting.sessionId === null) throw new Refusal('signInFailed')
    return store.requireSession(tx, acting.sessionId, showMoment)
  })
  return withCookie(record, token, longestSessionSeconds, header)
}

/** An answer that also takes the session's cookie away. */
export function withoutSession(data: object, header: OperationRequest['header']): JsonText {
  return withCookie(data, '', 0, header)
}

function withCookie(data: object, token: string, maxAgeSeconds: number, header: OperationRequest['header']): JsonText {
  const isSecure = header('x-forwarded-proto') === 'https' || header('origin')?.startsWith('https://')
  const cookie = `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return new JsonText(JSON.stringify(data), {
    'set-cookie': isSecure ? `${cookie}; Secure` : cookie,
    'cache-control': 'no-store',
  })
}
