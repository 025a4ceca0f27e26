import type { Row } from 'postgres'
import { takeLock, tryLock } from '../../database/advisory-lock.ts'
import type { Sql } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import type { EventType } from '../../vocabulary/event-types.ts'
import { showMoment } from '../../vocabulary/moments.ts'

// History is two tables (decision 0022): `event`, and `state_change` for the changes of devices' states, which are by
// far the most. An application's ids run through both. Each is partitioned by ranges of ids, which grow with time, so
// that expired history is dropped with its partition.

export const stateType = 'device.stateChanged' satisfies EventType

/** SQL: a row of `state_change` with the columns of `event`. */
const changeColumnsSql = `app_id, id, '${stateType}' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data`

const eventsSql = 'select app_id, id, type, time, actor, subject, address, data from event'
const changesSql = `select ${changeColumnsSql} from state_change`

/**
 * SQL: both tables as one relation, `history`, with the columns of `event`. `data` of a change of state is a JSON list of
 * what `readData` needs. Ordered by id within an application, the planner merges the indexes of both.
 */
export const historySql = `(
      ${eventsSql}
      union all
      ${changesSql}) as history`

/** SQL: `history` from only those tables that hold events of these types (null for all types). */
export function historyOfSql(types: readonly string[] | null): string {
  if (types?.includes(stateType) === false) return `(${eventsSql}) as history`
  return types?.every((type) => type === stateType) ? `(${changesSql}) as history` : historySql
}

/**
 * SQL: the first events of an application after an id, in order. Each table is read by its own index of ids, even where
 * the planner misjudges the number of rows.
 */
export const eventsAfterSql = (appId: string, id: string, limit: string): string =>
  firstEventsSql(`app_id = ${appId} and id > ${id}`, limit)

/** SQL: as `eventsAfterSql`, up to another id. */
export const eventsBetweenSql = (appId: string, after: string, through: string, limit: string): string =>
  firstEventsSql(`app_id = ${appId} and id > ${after} and id <= ${through}`, limit)

function firstEventsSql(condition: string, limit: string): string {
  const first = `where ${condition} order by id limit ${limit}`
  return `(
      (${eventsSql} ${first})
      union all
      (${changesSql} ${first})
      order by id limit ${limit}) as history`
}

/** The data of an event, from its `type`, `app_id`, `subject` and `data` in `historySql`. */
export function readData(row: Row): unknown {
  const data = JSON.parse(row.data)
  return isStateChange(row) ? stateData(row, data) : data
}

/** The data of an event as JSON text. */
export function dataText(row: Row): string {
  return isStateChange(row) ? JSON.stringify(readData(row)) : row.data
}

/** A process of the previous version may have written a change of state as an event, with the device's record. */
const isStateChange = ({ type, data }: Row) => type === stateType && data.startsWith('[')

/** The state after a change as `getDeviceState` answers it, and the members that it changed, as they were. */
function stateData({ app_id: appId, subject: deviceNo }: Row, columns: unknown[]) {
  const [status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy, ...rest] = columns
  const [reportedAt, before] = rest as [string | null, string]
  const state = { status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy }
  const lastReportTime = reportedAt === null ? null : showMoment(new Date(reportedAt))
  return { appId, deviceNo, ...state, lastReportTime, before: JSON.parse(before) }
}

export interface HistoryDays {
  eventDays: number
  /** The days of changes of state; they are never kept for longer than events. */
  stateEventDays: number
}

/**
 * A partition stays at most this many days longer than its days while a callback still waits for events in it. Rows of
 * a default partition always stay that much longer.
 */
const heldDays = 7
/**
 * A partition holds one of this many parts of its table's days, but at least one day. So rows stay at most one part
 * longer than their days, and a read of an application looks into about this many indexes.
 */
const partOfDays = 15
/** How long a statement waits for a lock that it needs on a whole table; every other one waits behind it. */
const lockTimeoutMs = 250
/** How long one partition may take: on a cluster it is made, or dropped, on every node. */
const stepTimeoutMs = 30_000

/**
 * Creates the database function `keep_history`, which makes the next partition ahead of time, or else drops the oldest
 * one whose days are over. The function runs with its owner's rights and contains the number of days, so that a role
 * which may not delete events can prune old events, but no younger ones. It is called once here, so that today's
 * partitions exist when the service is ready.
 */
export async function installHistoryKeeping(owner: Sql, { eventDays, stateEventDays }: HistoryDays): Promise<void> {
  await transaction(owner, async (tx) => {
    // Two processes that start at once replace the function one after the other: if they did it at the same time, one
    // would fail.
    await takeLock(tx, 'install history keeping')
    const [row] = await tx<[{ path: string }]>`select quote_ident(current_schema()) as path`
    await tx.unsafe(`
      create or replace function keep_history(p_limit integer) returns table (name text, outcome text)
      language plpgsql security definer
      -- pg_temp last, so that a caller's temporary tables cannot stand in for the service's.
      set search_path = ${row.path}, pg_temp
      set lock_timeout = '${lockTimeoutMs}ms'
      as $$
      declare
        v_day bigint := 86400000000;
        v_now bigint := (extract(epoch from now()) * 1000000)::bigint;
        v_kept record;
        v_old record;
        v_first bigint;
        v_width bigint;
        v_before bigint;
        v_is_needed boolean;
      begin
        for v_kept in select * from (values ('event', ${eventDays}),
          ('state_change', ${Math.min(stateEventDays, eventDays)})) as k (parent, days)
        loop
          v_width := greatest(1, v_kept.days / ${partOfDays}) * v_day;
          v_before := v_now - v_kept.days * v_day;
          v_first := greatest(v_now / v_day * v_day,
            (select max(p.end_id) from history_partition p where p.parent = v_kept.parent));
          if v_first <= v_now + v_width then
            begin
              perform add_history_partition(v_kept.parent, v_first, v_first + v_width);
              return query select v_kept.parent, 'added';
              -- The next one in a transaction of its own: on a cluster each is one of every shard, and all of them at
              -- once would hold the locks of the whole history for many seconds.
              return;
            exception when lock_not_available then
              return query select v_kept.parent, 'busy';
            end;
          end if;

          for v_old in select * from history_partition p
            where p.parent = v_kept.parent and p.end_id <= v_before order by p.first_id
          loop
            execute format('select exists (
                select 1 from callback_endpoint e where e.stopped_at is null and e.through_event_id < %2$s
                  and exists (select 1 from %1$I h where h.app_id = e.app_id and h.id > e.through_event_id))
              or exists (select 1 from delivery d where d.status = 1 and d.id >= %3$s and d.id < %2$s
                and exists (select 1 from %1$I h where h.app_id = d.app_id and h.id = d.id))',
              v_old.name, v_old.end_id, v_old.first_id) into v_is_needed;
            if v_is_needed and v_old.end_id > v_before - ${heldDays} * v_day then
              return query select v_old.name, 'held';
              continue;
            end if;
            begin
              execute format('drop table %I', v_old.name);
              return query select v_old.name, case when v_is_needed then 'dropped although needed' else 'dropped' end;
              -- The others in transactions of their own: until this one ends, every statement on the table waits.
              return;
            exception when lock_not_available then
              return query select v_old.name, 'busy';
            end;
          end loop;

          execute format('delete from %1$I d using (
              select o.app_id, o.id from %1$I o where o.id < $1 order by o.id limit $2) as old
            where d.app_id = old.app_id and d.id = old.id', v_kept.parent || '_default')
            using v_before - ${heldDays} * v_day, p_limit;
        end loop;
      end $$;
      revoke all on function keep_history from public`)
  })
  await keepHistory(owner)
}

/** What `keep_history` did to a partition, or could not do. */
export interface KeptPartition {
  /** The name of the partition; if it was to be added, the name of its table. */
  name: string
  /**
   * `held`: its days are over, but a callback still waits for some of its events. `busy`: it was in use, and is tried
   * again.
   */
  outcome: 'added' | 'dropped' | 'dropped although needed' | 'held' | 'busy'
}

/** How many rows of a default partition one call deletes. */
const defaultRows = 2000

/**
 * Creates partitions ahead of time and drops old ones, each in a transaction of its own. Does nothing while another
 * process does this. Returns what was dropped, and then what could not be added or dropped.
 */
export async function keepHistory(sql: Sql): Promise<KeptPartition[]> {
  const dropped: KeptPartition[] = []
  for (;;) {
    const step = await transaction(sql, async (tx) => {
      if (!(await tryLock(tx, 'history-keeper'))) return []
      await tx.unsafe(`set local statement_timeout = ${stepTimeoutMs}`)
      return tx<KeptPartition[]>`select name, outcome from keep_history(${defaultRows}::integer)`
    })
    const gone = step.filter(({ outcome }) => outcome.startsWith('dropped'))
    dropped.push(...gone)
    const isAdded = step.some(({ outcome }) => outcome === 'added')
    if (gone.length === 0 && !isAdded) return [...dropped, ...step]
  }
}
