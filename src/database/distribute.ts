import { UserError } from '../runtime/user-error.ts'
import { setDistributed } from './cluster.ts'
import { findAway, findTooFewConnections, readCluster } from './nodes.ts'
import { answerSettings, oneProcessorSettings, type Sql, type Statements } from './open.ts'
import { transaction } from './transaction.ts'

// All rows of an application lie on one node of a Citus cluster, so a request about it is one transaction on one node.

/** Every node has a copy of these tables: they are small, read at each write and rarely changed. */
export const referenceTables = ['application', 'callback_pause', 'device_catalogue']

/** These tables are distributed by application. The first decides the node. */
export const applicationTables = [
  'application_lock',
  'third_party_config',
  'billing_rule',
  'rule_terms',
  'site',
  'price_change',
  'site_rule',
  'device',
  'device_presence',
  'placement',
  'event',
  'event_head',
  'state_change',
  'idempotency_key',
  'callback_endpoint',
  'callback_stop',
  'delivery',
  'refusal',
  'fleet_count',
]

/** These tables are distributed by serial number, because a serial's owner concerns more than one application. */
export const serialTables = ['device_binding', 'past_binding']

const distributed = [
  { column: 'app_id', tables: applicationTables },
  { column: 'device_no', tables: serialTables },
]

/** The coordinator alone has these tables. */
export const localTables = [
  'access_token',
  'backup_record',
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
  'operator_identity',
  'operator_key',
  'operator_passkey',
  'operator_recovery_code',
  'operator_session',
  'operator_setup',
  'operator_totp',
  'operator_totp_draft',
  'platform_count',
  'region',
  'region_version',
  'routine',
  'saved_view',
  'schema_migration',
  'secrets_key',
  'service_hearing',
  'sign_in_attempt',
  'usage_hour',
  'used_ticket',
]

/** Finds whether the tables are spread over the nodes of a Citus cluster, and notes it for the process. */
export async function findDistributed(sql: Statements): Promise<boolean> {
  const [row] = (await hasCitus(sql))
    ? await sql`select 1 from pg_dist_partition where logicalrelid = to_regclass('event')`
    : []
  setDistributed(row !== undefined)
  return row !== undefined
}

async function hasCitus(sql: Statements): Promise<boolean> {
  const [row] = await sql`select 1 from pg_extension where extname = 'citus'`
  return row !== undefined
}

/** Throws `UserError` if the database can't be distributed for this number of processes. It ignores the schema. */
export async function requireDistributable(sql: Statements, processes: number): Promise<void> {
  if (!(await hasCitus(sql))) {
    throw new UserError(
      'The database doesn’t have the Citus extension. Create it on the coordinator and all workers, then add the workers.',
    )
  }
  await requireUndistributed(sql)
  const [nodes] = await sql<[{ count: number }]>`
    select count(*)::int as count from pg_dist_node where isactive and shouldhaveshards`
  if (nodes.count === 0) {
    throw new UserError('The Citus cluster has no nodes for shards. Add workers with citus_add_node.')
  }
  const cluster = await readCluster(sql)
  const fault = findAway(cluster) ?? findTooFewConnections(cluster, Math.max(processes, cluster.otherProcesses))
  if (fault !== undefined) throw new UserError(`The cluster is not ready: ${fault.what}; ${fault.todo}.`)
}

async function requireUndistributed(sql: Statements): Promise<void> {
  if (await findDistributed(sql)) throw new UserError('The database is already distributed.')
}

/**
 * Distributes the tables over a Citus cluster, all or none. The schema must be this program's. Throws `UserError` if
 * the database holds data.
 */
export async function distribute(sql: Sql): Promise<void> {
  await transaction(sql, async (tx) => {
    await tx`set local statement_timeout = 0`
    // The tables refer to each other, so each statement must see on every node what the one before it did.
    await tx`set local citus.multi_shard_modify_mode = 'sequential'`
    await tx`lock table application in share row exclusive mode`
    // Another process may have distributed the tables meanwhile.
    await requireUndistributed(tx)
    const [held] = await tx`select 1 from application limit 1`
    if (held !== undefined) {
      throw new UserError('The database isn’t empty. Only an empty database can be distributed; use a new one.')
    }
    for (const table of referenceTables) await tx`select create_reference_table(${table})`
    for (const { column, tables } of distributed) await distributeBy(tx, column, tables)
    await setForNodes(tx)
  })
}

/** The coordinator's sessions on the nodes have the settings of the role and none of this session's. */
const nodeSettings = { ...answerSettings, ...oneProcessorSettings }

/** Gives the role the settings that its sessions on the nodes need. Citus copies them to all nodes, later ones too. */
async function setForNodes(tx: Statements): Promise<void> {
  const [row] = await tx<[{ statements: string }]>`
    select string_agg(format('alter role %I in database %I set %I = %L', current_user, current_database(), name, value), ';')
      as statements
    from json_each_text(${JSON.stringify(nodeSettings)}::text::json) as asked (name, value)`
  await tx.unsafe(row.statements)
}

/** Throws `UserError` if the role lacks settings on the nodes, as when another role distributed the tables. */
export async function requireNodeSettings(sql: Statements): Promise<void> {
  if (!(await findDistributed(sql))) return
  const lacking = `
    select string_agg(format('alter role %I in database %I set %I = %L;', current_user, current_database(), name, value), ' ')
    from json_each_text('${JSON.stringify(nodeSettings)}') as asked (name, value) join pg_settings using (name)
    where setting <> value`
  const [row] = await sql<[{ statements: string | null }]>`
    select string_agg(distinct result, ' ') as statements from run_command_on_all_nodes(${lacking})
    where success and result <> ''`
  if (row.statements === null) return
  throw new UserError(
    `Sessions on the nodes of the cluster lack settings; set them at the coordinator: ${row.statements}`,
  )
}

/** Distributes tables that a migration has created, in its transaction, if the database is distributed. */
export async function distributeNew(tx: Statements): Promise<void> {
  if (!(await findDistributed(tx))) return
  await tx`set local citus.multi_shard_modify_mode = 'sequential'`
  for (const { tables, column } of distributed) {
    const [first = '', ...others] = tables
    for (const table of others) {
      const [found] = await tx`
        select 1 where to_regclass(${table}) is not null
          and not exists (select 1 from pg_dist_partition where logicalrelid = to_regclass(${table}))`
      if (found !== undefined) await tx`select create_distributed_table(${table}, ${column}, colocate_with => ${first})`
    }
  }
}

async function distributeBy(tx: Statements, column: string, [first = '', ...others]: string[]): Promise<void> {
  await tx`select create_distributed_table(${first}, ${column}, colocate_with => 'none')`
  for (const table of others) await tx`select create_distributed_table(${table}, ${column}, colocate_with => ${first})`
}
