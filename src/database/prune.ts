import type { Statements } from './open.ts'

/** Rows of a table that end by themselves, and are deleted later. */
export interface Pruned {
  table: string
  key: string
  /** SQL: a row's end. */
  isOld: string
  /**
   * Of a table that is too large to be searched as a whole: a column of its index by `app_id` and this. Its rows go
   * application by application, the oldest first. `noApplication` is the ID of rows without one.
   */
  byAge?: { column: string; noApplication?: string }
  /** Leaves out rows that requests hold. */
  skipsLocked?: boolean
  /** Looked for once an hour: an idle service must not cost more with more applications, or with a longer history. */
  rests?: boolean
}

/**
 * A row that was used anew while the delete waited for it is no longer old, and only the outer condition is looked at
 * again. `is true` keeps it from being searched by: the inner query has found the rows.
 */
const stillOld = (isOld: string) => `(${isOld}) is true`

/** Deletes up to `limit` old rows. Returns how many. */
export async function prune(tx: Statements, pruned: Pruned, limit: number): Promise<number> {
  const { table, key, isOld, byAge, skipsLocked = false } = pruned
  if (byAge !== undefined) return pruneByAge(tx, pruned, byAge, limit)
  const { count } = await tx.unsafe(
    `delete from ${table} where ${stillOld(isOld)} and (${key}) in (
      select ${key} from ${table} where ${isOld} limit ${limit} ${skipsLocked ? 'for update skip locked' : ''})`,
  )
  return count
}

async function pruneByAge(
  tx: Statements,
  { table, key, isOld }: Pruned,
  { column, noApplication }: NonNullable<Pruned['byAge']>,
  limit: number,
): Promise<number> {
  const found = await tx.unsafe(
    `select l.app_id from application_lock l
    where exists (select 1 from ${table} t where t.app_id = l.app_id and ${isOld}) limit ${limit}`,
  )
  const owners = found.map(({ app_id: appId }) => appId as string)
  if (noApplication !== undefined) owners.unshift(noApplication)
  let deleted = 0
  for (const appId of owners) {
    const { count } = await tx.unsafe(
      `delete from ${table} where app_id = $1 and ${stillOld(isOld)} and ${key} in (
        select ${key} from ${table} where app_id = $1 and ${isOld} order by ${column} limit ${limit - deleted})`,
      [appId],
    )
    deleted += count
    if (deleted === limit) break
  }
  return deleted
}
