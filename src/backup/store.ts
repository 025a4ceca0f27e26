import type { Writable } from 'node:stream'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'

export interface Table {
  name: string
  /** Without those that the database computes. */
  columns: string[]
  references: string[]
  /** Ranges of IDs; null for a table without partitions. */
  partitions: IdRange[] | null
}

/** From `first`, before `end`. */
export interface IdRange {
  first: number
  end: number
}

const schema = 'quote_ident(current_schema())::regnamespace'
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const listed = (columns: readonly string[]) => columns.map(quoted).join(', ')

const partitionsSql = `case when c.relkind = 'p' then (
        select coalesce(json_agg(json_build_object('first', p.first_id, 'end', p.end_id) order by p.first_id), '[]')
        from history_partition p where p.parent = c.relname) end`

/** The first version of the schema had none. */
async function hasPartitions(sql: Statements): Promise<boolean> {
  const [row] = await sql`select to_regclass('history_partition') is not null as exists`
  return row?.exists === true
}

export async function findTables(sql: Statements): Promise<Table[]> {
  return sql.unsafe<Table[]>(`
    select c.relname as name,
      (select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select coalesce(json_agg(distinct r.relname), '[]') from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and r.oid <> c.oid) as references,
      ${(await hasPartitions(sql)) ? partitionsSql : 'null'} as partitions
    from pg_class c
    where c.relnamespace = ${schema} and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname`)
}

/** None for a database without a schema. */
export async function findMigrations(
  sql: Statements,
): Promise<{ version: number; file: string; checksum: string | null }[]> {
  const [table] = await sql`select to_regclass('schema_migration') is not null as exists`
  if (!table?.exists) return []
  return sql`select version, file, checksum from schema_migration order by version`
}

export async function serverVersion(sql: Statements): Promise<string> {
  const [row] = await sql<[{ version: string }]>`select current_setting('server_version') as version`
  return row.version
}

/** A client that hangs between two statements still loses its locks. */
export async function disableStatementTimeout(tx: Statements): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = '1min'`
}

/** On a Citus cluster: one connection to each node, and so one snapshot of each. */
async function useOneConnectionEach(tx: Statements): Promise<void> {
  await tx`set local citus.multi_shard_modify_mode = 'sequential'`
}

/** On a Citus cluster: tables that refer to each other can be emptied and filled. */
export async function writeToAllNodes(tx: Statements): Promise<void> {
  await useOneConnectionEach(tx)
  // The coordinator as well: its own session's changes would be invisible to its connections.
  await tx`set local citus.enable_local_execution = off`
}

/** For a Citus cluster. Changes on two nodes hold their application's lock until both have it: this waits for them. */
export async function beginOnAllNodes(tx: Statements, other: Sql): Promise<void> {
  await useOneConnectionEach(tx)
  await transaction(other, async (gate) => {
    await gate`lock table application_lock in exclusive mode`
    await tx`select count(*) from application_lock`
  })
}

export async function countRows(sql: Statements, name: string): Promise<number> {
  const [row] = await sql.unsafe<[{ rows: number }]>(`select count(*) as rows from ${quoted(name)}`)
  return row.rows
}

/** A sequence is outside of any snapshot: read it after the rows, and its number is at least as high as theirs. */
export async function findSequences(sql: Statements): Promise<Record<string, number>> {
  const rows = await sql.unsafe<{ name: string; last: number }[]>(`
    select sequencename as name, last_value as last from pg_sequences
    where schemaname = current_schema() and last_value is not null order by sequencename`)
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]))
}

/** Returns false if there is no such sequence. */
export async function setSequence(tx: Statements, name: string, last: number): Promise<boolean> {
  const [row] = await tx`
    select setval(quote_ident(sequencename)::regclass, ${last}::bigint) from pg_sequences
    where schemaname = current_schema() and sequencename = ${name}`
  return row !== undefined
}

/** As COPY writes them, in pieces of whole rows. */
export async function* readRows(
  sql: Statements,
  { name, columns }: Pick<Table, 'name' | 'columns'>,
): AsyncGenerator<Buffer> {
  // A query, because a partitioned table itself cannot be copied.
  const rows = await sql.unsafe(`copy (select ${listed(columns)} from ${quoted(name)}) to stdout`).readable()
  yield* rows
  // The driver leaves its socket paused at the end if it paused it meanwhile; the next response would never come.
  rows._read(0)
}

/** Frozen: visible to every transaction, so that nothing has to vacuum the rows later. */
export function writeRows(
  tx: Statements,
  { name, columns }: Pick<Table, 'name' | 'columns'>,
  isFrozen: boolean,
): Promise<Writable> {
  return tx.unsafe(`copy ${quoted(name)} (${listed(columns)}) from stdin${isFrozen ? ' (freeze)' : ''}`).writable()
}

/** Waits for every writer, and keeps all others out until the transaction ends. */
export async function emptyTables(tx: Statements, names: readonly string[]): Promise<void> {
  await tx.unsafe(`truncate ${listed(names)}`)
}

export async function lockTables(tx: Statements, names: readonly string[]): Promise<void> {
  await tx.unsafe(`lock table ${listed(names)} in access exclusive mode`)
}

export async function hasRows(sql: Statements, name: string, condition = 'true'): Promise<boolean> {
  const [row] = await sql.unsafe(`select 1 from ${quoted(name)} where ${condition} limit 1`)
  return row !== undefined
}

/** That somebody else than the first start made or changed. */
export async function hasOtherApplications(sql: Statements, firstStart: string): Promise<boolean> {
  const made = await sql<{ app_id: string }[]>`select app_id from application`
  const logged = await sql<{ app_id: string; actor: string }[]>`
    select app_id, actor from event where app_id <> '' group by app_id, actor`
  const own = new Set(logged.map(({ app_id }) => app_id))
  return logged.some(({ actor }) => actor !== firstStart) || made.some(({ app_id }) => !own.has(app_id))
}

interface Index {
  drop: string
  create: string
}

export async function replacePartitions(tx: Statements, name: string, ranges: readonly IdRange[]): Promise<void> {
  const present = await tx<{ name: string }[]>`select name from history_partition where parent = ${name}`
  for (const partition of present) await tx.unsafe(`drop table ${quoted(partition.name)}`)
  for (const { first, end } of ranges) {
    await tx`select add_history_partition(${name}, ${first}::bigint, ${end}::bigint)`
  }
}

/** Also of partitions; without those that another table's reference needs. */
export async function findIndexes(tx: Statements, name: string): Promise<Index[]> {
  const rows = await tx.unsafe<{ index: string; definition: string; constraint: string | null }[]>(
    `select i.indexrelid::regclass::text as index, coalesce(pg_get_constraintdef(c.oid), replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')) as definition,
      quote_ident(c.conname) as constraint
    from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
    where i.indrelid = $1::text::regclass
      and not exists (select 1 from pg_constraint f where f.conindid = i.indexrelid and f.contype = 'f')`,
    [quoted(name)],
  )
  return rows.map(({ index, definition, constraint }) =>
    constraint === null
      ? { drop: `drop index ${index}`, create: definition }
      : {
          drop: `alter table ${quoted(name)} drop constraint ${constraint}`,
          create: `alter table ${quoted(name)} add constraint ${constraint} ${definition}`,
        },
  )
}

export async function changeIndexes(tx: Statements, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await tx.unsafe(statement)
}

/** For the sorting that indexes are made by. */
export async function raiseMaintenanceMemory(tx: Statements): Promise<void> {
  await tx`set local maintenance_work_mem = '256MB'`
}

export async function dropSchema(tx: Statements, tables: readonly string[]): Promise<void> {
  await tx.unsafe(`drop table ${listed(tables)} cascade`)
  const sequences = await tx.unsafe<{ name: string }[]>(
    'select sequencename as name from pg_sequences where schemaname = current_schema()',
  )
  for (const { name } of sequences) await tx.unsafe(`drop sequence if exists ${quoted(name)}`)
}

/** That processes may have in memory; 0 for none. */
export async function catalogueVersion(tx: Statements): Promise<number> {
  const [row] = await tx`select version from device_catalogue`
  return row?.version ?? 0
}

/** What would be untrue here: leases, a catalogue's version that a service has seen, and callbacks not yet resumed. */
export async function resetLeasesAndPauseCallbacks(
  tx: Statements,
  tables: readonly Pick<Table, 'name' | 'columns'>[],
  seenCatalogue: number,
): Promise<void> {
  for (const { name } of tables.filter(({ columns }) => columns.includes('lease_owner'))) {
    const nobody = "lease_owner = null, lease_until = '-infinity'"
    await tx.unsafe(`update ${quoted(name)} set ${nobody} where lease_owner is not null`)
  }
  await tx`update device_catalogue set version = greatest(version, ${seenCatalogue}) + 1`
  await tx`insert into callback_pause (since) values (now()) on conflict do nothing`
}

export async function analyze(sql: Statements, names: readonly string[]): Promise<void> {
  await sql.unsafe(`analyze ${listed(names)}`)
}

export interface BackupRecord {
  beganAt: Date
  /** Null for standard output. */
  path: string | null
  rows: number | null
  bytes: number | null
  seconds: number
  /** Read again from the disk. */
  isVerified: boolean
  failure: string | null
}

const recordsKept = 100

/** Keeps the newest hundred. */
export async function insertRecord(tx: Statements, record: BackupRecord): Promise<void> {
  const { beganAt, path, rows, bytes, seconds, isVerified, failure } = record
  await tx`
    insert into backup_record (began_at, path, rows, bytes, seconds, is_verified, failure)
    values (${beganAt}, ${path}, ${rows}, ${bytes}, ${seconds}, ${isVerified}, ${failure})`
  await tx`
    delete from backup_record where id <= (select id from backup_record order by id desc offset ${recordsKept} limit 1)`
}

export interface LastBackups {
  /** Null if none was. */
  takenAt: Date | null
  path: string | null
  rows: number | null
  bytes: number | null
  isVerified: boolean | null
  /** Null if the newest backup was taken. */
  failedAt: Date | null
  failure: string | null
}

/** The latest backup, and the latest attempt if it failed; undefined if there was no attempt. */
export async function findLastBackups(sql: Statements): Promise<LastBackups | undefined> {
  const [row] = await sql<LastBackups[]>`
    select t.began_at as "takenAt", t.path, t.rows, t.bytes, t.is_verified as "isVerified",
      case when n.failure is not null then n.began_at end as "failedAt", n.failure
    from (select * from backup_record order by id desc limit 1) n
      left join (select * from backup_record where failure is null order by id desc limit 1) t on true`
  return row
}
