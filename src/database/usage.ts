import { type Rounds, startRounds } from '../runtime/loop.ts'
import { limits } from '../vocabulary/limits.ts'
import { fieldFault, Refusal } from '../vocabulary/refusals.ts'
import { hasAnswer, type RequestKey } from './idempotency.ts'
import type { Sql, Statements } from './open.ts'
import type { Pruned } from './prune.ts'
import { textArray } from './routine.ts'

// Counts what applications and accounts store besides sites, devices and rules: idempotency keys, platform events,
// price changes and their sites. It is counted by hour in `usage_hour` and limited for 24 hours, together with files
// (src/bulk/room.ts). Keys are counted in memory first, so the write path needs no statement for it.

type Kind = 'key' | 'event' | 'priceChange' | 'priceChangeSite'

export interface Use {
  kind: Kind
  rows: number
  bytes: number
}

export type Used = ReadonlyMap<Kind, { rows: number; bytes: number }>

/** Returns the owner of an actor's uses. Undefined for the settings' key and the platform, which have no limit. */
export function ownerOf(actor: string): string | undefined {
  if (actor.startsWith('application:')) return actor.slice('application:'.length)
  const id = /^operator(?:Key)?:.*#(\d+)$/s.exec(actor)?.[1]
  return id === undefined ? undefined : `operator ${id}`
}

async function addUses(tx: Statements, owner: string, uses: readonly Use[]): Promise<Used> {
  const listed = (member: keyof Use) => textArray(uses.map((use) => use[member]))
  const rows = await tx.unsafe(
    `with added as (
      insert into usage_hour (owner, hour, kind, rows, bytes)
      select $1, date_trunc('hour', now(), 'UTC'), u.kind, u.rows, u.bytes
      from unnest($2::text[], $3::bigint[], $4::bigint[]) as u (kind, rows, bytes)
      on conflict (owner, hour, kind) do update
        set rows = usage_hour.rows + excluded.rows, bytes = usage_hour.bytes + excluded.bytes)
    ${sumsSql}`,
    [owner, listed('kind'), listed('rows'), listed('bytes')],
  )
  // The statement doesn't see its own rows.
  return sumsOf([...rows.map(toUse), ...uses])
}

export async function readUsed(sql: Statements, owner: string): Promise<Used> {
  const rows = await sql.unsafe(sumsSql, [owner])
  return sumsOf(rows.map(toUse))
}

const sumsSql = `select kind, sum(rows)::bigint as rows, sum(bytes)::bigint as bytes from usage_hour
    where owner = $1 and hour > now() - interval '24 hours' group by kind`

const toUse = ({ kind, rows, bytes }: Record<string, unknown>) => ({ kind, rows, bytes }) as Use

function sumsOf(uses: readonly Use[]): Used {
  const sums = new Map<Kind, { rows: number; bytes: number }>()
  for (const { kind, rows, bytes } of uses) {
    const before = sums.get(kind) ?? { rows: 0, bytes: 0 }
    sums.set(kind, { rows: before.rows + rows, bytes: before.bytes + bytes })
  }
  return sums
}

const totalOf = (used: Used, member: 'rows' | 'bytes') =>
  [...used.values()].reduce((sum, { [member]: own }) => sum + own, 0)

/** Throws 10007 past the limit of all kinds. `mostFileBytes` is added, so that files alone refuse no other write. */
export function requireRoomIn(used: Used, fileBytes = 0, mostFileBytes = 0): void {
  if (totalOf(used, 'rows') > limits.usageRows) {
    throw full(
      'appId',
      `the rows of the last 24 hours (idempotency keys, price changes, events in the platform’s log) have reached ${limits.usageRows}`,
      `近 24 小时留下的行数（幂等键、价格变更、平台日志事件）已达 ${limits.usageRows}`,
    )
  }
  const most = limits.usageBytes + mostFileBytes
  if (totalOf(used, 'bytes') + fileBytes > most) {
    throw full(
      'appId',
      `stored files and results, and the idempotency keys, price changes and events of the last 24 hours, take ${most} bytes`,
      `文件与结果以及近 24 小时的幂等键、价格变更和平台日志事件已占 ${most} 字节`,
    )
  }
}

/** Adds uses in their write's transaction. Throws 10007 past the limit of a kind. Returns all uses. */
async function spend(tx: Statements, owner: string, uses: readonly Use[], mostOf: Partial<Record<Kind, number>>) {
  const used = await addUses(tx, owner, uses)
  for (const { kind } of uses) {
    const most = mostOf[kind]
    if (most !== undefined && (used.get(kind)?.rows ?? 0) > most) throw full('appId', ...wordsOf[kind](most))
  }
  return used
}

const wordsOf: Record<Kind, (most: number) => [en: string, zh: string]> = {
  key: (most) => [`${most} idempotency keys in 24 hours is the limit`, `24 小时内幂等键最多 ${most} 个`],
  event: (most) => [
    `${most} events in the platform’s log in 24 hours is the limit (imports, bulk actions, replays, callback tests, rotations, sign-ins)`,
    `24 小时内平台日志事件最多 ${most} 条（导入、批量操作、重新投递、回调测试、密钥轮换、登录）`,
  ],
  priceChange: (most) => [`${most} price changes in 24 hours is the limit`, `24 小时内价格变更最多 ${most} 项`],
  priceChangeSite: (most) => [
    `${most} sites in the price changes of 24 hours is the limit`,
    `24 小时内价格变更涉及的站点最多 ${most} 个`,
  ],
}

/**
 * Counts a platform event. Ends and new secrets have a second allowance, and need no room beside other kinds, so that
 * a caller that used up the first can still cancel, sign out and rotate. Throws 10007.
 */
export async function spendEvent(tx: Statements, owner: string, { bytes, isEnd }: { bytes: number; isEnd: boolean }) {
  const most = owner.startsWith('operator ') ? limits.platformEventsOfAccount : limits.platformEventsOfOne
  const use = { kind: 'event', rows: 1, bytes: bytes + rowBytes } as const
  const used = await spend(tx, owner, [use], { event: isEnd ? 2 * most : most })
  if (!isEnd) requireRoomIn(used)
}

/** Counts a price change and its sites, under the application's lock. Throws 10007. */
export async function spendPriceChange(tx: Statements, appId: string, sites: number): Promise<void> {
  const uses: Use[] = [
    { kind: 'priceChange', rows: 1, bytes: 2 * rowBytes },
    { kind: 'priceChangeSite', rows: sites, bytes: sites * siteBytes },
  ]
  const most = { priceChange: limits.priceChangesADay, priceChangeSite: limits.priceChangeSitesADay }
  requireRoomIn(await spend(tx, appId, uses, most))
}

const rowBytes = 250
const siteBytes = 180

export const oldUsage: Pruned = {
  table: 'usage_hour',
  key: 'owner, hour, kind',
  isOld: "hour < now() - interval '25 hours'",
}

function full(field: string, en: string, zh: string): Refusal {
  // The oldest hour leaves the count when the next one starts.
  const seconds = 3600 - (Math.floor(Date.now() / 1000) % 3600)
  const errors = [fieldFault(field, en, zh)]
  return new Refusal('tooManyRequests', { headers: { 'retry-after': String(seconds) }, errors })
}

const flushEveryMs = 5_000

/** Counts stored keys in memory, and every few seconds in the database together with other processes' keys. */
export class KeyUsage {
  private readonly sql: Sql
  private pending = new Map<string, { rows: number; bytes: number }>()
  private readonly refusals = new Map<string, Refusal>()
  private readonly rounds: Rounds

  constructor(sql: Sql) {
    this.sql = sql
    this.rounds = startRounds(() => this.flush(), flushEveryMs)
  }

  /** Throws 10007 when the owner has no room for another key; a request repeated for one of `keyOwners` goes on. */
  async requireRoom(owner: string, request: RequestKey, keyOwners: readonly string[]): Promise<void> {
    const refusal = this.refusals.get(owner)
    if (refusal === undefined) return
    const kept = await Promise.all(keyOwners.map((keyOwner) => hasAnswer(this.sql, request, keyOwner)))
    if (!kept.includes(true)) throw refusal
  }

  note(owner: string, rows: number, answerBytes: number): void {
    const bytes = answerBytes + rows * rowBytes
    const own = this.pending.get(owner)
    if (own === undefined) this.pending.set(owner, { rows, bytes })
    else {
      own.rows += rows
      own.bytes += bytes
    }
  }

  async stop(): Promise<void> {
    await this.rounds.stop()
    await this.store().catch(() => {})
  }

  private async flush(): Promise<void> {
    if (this.pending.size + this.refusals.size === 0) return
    // What couldn't be stored is stored with the next.
    await this.store().catch(() => {})
  }

  private async store(): Promise<void> {
    for (const owner of this.refusals.keys()) {
      if (!this.pending.has(owner)) this.judge(owner, await readUsed(this.sql, owner))
    }
    for (const owner of [...this.pending.keys()]) {
      const own = this.pending.get(owner) as { rows: number; bytes: number }
      this.pending.delete(owner)
      try {
        this.judge(owner, await addUses(this.sql, owner, [{ kind: 'key', ...own }]))
      } catch (error) {
        this.note(owner, own.rows, own.bytes - own.rows * rowBytes)
        throw error
      }
    }
  }

  private judge(owner: string, used: Used): void {
    try {
      requireRoomIn(used)
      this.refusals.delete(owner)
    } catch (error) {
      this.refusals.set(owner, error as Refusal)
    }
  }
}
