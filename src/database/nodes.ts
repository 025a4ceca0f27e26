import type { Logger } from 'pino'
import type { Statements } from './open.ts'
import { connectionsOfProcess } from './pools.ts'

// Checks the settings of a Citus cluster's nodes. A session on the coordinator keeps connections to each node, up to
// `citus.max_cached_conns_per_worker`, waits for all of them, and gives none back while idle. When a node's connections
// are used up, some statements wait for ever.

interface NodeSettings {
  maxConnections: number
  reserved: number
  /** Says which limit is lower, this user's or the database's; null for none. */
  ownLimit: number | null
  walLevel: string
}

interface Node {
  place: string
  isCoordinator: boolean
  /** Null if it doesn't respond or has no connection left. */
  settings: NodeSettings | null
}

export interface Cluster {
  nodes: Node[]
  /** Processes of the service on the coordinator, beside this one. */
  otherProcesses: number
  keptOfSession: number
  /** Limits the coordinator's connections to one node; null for no limit. */
  openedToNode: number | null
  openedBy: 'citus.max_shared_pool_size' | 'max_connections'
}

export interface NodeFault {
  what: string
  todo: string
}

/** Citus itself needs these: recovery, deadlock detection, a rebalance. */
const citusConnections = 10

/** A process with more connections than this serves requests; a command opens fewer. */
const connectionsOfCommand = 4

/** Reads the nodes' settings. It needs no special right, and a new connection of each node. */
export async function readCluster(sql: Statements): Promise<Cluster> {
  const [about] = await sql<[Omit<Cluster, 'nodes'>]>`
    select (
        select count(*)::int from (
          select from pg_stat_activity
          where datname = current_database() and application_name like 'forecourt %'
            and application_name <> current_setting('application_name')
          group by application_name having count(*) > ${connectionsOfCommand}::int) as process
      ) as "otherProcesses",
      least(
        current_setting('citus.max_cached_conns_per_worker')::int,
        current_setting('citus.max_adaptive_executor_pool_size')::int,
        shards_of_node) as "keptOfSession",
      nullif(coalesce(told, by_default), -1) as "openedToNode",
      case when told <> by_default then 'citus.max_shared_pool_size' else 'max_connections' end as "openedBy"
    from (
      select
        -- Only some users may see it.
        (select setting::int from pg_settings where name = 'citus.max_shared_pool_size') as told,
        coalesce(
          nullif(current_setting('citus.max_client_connections')::int, -1),
          current_setting('max_connections')::int) as by_default,
        -- A node that was just added has none yet: as many as it will have.
        greatest(
          (select max(count) from (
            select count(*)::int from pg_dist_placement p join pg_dist_shard s using (shardid)
            where s.shardminvalue is not null group by p.groupid, s.logicalrelid) as by_node),
          (select ceil(coalesce(
              (select max(count) from (
                select count(*) from pg_dist_shard where shardminvalue is not null group by logicalrelid) as by_table),
              current_setting('citus.shard_count')::int) / greatest(count(*), 1)::numeric)::int
            from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary')) as shards_of_node
    ) as known`
  const nodes = await sql<Node[]>`
    select concat_ws(':', nodename, nodeport) as place, groupid = 0 as "isCoordinator",
      -- The result of a node that is away is the text of an error.
      case when success then result end::json as settings
    from run_command_on_all_nodes(${`
      select json_build_object('maxConnections', current_setting('max_connections')::int,
        'reserved', current_setting('superuser_reserved_connections')::int
          + coalesce(current_setting('reserved_connections', true)::int, 0),
        'ownLimit', least(nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)),
        'walLevel', current_setting('wal_level'))
      from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`})
    join pg_dist_node using (nodeid) order by groupid <> 0, nodename, nodeport`
  return { ...about, nodes: [...nodes] }
}

export function connectionsToNode({ keptOfSession }: Pick<Cluster, 'keptOfSession'>, processes: number): number {
  return processes * connectionsOfProcess * keptOfSession + citusConnections
}

export function findAway({ nodes }: Cluster): NodeFault | undefined {
  const away = nodes.filter(({ settings }) => settings === null)
  if (away.length === 0) return undefined
  return {
    what: `${listOf(away)} ${away.length === 1 ? 'does' : 'do'} not answer the coordinator`,
    todo: 'start it and check its password and connection limit; until then, most writes are refused with 50003',
  }
}

/** Tells why the connections of so many processes don't fit; undefined if they do. */
export function findTooFewConnections(cluster: Cluster, processes: number): NodeFault | undefined {
  const { nodes, openedToNode, openedBy, keptOfSession } = cluster
  const needed = connectionsToNode(cluster, processes)
  const wanted = new Map<string, string[]>()
  const want = (setting: string, least: number, place: string, now: number) => {
    const key = `${setting} to ${least} or more on %s (now ${now})`
    wanted.set(key, [...(wanted.get(key) ?? []), place])
  }
  const accepted: number[] = []
  for (const { place, isCoordinator, settings } of nodes) {
    // Sessions on the coordinator read its own tables without further connections.
    if (isCoordinator || settings === null) continue
    const { maxConnections, reserved, ownLimit } = settings
    accepted.push(Math.min(maxConnections - reserved, ownLimit ?? Number.POSITIVE_INFINITY))
    if (maxConnections - reserved < needed) want('max_connections', needed + reserved, place, maxConnections)
    if (ownLimit !== null && ownLimit < needed) {
      want('the connection limit of the user or the database', needed, place, ownLimit)
    }
  }
  if (openedToNode !== null && openedToNode < needed) want(openedBy, needed, 'the coordinator', openedToNode)
  if (wanted.size === 0) return undefined
  const settings = [...wanted].map(([setting, places]) => setting.replace('%s', places.join(' and ')))
  const fewest = Math.min(...accepted, openedToNode ?? Number.POSITIVE_INFINITY)
  const sessions = processes * connectionsOfProcess
  const kept = Math.floor((fewest - citusConnections) / sessions)
  const orFewer =
    kept < 1 ? '' : `, or citus.max_cached_conns_per_worker to ${kept} on the coordinator, which makes batches slower`
  return {
    what: `up to ${needed} connections are opened to a node (${sessions} sessions × ${keptOfSession}, and ${citusConnections} of Citus), but only ${fewest} are allowed; beyond that, some operations are refused with 50003 and don’t recover`,
    todo: `set ${settings.join(', ')}${orFewer}`,
  }
}

export function findNoRebalance({ nodes }: Cluster): NodeFault | undefined {
  const lacking = nodes.filter(({ settings }) => settings !== null && settings.walLevel !== 'logical')
  if (lacking.length === 0) return undefined
  const levels = [...new Set(lacking.map(({ settings }) => settings?.walLevel))].join(' or ')
  return {
    what: `wal_level is ${levels} on ${listOf(lacking)}, so rebalancing to a new node can’t start`,
    todo: 'set wal_level to logical on each node, and restart it',
  }
}

/**
 * Logs what is wrong with the nodes, for a service that starts this many more processes. It refuses no start: with
 * faulty nodes some operations fail, without the service all do.
 */
export async function warnOfNodes(sql: Statements, processes: number, log: Pick<Logger, 'warn'>): Promise<void> {
  const cluster = await readCluster(sql)
  const faults = [findAway(cluster), findTooFewConnections(cluster, processes + cluster.otherProcesses)]
  for (const fault of faults) if (fault !== undefined) log.warn(`${fault.what}; ${fault.todo}`)
}

/** Tells whether every node responds and has room for the running processes, at least this service's. */
export async function areNodesFit(sql: Statements, processes: number): Promise<boolean> {
  const cluster = await readCluster(sql)
  const running = Math.max(processes, cluster.otherProcesses + 1)
  return findAway(cluster) === undefined && findTooFewConnections(cluster, running) === undefined
}

function listOf(nodes: readonly Node[]): string {
  return nodes.map(({ place }) => place).join(', ')
}
