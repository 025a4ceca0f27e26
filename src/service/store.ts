import { tryLock } from '../database/advisory-lock.ts'
import { isDistributed } from '../database/cluster.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'

/** Sizes are kept this long, to compute the growth. */
const keptDays = 32
/** Includes a whole week. */
const growthDays = 8
/** A shorter time allows no growth per day. */
const leastHours = 12

export interface DatabaseSize {
  /** Null while a node of the cluster is away. */
  bytes: number | null
  /** Of the last week, or the known part of it; null while too little is known. */
  bytesPerDay: number | null
  /** Also shows that upkeep runs; null before its first round. */
  notedAt: Date | null
}

export async function readDatabaseSize(sql: Statements): Promise<DatabaseSize> {
  const [row] = await sql`
    with noted as (select * from database_size where day > current_date - ${growthDays}::int),
      first as (select * from noted order by day limit 1),
      last as (select * from noted order by day desc limit 1)
    select ${bytesNow(sql)} as bytes, last.noted_at,
      case when last.noted_at - first.noted_at >= ${leastHours} * interval '1 hour' then
        ((last.bytes - first.bytes) / (extract(epoch from last.noted_at - first.noted_at) / 86400))::float8
      end as bytes_per_day
    from (select 1) as always left join first on true left join last on true`
  return { bytes: row?.bytes ?? null, bytesPerDay: row?.bytes_per_day ?? null, notedAt: row?.noted_at ?? null }
}

/** One size for each day; while a node is away the previous size stays. */
export async function noteDatabaseSize(sql: Sql): Promise<void> {
  await transaction(sql, async (tx) => {
    if (!(await tryLock(tx, 'database size'))) return
    await tx`
      insert into database_size (day, bytes, noted_at)
      select current_date, size.bytes, now() from (
        select coalesce(${bytesNow(tx)},
          (select bytes from database_size order by day desc limit 1)) as bytes) as size
      where size.bytes is not null
      on conflict (day) do update set bytes = excluded.bytes, noted_at = excluded.noted_at`
    await tx`delete from database_size where day < current_date - ${keptDays}::int`
  })
}

function bytesNow(sql: Statements) {
  if (!isDistributed()) return sql`pg_database_size(current_database())`
  // A node that is away returns the text of an error as its result.
  return sql`(
    select case when bool_and(success) then sum(case when success then result::bigint end)::bigint end
    from run_command_on_all_nodes('select pg_database_size(current_database())'))`
}

export async function countFailedImports(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from import where status = 4 and finished_at > now() - interval '1 day'`
  return row.count
}

export async function secondsOfStatement(sql: Sql): Promise<number> {
  const beganAt = performance.now()
  await sql`select 1`
  return (performance.now() - beganAt) / 1000
}
