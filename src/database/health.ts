import type { Sql } from './open.ts'

/** Says whether commits are durable and how many connections the server accepts. */
export interface DatabaseHealth {
  version: string
  user: string
  isSuperuser: boolean
  encoding: string
  fsync: boolean
  fullPageWrites: boolean
  autovacuum: boolean
  synchronousCommit: string
  connectionLimit: number
  connectionsInUse: number
  /** It is `synchronous_standby_names`; null when commits wait for no standby. */
  synchronousStandbys: string | null
  standbys: number
  /** Connected standbys that commits wait for; null if the user may not see it. */
  synchronousNow: number | null
  /** How far the server's clock is ahead of this machine's; the round trip bounds the error. */
  clockAheadMs: number
  roundTripMs: number
}

export async function readHealth(sql: Sql): Promise<DatabaseHealth> {
  // The first statement also opens the connection, which is not part of a round trip.
  await sql`select 1`
  const began = Date.now()
  const [clock] = await sql<[{ now: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as now`
  const roundTripMs = Date.now() - began
  const [row] = await sql<[Omit<DatabaseHealth, 'clockAheadMs' | 'roundTripMs'>]>`
    select current_setting('server_version') as version, current_user::text as user,
      r.rolsuper as "isSuperuser", current_setting('server_encoding') as encoding,
      current_setting('fsync')::bool as fsync, current_setting('full_page_writes')::bool as "fullPageWrites",
      current_setting('autovacuum')::bool as autovacuum,
      current_setting('synchronous_commit') as "synchronousCommit",
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
        nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)) as "connectionLimit",
      (select count(*)::int from pg_stat_activity where datname is not null) as "connectionsInUse",
      nullif(current_setting('synchronous_standby_names'), '') as "synchronousStandbys",
      (select count(*)::int from pg_stat_replication) as standbys,
      -- Who is neither a superuser nor in pg_read_all_stats sees the standbys and nothing of their state.
      (select case when bool_or(sync_state is null) then null
          else count(*) filter (where sync_state in ('sync', 'quorum')) end::int
        from pg_stat_replication) as "synchronousNow"
    from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`
  return { ...row, clockAheadMs: clock.now - (began + roundTripMs / 2), roundTripMs }
}
