import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { UserError } from '../runtime/user-error.ts'
import { requireNodeSettings } from './distribute.ts'
import { mayPass } from './failures.ts'
import { migrate } from './migrate.ts'
import { placeOf, type Sql, type Target } from './open.ts'

export interface WaitOptions {
  target: Target
  /** 0 means one attempt. */
  seconds: number
  log: Logger
  signal: AbortSignal
}

const lookEveryMs = 250
const lookMs = 10_000
/** A smaller difference between the clocks does no harm. */
const clockMs = 5_000

interface Fault {
  reason: string
  mayPass: boolean
}

/** Waits until the database is up and a host is the primary. Throws immediately if waiting can't help. */
export async function waitForDatabase(sql: Sql, { target, seconds, log, signal }: WaitOptions): Promise<void> {
  const end = performance.now() + seconds * 1000
  const place = placeOf(target)
  let isTold = seconds === 0
  const tell = (reason: string) => {
    if (!isTold) log.warn({ place, reason, seconds }, 'database not available yet; retrying')
    isTold = true
  }
  // A vanished host sends nothing, so the driver fails only after its own timeout.
  const telling = setTimeout(tell, 1000, 'no answer')
  try {
    for (;;) {
      const fault = await look(sql, Math.max(end - performance.now(), lookMs), log, signal)
      if (fault === undefined) return
      if (signal.aborted || !fault.mayPass || performance.now() + lookEveryMs > end) {
        throw new UserError(`Can’t connect to the database: ${fault.reason} (${place}).`)
      }
      tell(fault.reason)
      await sleep(lookEveryMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    clearTimeout(telling)
  }
}

async function look(sql: Sql, withinMs: number, log: Logger, signal: AbortSignal): Promise<Fault | undefined> {
  const ending = new AbortController()
  const silence = sleep(
    withinMs,
    { reason: 'no answer', mayPass: true },
    { signal: AbortSignal.any([signal, ending.signal]) },
  )
  const asked = ask(sql, log).catch(explainFailure)
  try {
    return await Promise.race([asked, silence.catch(() => ({ reason: 'the wait was interrupted', mayPass: false }))])
  } finally {
    ending.abort()
  }
}

async function ask(sql: Sql, log: Logger): Promise<Fault | undefined> {
  const began = Date.now()
  const [row] = await sql<[{ version: number; is_standby: boolean; now: number }]>`
    select current_setting('server_version_num')::int as version, pg_is_in_recovery() as is_standby,
      extract(epoch from clock_timestamp())::float8 * 1000 as now`
  if (row.version < 150000) {
    throw new UserError(
      `Forecourt requires PostgreSQL 15 or newer. This database is version ${Math.floor(row.version / 10000)}.`,
    )
  }
  if (row.is_standby) return { reason: 'it is a read-only standby', mayPass: true }
  await requireSettings(sql)
  await requireNodeSettings(sql)
  const apartMs = Math.max(began - row.now, row.now - Date.now())
  if (apartMs > clockMs) {
    const seconds = Math.round(apartMs / 1000)
    log.warn({ seconds }, 'this machine’s clock and the database clock differ; synchronize both with NTP')
  }
  return undefined
}

/** A pooler may drop a client's settings, and then some responses would silently differ. */
async function requireSettings(sql: Sql): Promise<void> {
  const { application_name: _, ...asked } = sql.options.connection
  const missing = await sql<{ role: string; name: string; value: string }[]>`
    select quote_ident(current_user) as role, name, quote_literal(value) as value
    from json_each_text(${JSON.stringify(asked)}::text::json) as asked (name, value) join pg_settings using (name)
    where source <> 'client' and setting <> value`
  const [first] = missing
  if (first === undefined) return
  const statements = missing.map(({ role, name, value }) => `alter role ${role} set ${name} = ${value};`)
  throw new UserError(
    `Database sessions don’t have the settings that the service requested. A connection pooler may drop them. Run these statements and let the pooler reconnect: ${statements.join(' ')}`,
  )
}

function explainFailure(error: Error & { code?: string }): Fault {
  if (error instanceof UserError) throw error
  return { reason: error.message || `${error.code}`, mayPass: mayPass(error) }
}

export interface SchemaOptions {
  target: Target
  openAlone: () => Sql
  migrationsFolder: string
  install: () => Promise<void>
  log: Pick<Logger, 'info'>
  /** It is by default the newest version that this program knows. */
  upTo?: number
}

export async function prepareSchema(sql: Sql, options: SchemaOptions): Promise<void> {
  try {
    await migrate(sql, options.openAlone, options.migrationsFolder, options.log, options.upTo)
    await options.install()
  } catch (error) {
    if (error instanceof UserError) throw error
    const { code, message } = error as Error & { code?: string }
    const missing = code === '42501' || code === '3F000' ? await findMissingRight(sql) : undefined
    throw new UserError(
      missing === undefined
        ? `The schema migration failed: ${message} (${placeOf(options.target)}).`
        : `${missing.what}: ${missing.statement}.`,
    )
  }
}

export interface Remedy {
  what: string
  statement: string
}

/** Throws if transactions of this database or user are read-only. */
export async function requireWrites(sql: Sql): Promise<void> {
  const readOnly = await findReadOnly(sql)
  if (readOnly !== undefined) throw new UserError(`${readOnly.what}: ${readOnly.statement}.`)
}

/** Returns undefined if transactions may write. */
export async function findReadOnly(sql: Sql): Promise<Remedy | undefined> {
  const [row] = await sql`
    select quote_ident(current_database()) as database, quote_ident(current_user) as name
    where current_setting('transaction_read_only')::bool`
  if (row === undefined) return undefined
  return {
    what: `The database ${row.database} is read-only for the user ${row.name}, because default_transaction_read_only is on`,
    statement: `alter database ${row.database} reset default_transaction_read_only`,
  }
}

/** Throws if the database has no tables of Forecourt, since it may be the wrong one. */
export async function requireForecourt(sql: Sql, target: Target): Promise<void> {
  const [row] = await sql`select to_regclass('schema_migration') as found`
  if (row?.found === null) throw new UserError(`No Forecourt database found in ${placeOf(target)}.`)
}

/** Returns the right that the user lacks, with the statement that grants it; undefined if no usual right is missing. */
export async function findMissingRight(sql: Sql): Promise<Remedy | undefined> {
  const [row] = await sql`
    select quote_ident(current_user) as name, quote_ident(current_database()) as database,
      quote_ident(current_schema()) as schema, quote_ident(named.schema) as named, named.exists,
      has_schema_privilege(current_schema(), 'create') as may_create, quote_ident(owner.tableowner) as owner
    from (
      select schema, to_regnamespace(quote_ident(schema)) is not null as exists
      from string_to_table(current_setting('search_path'), ',') as part, btrim(part, ' "') as schema
      where schema <> '$user' union all select 'public', false limit 1
    ) as named
    left join pg_tables owner on owner.schemaname = current_schema() and owner.tablename = 'schema_migration'
      and not pg_has_role(current_user, owner.tableowner, 'usage')`
  if (row === undefined) return undefined
  const { name, database, schema, named } = row
  if (schema === null && row.exists) {
    return {
      what: `The user ${name} may not use schema ${named} of database ${database}`,
      statement: `grant usage, create on schema ${named} to ${name}`,
    }
  }
  if (schema === null) {
    return {
      what: `The database ${database} has no schema ${named} for the user ${name}`,
      statement: `create schema ${named} authorization ${name}`,
    }
  }
  if (!row.may_create) {
    return {
      what: `The user ${name} may not create tables in schema ${schema} of database ${database}`,
      statement: `grant create on schema ${schema} to ${name}`,
    }
  }
  if (row.owner === null) return undefined
  return {
    what: `The tables in schema ${schema} of database ${database} belong to ${row.owner}, and the user ${name} may not use them`,
    statement: `grant ${row.owner} to ${name}`,
  }
}
