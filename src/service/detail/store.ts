import { isDistributed } from '../../database/cluster.ts'
import { referenceTables } from '../../database/distribute.ts'
import type { Statements } from '../../database/open.ts'

export interface TableHeld {
  name: string
  rows: number | null
  bytes: number
}

/** Of one node, partitions together. A shard has its table's name and a number. `rows` is null before an analyse. */
const heldSql = `
  select regexp_replace(coalesce(p.relname, c.relname), '_\\d{5,7}$', '') as name,
    case when bool_and(c.reltuples >= 0 or pg_relation_size(c.oid) = 0) then sum(greatest(c.reltuples, 0))::bigint end as rows,
    sum(pg_total_relation_size(c.oid))::bigint as bytes
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
  where c.relkind = 'r' and c.relnamespace = quote_ident(current_schema())::regnamespace
  group by 1`

/** Reads the catalogue alone. */
export async function readTables(sql: Statements): Promise<TableHeld[]> {
  return isDistributed() ? readOfAllNodes(sql) : sql.unsafe<TableHeld[]>(`${heldSql} order by bytes desc, name`)
}

async function readOfAllNodes(sql: Statements): Promise<TableHeld[]> {
  const nodes = await sql<{ held: TableHeld[] }[]>`
    select result::json as held from run_command_on_all_nodes(
      ${`select coalesce(json_agg(held), '[]') from (${heldSql}) as held`}) where success`
  const tables = new Map<string, TableHeld>()
  for (const { name, rows, bytes } of nodes.flatMap(({ held }) => held)) {
    const known = tables.get(name) ?? { name, rows: 0, bytes: 0 }
    tables.set(name, { name, rows: rowsOf(name, known.rows, rows), bytes: known.bytes + bytes })
  }
  return [...tables.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1))
}

/** Every node has all rows of a reference table, but only its own rows of other tables. */
function rowsOf(name: string, before: number | null, more: number | null): number | null {
  if (before === null || more === null) return null
  return referenceTables.includes(name) ? Math.max(before, more) : before + more
}

/** Of the oldest application; null if there is none. */
export async function readAge(sql: Statements): Promise<number | null> {
  const [row] = await sql<[{ days: number | null }]>`
    select extract(epoch from now() - min(created_at))::float8 / 86400 as days from application`
  return row.days
}
