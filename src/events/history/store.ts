import type { Row } from 'postgres'
import { takeLock, tryLock } from '../../database/advisory-lock.ts'
import type { Sql } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import type { EventType } from '../../vocabulary/event-types.ts'
import { showMoment } from '../../vocabulary/moments.ts'

// History is two tables (decision 0022): `event`, and `state_change` for device states, by far the most. An
// application's ids run through both. Each is partitioned by ranges of ids, so that expired history is dropped with its
// partition.

export const stateType = 'device.stateChanged' satisfies EventType

const changeColumnsSql = `app_id, id, '${stateType}' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data`

const eventsSql = 'select app_id, id, type, time, actor, subject, address, data from event'
const changesSql = `select ${changeColumnsSql} from state_change`

/** SQL: both tables as `history`, with the columns of `event`; `readData` reads its `data`. */
export const historySql = `(
      ${eventsSql}
      union all
      ${changesSql}) as history`

/** SQL: `history` from the tables that hold these types; null means all. */
export function historyOfSql(types: readonly string[] | null): string {
  if (types?.includes(stateType) === false) return `(${eventsSql}) as history`
  return types?.every((type) => type === stateType) ? `(${changesSql}) as history` : historySql
}

/** SQL: an application's first events after an id, in order. Each table is read by its index of ids. */
export const eventsAfterSql = (appId: string, id: string, limit: string): string =>
  firstEventsSql(`app_id = ${appId} and id > ${id}`, limit)

/** SQL: the same, up to another id. */
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

export function readData(row: Row): unknown {
  const data = JSON.parse(row.data)
  return isStateChange(row) ? stateData(row, data) : data
}

export function dataText(row: Row): string {
  return isStateChange(row) ? JSON.stringify(readData(row)) : row.data
}

/** A process of the previous version may have written a state change as an event. */
const isStateChange = ({ type, data }: Row) => type === stateType && data.startsWith('[')

/** Returns a state as `getDeviceState` does, with the previous values of changed fields. */
function stateData({ app_id: appId, subject: deviceNo }: Row, columns: unknown[]) {
  const [status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy, ...rest] = columns
  const [reportedAt, before] = rest as [string | null, string]
  const state = { status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy }
  const lastReportTime = reportedAt === null ? null : showMoment(new Date(reportedAt))
  return { appId, deviceNo, ...state, lastReportTime, before: JSON.parse(before) }
}

export interface HistoryDays {
  eventDays: number
  stateEventDays: number
}

/**
 * A partition stays up to this many days longer while a callback waits for its events. Rows of a default partition
 * always do.
 */
const heldDays = 7
/**
 * A partition holds this part of the table's days, at least one. Rows stay up to one part longer, and a read looks into
 * about this many indexes.
 */
const partOfDays = 15
/** Every other statement waits behind one that waits for a lock on a whole table. */
const lockTimeoutMs = 250
/** Long, because on a cluster a partition is created or dropped on every node. */
const stepTimeoutMs = 30_000

/**
 * Creates the database function `keep_history`, which creates the next partition or drops the oldest expired one. It
 * has its owner's rights and fixed days, so that a role without rights to delete can prune only old events. It is
 * called once here, so that today's partitions exist at the start.
 */
export async function installHistoryKeeping(owner: Sql, { eventDays, stateEventDays }: HistoryDays): Promise<void> {
  await transaction(owner, async (tx) => {
    // Two processes that replace the function at the same time would fail.
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

export interface KeptPartition {
  /** The name of the partition, or of its table if none could be added. */
  name: string
  /** `held`: expired, but a callback still waits for its events. `busy`: in use, to be retried. */
  outcome: 'added' | 'dropped' | 'dropped although needed' | 'held' | 'busy'
}

/** One call deletes this many rows of a default partition. */
const defaultRows = 2000

/** Creates and drops partitions, in one process at a time. Returns what was dropped, then what failed. */
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
