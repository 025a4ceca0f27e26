import type { Sql, Statements } from './open.ts'
import { StartError } from './start-error.ts'
import { transaction } from './transaction.ts'

// Where the tables lie on a Citus cluster. What an application owns lies together on one node, so that a request about it
// is one node's work, and one transaction there.

/** On every node: small, read at each write, and seldom changed. */
export const referenceTables = ['application', 'callback_pause', 'device_catalogue']

/** By the application; the first decides where, and the others lie beside it. */
export const applicationTables = [
  'application_lock',
  'third_party_config',
  'billing_rule',
  'site',
  'device',
  'device_presence',
  'event',
  'event_head',
  'idempotency_key',
  'callback_endpoint',
  'delivery',
  'refusal',
]

/** By the serial number: who holds a serial is the one thing that crosses applications. */
export const serialTables = ['device_binding', 'past_binding']

/** On the coordinator alone. */
export const localTables = [
  'access_token',
  'database_size',
  'device_inventory',
  'device_model',
  'import',
  'import_piece',
  'import_result',
  'minute_figures',
  'operator',
  'operator_application',
  'operator_browser',
  'operator_key',
  'operator_session',
  'operator_setup',
  'platform_count',
  'routine',
  'schema_migration',
  'secrets_key',
  'sign_in_attempt',
]

/** Whether the database's tables are spread over the nodes of a Citus cluster. */
export async function findDistributed(sql: Statements): Promise<boolean> {
  if (!(await hasCitus(sql))) return false
  const [row] = await sql`select 1 from pg_dist_partition where logicalrelid = to_regclass('event')`
  return row !== undefined
}

async function hasCitus(sql: Statements): Promise<boolean> {
  const [row] = await sql`select 1 from pg_extension where extname = 'citus'`
  return row !== undefined
}

/** Throws `StartError` for a database that cannot be distributed, whatever its schema. */
export async function requireDistributable(sql: Statements): Promise<void> {
  if (!(await hasCitus(sql))) {
    throw new StartError(
      'The database has no Citus extension: create it on the coordinator and on every worker, and add the workers.',
    )
  }
  await requireUndistributed(sql)
  const [nodes] = await sql<[{ count: number }]>`
    select count(*)::int as count from pg_dist_node where isactive and shouldhaveshards`
  if (nodes.count === 0) {
    throw new StartError('The Citus cluster has no node that may hold shards: add the workers with citus_add_node.')
  }
}

async function requireUndistributed(sql: Statements): Promise<void> {
  if (await findDistributed(sql)) throw new StartError('The database is distributed already.')
}

/**
 * Spreads the tables over the nodes of a Citus cluster, all or none. The schema must be this program's, and empty but for
 * what a first start writes. Throws `StartError` for a database that holds data.
 */
export async function distribute(sql: Sql): Promise<void> {
  await transaction(sql, async (tx) => {
    await tx`set local statement_timeout = 0`
    // The tables name each other, so each statement must see what the one before did on every node.
    await tx`set local citus.multi_shard_modify_mode = 'sequential'`
    await tx`lock table application in share row exclusive mode`
    // Somebody else may have been quicker.
    await requireUndistributed(tx)
    const [held] = await tx`select 1 from application limit 1`
    if (held !== undefined) {
      throw new StartError('The database holds data, and only an empty one can be distributed: name a new one.')
    }
    for (const table of referenceTables) await tx`select create_reference_table(${table})`
    await distributeBy(tx, 'app_id', applicationTables)
    await distributeBy(tx, 'device_no', serialTables)
  })
}

async function distributeBy(tx: Statements, column: string, [first = '', ...others]: string[]): Promise<void> {
  await tx`select create_distributed_table(${first}, ${column}, colocate_with => 'none')`
  for (const table of others) await tx`select create_distributed_table(${table}, ${column}, colocate_with => ${first})`
}
