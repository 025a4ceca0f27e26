import type { Row } from 'postgres'
import { takeLock } from '../database/advisory-lock.ts'
import type { Sql, Statements } from '../database/open.ts'
import { type PageQuery, readPage } from '../database/page.ts'
import { transaction } from '../database/transaction.ts'
import { showMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { builtInRegions } from './built-in.ts'
import { pageRegions, type SavedRegionRecord } from './contract.ts'
import type { SavedRegion } from './table.ts'

const columnsSql = 'code, name, parent_code, is_ended, created_at'

function toRegion(row: Row): SavedRegion {
  return { code: row.code, name: row.name, parentCode: row.parent_code, isEnded: row.is_ended }
}

function toRecord(row: Row): SavedRegionRecord {
  return {
    ...toRegion(row),
    builtInName: builtInRegions.get(row.code)?.name ?? null,
    createTime: showMoment(row.created_at),
  }
}

export async function regionsVersion(sql: Statements): Promise<string> {
  const [row] = await sql<[{ version: string }]>`select version from region_version`
  return row.version
}

export async function readRegions(sql: Sql): Promise<{ version: string; saved: SavedRegion[] }> {
  return transaction(
    sql,
    async (tx) => ({ version: await regionsVersion(tx), saved: await savedRegions(tx) }),
    'isolation level repeatable read read only',
  )
}

export async function savedRegions(tx: Statements): Promise<SavedRegion[]> {
  const rows = await tx`select ${tx.unsafe(columnsSql)} from region order by code`
  return rows.map(toRegion)
}

/** One change after the other, because each is checked against all regions. Every process then reads them again. */
export async function beginChange(tx: Statements): Promise<void> {
  await takeLock(tx, 'regions')
  await tx`update region_version set version = gen_random_uuid()`
}

export async function upsertRegion(
  tx: Statements,
  { code, name, parentCode, isEnded }: SavedRegion,
): Promise<SavedRegionRecord> {
  const [row] = await tx`
    insert into region (code, name, parent_code, is_ended, created_at)
    values (${code}, ${name}, ${parentCode}, ${isEnded}, now())
    on conflict (code) do update set name = excluded.name, parent_code = excluded.parent_code,
      is_ended = excluded.is_ended
    returning ${tx.unsafe(columnsSql)}`
  return toRecord(row as Row)
}

/** Throws 10040 for a code that no operator has saved. */
export async function deleteSavedRegion(tx: Statements, code: string): Promise<SavedRegionRecord> {
  const [row] = await tx`delete from region where code = ${code} returning ${tx.unsafe(columnsSql)}`
  if (row === undefined) throw new Refusal('regionNotFound')
  return toRecord(row)
}

export interface RegionFilter extends PageQuery {
  code?: string | null
  name?: string | null
}

export function pageOfRegions(sql: Sql, filter: RegionFilter) {
  const code = given(filter.code)
  const name = given(filter.name)
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from region
    where (${code}::text is null or starts_with(code, ${code}))
      and (${name}::text is null or strpos(lower(name), lower(${name})) > 0)`
  const key = [{ column: 'code', type: 'text' as const }]
  return readPage(sql, { operation: pageRegions.id, rows, key, newestFirst: false }, filter, (row) => toRecord(row))
}
