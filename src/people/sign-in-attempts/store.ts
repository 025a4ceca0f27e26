import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { sourceNetwork } from '../../http/source-address.ts'
import type { PlatformEventType } from '../../vocabulary/event-types.ts'
import { limits } from '../../vocabulary/limits.ts'
import { Refusal } from '../../vocabulary/refusals.ts'

// Wrong passwords are counted by who is tried and from where, before the password is looked at.

/** Who is tried, from where. The name alone is kept of nobody: people type passwords into its field. */
export interface Attempt {
  name: string
  /** The account of that name, if there is one. */
  operatorId: number | null
  address: string
  /** The SHA-256 of what a browser holds that this account has signed in from before; null for any other. */
  knownBrowser: string | null
}

interface Limit {
  key: string
  most: number
  what: 'browser' | 'source' | 'nameAndSource' | 'name'
}

/**
 * What an attempt counts for, in the order in which rows are locked. Strangers exhaust none of the limits of a browser
 * that the account has signed in from.
 */
function limitsOf({ name, operatorId, address, knownBrowser }: Attempt): [Limit, ...Limit[]] {
  if (knownBrowser !== null) return [{ key: `browser ${knownBrowser}`, most: 10, what: 'browser' }]
  const who = operatorId === null ? `name ${name.normalize('NFKC').toLowerCase()}` : `account ${operatorId}`
  const source = sourceNetwork(address)
  return [
    { key: `source ${source}`, most: 100, what: 'source' },
    { key: `${source} ${who}`, most: 10, what: 'nameAndSource' },
    { key: who, most: 100, what: 'name' },
  ]
}

const isOver = `a.since < now() - interval '${limits.wrongPasswordMinutes} minutes'`
const secondsLeft = `ceil(extract(epoch from since + interval '${limits.wrongPasswordMinutes} minutes' - now()))::integer`

/** Attempts side by side all count. Throws 10007 with `Retry-After` past a limit, and counts none of those. */
export async function countAttempt(sql: Sql, attempt: Attempt): Promise<void> {
  const passed = await transaction(sql, async (tx) => {
    for (const limit of limitsOf(attempt)) {
      const [row] = await tx`
        insert into sign_in_attempt as a (key, failures, since) values (${limit.key}, 1, now())
        on conflict (key) do update set
          failures = case when ${tx.unsafe(isOver)} then 1 else a.failures + 1 end,
          since = case when ${tx.unsafe(isOver)} then now() else a.since end
        returning failures, ${tx.unsafe(secondsLeft)} as seconds`
      if (row !== undefined && row.failures > limit.most) throw new PastLimit(limit, Math.max(1, row.seconds))
    }
  }).catch((error) => {
    if (error instanceof PastLimit) return error
    throw error
  })
  if (passed === undefined) return
  await tellLocked(sql, attempt, passed)
  throw new Refusal('tooManyRequests', { headers: { 'retry-after': String(passed.seconds) } })
}

class PastLimit extends Error {
  readonly limit: Limit
  readonly seconds: number
  constructor(limit: Limit, seconds: number) {
    super('past a limit')
    this.limit = limit
    this.seconds = seconds
  }
}

/** Whoever knows the password has not been guessing: what they tried before counts for nobody any more. */
export async function forgetAttempts(sql: Sql, attempt: Attempt): Promise<void> {
  await transaction(sql, async (tx) => {
    const limits = limitsOf(attempt)
    const own = limits.find(({ what }) => what === 'nameAndSource' || what === 'browser') ?? limits[0]
    const [row] = await tx`select failures from sign_in_attempt where key = ${own.key}`
    await takeBack(tx, limits, row?.failures ?? 0)
  })
}

/** Takes an attempt back whose password was not looked at. */
export async function uncountAttempt(sql: Sql, attempt: Attempt): Promise<void> {
  await transaction(sql, (tx) => takeBack(tx, limitsOf(attempt), 1))
}

async function takeBack(tx: Statements, limits: Limit[], failures: number): Promise<void> {
  for (const { key } of limits) {
    await tx`update sign_in_attempt set failures = greatest(failures - ${failures}, 0) where key = ${key}`
  }
}

/** Records a sign-in that was refused: at once, but of one name and source at most one event a minute, with a count. */
export async function logRefused(sql: Sql, attempt: Attempt): Promise<void> {
  const limits = limitsOf(attempt)
  // Names that nobody has are told by their source, or made-up ones would each be an event.
  const what = attempt.operatorId === null ? 'source' : 'nameAndSource'
  const { key } = limits.find((limit) => limit.what === what) ?? limits[0]
  await transaction(sql, async (tx) => {
    const [row] = await tx`
      insert into sign_in_attempt as a (key, failures, since, untold, operator_id, address)
      values (${key}, 0, now(), 1, ${attempt.operatorId}, ${attempt.address})
      on conflict (key) do update set
        untold = a.untold + 1, operator_id = excluded.operator_id, address = excluded.address
      returning key, untold, operator_id, address, told_at is null or ${tx.unsafe(isDue)} as is_due`
    if (row?.is_due) await tellUntold(tx, row as Untold)
  })
}

const isDue = `told_at < now() - interval '1 minute'`

interface Untold {
  key: string
  untold: number
  operator_id: number | null
  address: string
}

async function tellUntold(tx: Statements, { key, untold, operator_id, address }: Untold): Promise<void> {
  if (!(await logEvent(tx, 'session.refused', operator_id, address, { count: untold }))) return
  await tx`update sign_in_attempt set untold = 0, told_at = now() where key = ${key}`
}

/** Once a limit is reached, that is told once for as long as it holds. */
async function tellLocked(sql: Sql, { operatorId, address }: Attempt, { limit, seconds }: PastLimit): Promise<void> {
  await transaction(sql, async (tx) => {
    const locked = await tx`
      update sign_in_attempt set locked_at = now()
      where key = ${limit.key} and (locked_at is null or locked_at < since)`
    if (locked.count === 1) await logEvent(tx, 'session.locked', operatorId, address, { limit: limit.what, seconds })
  })
}

/** Answers whether there was room for it. */
async function logEvent(
  tx: Statements,
  type: PlatformEventType,
  operatorId: number | null,
  address: string,
  more: object,
): Promise<boolean> {
  const [told] = await tx`
    insert into sign_in_attempt as a (key, failures, since) values ('told', 1, now())
    on conflict (key) do update set
      failures = case when ${tx.unsafe(isOver)} then 1 else least(a.failures + 1, ${limits.signInEvents + 1}) end,
      since = case when ${tx.unsafe(isOver)} then now() else a.since end
    returning failures`
  if (told?.failures > limits.signInEvents) return false
  const [operator] = await tx`select name from operator where id = ${operatorId}`
  const subject = operatorId === null ? null : String(operatorId)
  const data = { operatorId, name: operator?.name ?? null, ...more }
  await insertPlatformEvent(tx, { type, actor: 'anyone', subject, address, data })
  return true
}

/** Removes, at most `limit`, what counts no more, and tells what was counted meanwhile. */
export async function clearAttempts(tx: Statements, limit: number): Promise<number> {
  // What found no room in an hour is told no more. Rows are skipped, not waited for: who waits holds others.
  const cleared = await tx`
    delete from sign_in_attempt where key in (
      select key from sign_in_attempt as a
      where ${tx.unsafe(isOver)} and (untold = 0 or since < now() - interval '1 hour')
      limit ${limit} for update skip locked)`
  const rows = await tx`
    select key, untold, operator_id, address from sign_in_attempt
    where untold > 0 and ${tx.unsafe(isDue)} limit ${limit} for update skip locked`
  for (const row of rows) await tellUntold(tx, row as unknown as Untold)
  return cleared.count
}
