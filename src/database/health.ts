import type { Sql } from './open.ts'

/** What of the server's own state decides whether it keeps what it is given, and for how many. */
export interface DatabaseHealth {
  version: string
  user: string
  isSuperuser: boolean
  encoding: string
  fsync: boolean
  fullPageWrites: boolean
  autovacuum: boolean
  synchronousCommit: string
  /** As many as this user may have at once. */
  connectionLimit: number
  connectionsInUse: number
  /** Commits wait for so many standbys, or for any that the setting names; null where they wait for none. */
  synchronousStandbys: string | null
  standbys: number
  /** Of the standbys, those for which commits wait. */
  synchronousNow: number
  /** By how much its clock is ahead of ours, and how sure that is. */
  clockAheadMs: number
  roundTripMs: number
}

/** Asks the server about itself. Needs no special right. */
export async function readHealth(sql: Sql): Promise<DatabaseHealth> {
  // The first statement of a connection also opens it, which is no part of a round trip.
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
      (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as "synchronousNow"
    from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`
  return { ...row, clockAheadMs: clock.now - (began + roundTripMs / 2), roundTripMs }
}
