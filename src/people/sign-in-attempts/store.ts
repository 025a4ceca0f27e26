import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { sourceNetwork } from '../../http/source-address.ts'
import { Turns } from '../../runtime/turns.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { faultKind } from '../../vocabulary/faults.ts'
import { limits } from '../../vocabulary/limits.ts'
import { Refusal, unavailable } from '../../vocabulary/refusals.ts'

// Attempts are counted by name and by source before the password is checked; a right password takes them back. Codes of
// a second factor are counted by account alone, and a right one takes back only itself: somebody who knows the password
// must not gain guesses when the owner signs in.

/** No event holds a name that no account has, because people type passwords into its field. */
export interface Attempt {
  name: string
  operatorId: number | null
  address: string
  /** The SHA-256 of the mark of a browser that this account has signed in from; null for any other browser. */
  knownBrowser: string | null
  /** If not a password: a code of the account, or a credential that counts against its source only. */
  tried?: 'code' | 'credential'
  waitMs?: number
}

/** Attempts of one source or name wait for each other's rows: here, in order, without a database connection. */
const counts = new Turns({ atOnce: limits.attemptsAtOnce, waiting: limits.attemptsWaiting, full: unavailable })
const counting = <Answer>(sql: Sql, run: (tx: Statements) => Promise<Answer>) =>
  counts.run('', undefined, () => transaction(sql, run))

interface Limit {
  key: string
  most: number
  what: 'browser' | 'source' | 'nameAndSource' | 'name' | 'code'
}

/** In the order of locking. A known browser has a limit of its own, so that strangers cannot exhaust it. */
function limitsOf({ name, operatorId, address, knownBrowser, tried }: Attempt): [Limit, ...Limit[]] {
  if (tried === 'code') return [{ key: `code ${operatorId}`, most: limits.wrongCodes, what: 'code' }]
  if (tried === 'credential') return [{ key: `source ${sourceNetwork(address)}`, most: 100, what: 'source' }]
  if (knownBrowser !== null) return [{ key: `browser ${knownBrowser}`, most: 10, what: 'browser' }]
  const who = operatorId === null ? `name ${name.normalize('NFKC').toLowerCase()}` : `account ${operatorId}`
  const source = sourceNetwork(address)
  return [
    { key: `source ${source}`, most: 100, what: 'source' },
    { key: `${source} ${who}`, most: 10, what: 'nameAndSource' },
    { key: who, most: 100, what: 'name' },
  ]
}

const isExpiredSql = `a.since < now() - interval '${limits.wrongPasswordMinutes} minutes'`
const secondsLeftSql = `ceil(extract(epoch from since + interval '${limits.wrongPasswordMinutes} minutes' - now()))::integer`

/** Requests of this process that wait for the results of others, by the limit in their way. */
const waiting = new Map<string, (() => void)[]>()
/** Attempts whose count is settled: right, or not an attempt at all. */
const settled = new WeakSet<Attempt>()

/**
 * Counts an attempt from its beginning; `run` takes the count back unless it failed. An attempt that would be past a
 * limit with those under way waits a little for them. Past a limit, throws 10007 with `Retry-After` and counts nothing.
 */
export async function counted<Result>(sql: Sql, attempt: Attempt, run: () => Promise<Result>): Promise<Result> {
  await enter(sql, attempt)
  const keys = limitsOf(attempt).map(({ key }) => key)
  // There may be room for the next one, too.
  for (const key of keys) wakeOne(key)
  try {
    return await run()
  } finally {
    // If the database is away, it counts as under way for a while.
    if (!settled.has(attempt)) await counting(sql, (tx) => settle(tx, limitsOf(attempt), 0)).catch(() => {})
    for (const key of keys) wakeOne(key)
  }
}

async function enter(sql: Sql, attempt: Attempt): Promise<void> {
  const until = performance.now() + (attempt.waitMs ?? limits.attemptWaitMs)
  for (;;) {
    const passed = await count(sql, attempt)
    if (passed === undefined) return
    const { limit, seconds, isOpen } = passed
    const leftMs = until - performance.now()
    if (isOpen && leftMs > 0) {
      await othersEnd(limit.key, leftMs)
      continue
    }
    wakeOne(limit.key)
    if (!isOpen) await logLocked(sql, attempt, passed)
    throw new Refusal('tooManyRequests', { headers: { 'retry-after': String(isOpen ? 1 : seconds) } })
  }
}

/** The attempts that it waits for may be in other processes, which wake nobody here. */
const lookAgainMs = 200

function othersEnd(key: string, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const others = waiting.get(key) ?? []
    waiting.set(key, others)
    const go = () => {
      clearTimeout(timer)
      others.splice(others.indexOf(go), 1)
      if (others.length === 0) waiting.delete(key)
      resolve()
    }
    const timer = setTimeout(go, mostMs)
    others.push(go)
    if (others.length === 1) wakeFirst(key, others)
  })
}

/** The first looks for all: it wakes the next one once there is room, or no hope. */
function wakeFirst(key: string, others: (() => void)[]): void {
  setTimeout(() => {
    if (waiting.get(key) !== others) return
    wakeFirst(key, others)
    others[0]?.()
  }, lookAgainMs)
}

function wakeOne(key: string): void {
  waiting.get(key)?.[0]?.()
}

const livingSql = 'a.under_way_until > now()'

/** Returns the limit in the way. A password does not wait for the slow sign-ons of its source: its place is scarce. */
function count(sql: Sql, attempt: Attempt): Promise<PastLimit | undefined> {
  return counting(sql, async (tx) => {
    for (const limit of limitsOf(attempt)) {
      const [row] = await tx`
        insert into sign_in_attempt as a (key, failures, since, under_way, under_way_until)
        values (${limit.key}, 1, now(), 1, now() + ${limits.attemptSeconds} * interval '1 second')
        on conflict (key) do update set
          failures = case when ${tx.unsafe(isExpiredSql)} then 1 else a.failures + 1 end,
          since = case when ${tx.unsafe(isExpiredSql)} then now() else a.since end,
          under_way = case when ${tx.unsafe(livingSql)} then a.under_way + 1 else 1 end,
          under_way_until = excluded.under_way_until
        returning failures, failures - under_way + 1 as failed, ${tx.unsafe(secondsLeftSql)} as seconds`
      if (row === undefined || row.failures <= limit.most) continue
      const isOpen = row.failed <= limit.most
      if (isOpen && attempt.tried === undefined && limit.what === 'source') continue
      throw pastLimit({ limit, seconds: Math.max(1, row.seconds), isOpen })
    }
    return undefined
  }).catch((error) => {
    if (pastLimit.is(error)) return error.detail
    throw error
  })
}

interface PastLimit {
  limit: Limit
  seconds: number
  /** Whether it would be within the limit if all attempts under way were right. */
  isOpen: boolean
}

/** Undoes the counting. */
const pastLimit = faultKind<PastLimit>('pastLimit', ({ limit }) => `past the limit of a ${limit.what}`)

/** A right password shows that the person's earlier attempts were not guesses: all of them are taken back. */
export async function forgetAttempts(sql: Sql, attempt: Attempt): Promise<void> {
  await counting(sql, async (tx) => {
    const limits = limitsOf(attempt)
    const own = limits.find(({ what }) => what === 'nameAndSource' || what === 'browser') ?? limits[0]
    const [row] = await tx`select failures from sign_in_attempt where key = ${own.key}`
    await settle(tx, limits, row?.failures ?? 0)
  })
  settled.add(attempt)
}

/** Takes only this attempt back: it was right, or failed for another reason than a wrong credential. */
export async function uncountAttempt(sql: Sql, attempt: Attempt): Promise<void> {
  await counting(sql, (tx) => settle(tx, limitsOf(attempt), 1))
  settled.add(attempt)
}

async function settle(tx: Statements, limits: Limit[], failures: number): Promise<void> {
  for (const { key } of limits) {
    await tx`
      update sign_in_attempt set
        failures = greatest(failures - ${failures}, 0), under_way = greatest(under_way - 1, 0)
      where key = ${key}`
  }
}

/** Logs a credential refused with 10031; any other result takes the count back. Throws 10007 and what `run` throws. */
export function judged<Result>(
  sql: Sql,
  attempt: Attempt,
  run: () => Promise<Result>,
  isWrong: (error: unknown) => boolean = isSignInFailed,
): Promise<Result> {
  return counted(sql, attempt, async () => {
    const result = await run().catch(async (error: unknown) => {
      if (isWrong(error)) await logRefused(sql, attempt)
      else await uncountAttempt(sql, attempt)
      throw error
    })
    await uncountAttempt(sql, attempt)
    return result
  })
}

const isSignInFailed = (error: unknown) => error instanceof Refusal && error.refusal === 'signInFailed'

/** The credential names nobody: it counts against its source alone. */
export const attemptFrom = (address: string, waitMs: number = limits.attemptWaitMs): Attempt => ({
  ...{ name: '', operatorId: null, address, knownBrowser: null, tried: 'credential', waitMs },
})

/** At most one event a minute for a name and source, with a count. */
export async function logRefused(sql: Sql, attempt: Attempt): Promise<void> {
  const limits = limitsOf(attempt)
  // Attempts with unknown names are grouped by source, or each made-up name would be an event.
  const what = attempt.operatorId === null ? 'source' : 'nameAndSource'
  const { key } = limits.find((limit) => limit.what === what) ?? limits[0]
  await counting(sql, async (tx) => {
    const [row] = await tx`
      insert into sign_in_attempt as a (key, failures, since, unlogged_count, operator_id, address)
      values (${key}, 0, now(), 1, ${attempt.operatorId}, ${attempt.address})
      on conflict (key) do update set
        unlogged_count = a.unlogged_count + 1, operator_id = excluded.operator_id, address = excluded.address
      returning key, unlogged_count, operator_id, address, logged_at is null or ${tx.unsafe(isDueSql)} as is_due`
    if (row?.is_due) await logUnlogged(tx, row as Unlogged)
  })
}

const isDueSql = `logged_at < now() - interval '1 minute'`

interface Unlogged {
  key: string
  unlogged_count: number
  operator_id: number | null
  address: string
}

async function logUnlogged(tx: Statements, { key, unlogged_count, operator_id, address }: Unlogged): Promise<void> {
  if (!(await logEvent(tx, 'session.refused', operator_id, address, { count: unlogged_count }))) return
  await tx`update sign_in_attempt set unlogged_count = 0, logged_at = now() where key = ${key}`
}

async function logLocked(sql: Sql, { operatorId, address }: Attempt, { limit, seconds }: PastLimit): Promise<void> {
  await counting(sql, async (tx) => {
    const locked = await tx`
      update sign_in_attempt set locked_at = now()
      where key = ${limit.key} and (locked_at is null or locked_at < since)`
    if (locked.count === 1) await logEvent(tx, 'session.locked', operatorId, address, { limit: limit.what, seconds })
  })
}

/** Returns false once the sign-in events of this period have reached their limit. */
async function logEvent(
  tx: Statements,
  type: PlatformEventType,
  operatorId: number | null,
  address: string,
  more: object,
): Promise<boolean> {
  const [logged] = await tx`
    insert into sign_in_attempt as a (key, failures, since) values ('told', 1, now())
    on conflict (key) do update set
      failures = case when ${tx.unsafe(isExpiredSql)} then 1 else least(a.failures + 1, ${limits.signInEvents + 1}) end,
      since = case when ${tx.unsafe(isExpiredSql)} then now() else a.since end
    returning failures`
  if (logged?.failures > limits.signInEvents) return false
  const [operator] = await tx`select name from operator where id = ${operatorId}`
  const subject = operatorId === null ? null : String(operatorId)
  const data = { operatorId, name: operator?.name ?? null, ...more }
  await insertPlatformEvent(tx, { type, actor: 'anyone', subject, address, data })
  return true
}

/** Deletes at most `limit` attempts, and logs refusals that were not logged yet. */
export async function clearAttempts(tx: Statements, limit: number): Promise<number> {
  // Refusals that could not be logged for an hour are dropped. Locked rows are skipped: waiting would risk a deadlock.
  const cleared = await tx`
    delete from sign_in_attempt where key in (
      select key from sign_in_attempt as a
      where ${tx.unsafe(isExpiredSql)} and (unlogged_count = 0 or since < now() - interval '1 hour')
      limit ${limit} for update skip locked)`
  const rows = await tx`
    select key, unlogged_count, operator_id, address from sign_in_attempt
    where unlogged_count > 0 and ${tx.unsafe(isDueSql)} limit ${limit} for update skip locked`
  for (const row of rows) await logUnlogged(tx, row as unknown as Unlogged)
  return cleared.count
}
