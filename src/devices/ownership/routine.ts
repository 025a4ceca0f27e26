import type { Row } from 'postgres'
import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import { keyName, type RequestKey } from '../../database/idempotency.ts'
import type { Statements } from '../../database/open.ts'
import { callRoutine, jsonRows, jsonRowsWithRecords, routine, textArray } from '../../database/routine.ts'
import { deviceColumns, deviceTypes, toDevice } from '../columns.ts'
import type { Placement } from '../placement/rules.ts'
import { placementTypes, toPlacement } from '../placement/store.ts'
import { lockPresenceSql } from '../routine.ts'
import { sortedByDevice } from '../rules.ts'
import type { KnownDevice } from './store.ts'

/** A composed change of a device's owner, ready to be written. */
export interface OwnerChange {
  known: KnownDevice
  /** The new owner; null to unbind. */
  target: string | null
  actor: string
  reason: string | null
  keyOwner: string
  idempotency: RequestKey | undefined
  /**
   * The placement that the change ends, with its end set, and its record as JSON text; null for a device without a
   * placement.
   */
  over: { placement: Placement; record: string } | null
  /** The record for the former owner's log, and the record of the response, as JSON texts. */
  record: string
  answer: string
}

/** A row of a batch, as sent to the database. */
interface OwnerRow {
  app_id: string
  device_no: string
  bound_at: string
  row_version: string
  target: string | null
  actor: string
  reason: string | null
  placement_id: number | null
  placement_version: string | null
  site_name: string | null
  removed_at: string | null
  lock: string | null
  key_owner: string
  operation: string | null
  key: string | null
  body_hash: string | null
}

const lockOf = ({ keyOwner, idempotency }: OwnerChange) => idempotency && keyName({ owner: keyOwner, ...idempotency })

const toRow = (change: OwnerChange): OwnerRow => ({
  app_id: change.known.device.appId,
  device_no: change.known.device.deviceNo,
  bound_at: change.known.device.boundAt.toISOString(),
  row_version: change.known.rowVersion,
  target: change.target,
  actor: change.actor,
  reason: change.reason,
  placement_id: change.over?.placement.id ?? null,
  placement_version: change.known.placementVersion,
  site_name: change.over?.placement.siteName ?? null,
  removed_at: change.over?.placement.removedAt?.toISOString() ?? null,
  lock: lockOf(change) ?? null,
  key_owner: change.keyOwner,
  operation: change.idempotency?.operation ?? null,
  key: change.idempotency?.key ?? null,
  body_hash: change.idempotency?.bodyHash ?? null,
})

const text = 'text'
const device = { app_id: text, device_no: text, bound_at: 'timestamptz' }
type Columns = Partial<Record<keyof OwnerRow, string>>
const rowsSql = (columns: Columns) => jsonRows<OwnerRow>('v_rows', columns)
const rowsWithSql = (records: string, columns: Columns) => jsonRowsWithRecords<OwnerRow>('v_rows', columns, records)
const isChangedSql = 'i.device_no = any(v_changed)'
/**
 * A PL/pgSQL loop over the devices that change their owner, each as `v_row`. It handles one row at a time, by its whole
 * key: a join of batch and table could be planned while the table is small, and would then read all of it later. On a
 * cluster, each statement goes to one node.
 */
const forEachSql = (
  columns: Columns,
  statements: string,
) => `for v_row in select * from ${rowsSql(columns)} where ${isChangedSql} loop
    ${statements}
  end loop;`
const isRowSql = 'app_id = v_row.app_id and device_no = v_row.device_no'
/**
 * Reads the current placement of a device of the application `v_app`, with the name of its site and a version of both
 * rows.
 */
const placementSql = (deviceNo: string) => `
      select p.*, s.site_name as present_name, concat_ws(' ', p.xmin, s.xmin) as placement_version
      from placement p cross join lateral (
        select site_name, xmin from site where app_id = v_app and id = p.site_id limit 1) as s
      where p.app_id = v_app and p.device_no = ${deviceNo} and p.removed_at is null limit 1`
/** The columns of a placement as `read_owned` returns them: under distinct names. */
const placementColumns = Object.keys(placementTypes).filter((column) => !(column in deviceTypes))
const copiedColumns = deviceColumns.filter((column) => !['app_id', 'bound_at'].includes(column))

/**
 * Reads the devices with these serials, of any owner, without a lock: the bindings, then the devices of each owner, so
 * that on a cluster no statement joins tables that lie on different nodes. A row without `row_version` is a binding
 * whose device was not found: the device changed its owner between the two reads.
 */
export const readOwnedRoutine = routine(
  'read_owned',
  { p_serials: 'text[]' },
  `${deviceColumns.map((column) => `${column} ${deviceTypes[column]}`).join(', ')}, row_version text,
  ${placementColumns.map((column) => `${column} ${placementTypes[column]}`).join(', ')}, site_name text, placement_version text`,
  `  v_serials text[];
  v_owners text[];
  v_bounds timestamptz[];
  v_app text;`,
  `  select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_serials, v_owners, v_bounds
  from device_binding b where b.device_no = any(p_serials);
  foreach v_app in array array(select distinct owner from unnest(v_owners) as owner) loop
    return query
    -- Each row by its whole key: for a join, a planner without statistics reads all rows of the application.
    select ${deviceColumns.map((column) => (column === 'device_no' ? 'b.device_no' : `d.${column}`)).join(', ')}, d.row_version,
      ${placementColumns.map((column) => `p.${column}`).join(', ')}, p.present_name, p.placement_version
    from unnest(v_serials, v_owners, v_bounds) as b (device_no, app_id, bound_at)
    left join lateral (
      select ${deviceColumns.map((column) => `d.${column}`).join(', ')}, d.xmin::text as row_version from device d
      where d.app_id = v_app and d.bound_at = b.bound_at and d.device_no = b.device_no limit 1) as d on true
    left join lateral (${placementSql('b.device_no')}) as p on true
    where b.app_id = v_app;
  end loop;`,
)

/** The devices with some serials, by serial, and the serials that are bound but are just changing their owner. */
export interface Owned {
  devices: Map<string, KnownDevice>
  moving: Set<string>
}

export async function readOwned(sql: Statements, serials: readonly string[]): Promise<Owned> {
  const rows = await callRoutine<Row>(sql, readOwnedRoutine, [textArray(serials)])
  const [there, moving] = [
    rows.filter((row) => row.row_version !== null),
    rows.filter((row) => row.row_version === null),
  ]
  return {
    devices: new Map(there.map((row) => [row.device_no, toKnown(row)])),
    moving: new Set(moving.map((row) => row.device_no)),
  }
}

function toKnown(row: Row): KnownDevice {
  const { row_version: rowVersion, placement_version: placementVersion } = row
  const placement = placementVersion === null ? null : toPlacement(row, row.app_id)
  return { device: toDevice(row), rowVersion, placement, placementVersion }
}

/**
 * Unbinds devices or transfers them, in one transaction: the locks of old and new owners, bindings, placements,
 * devices, presence, events and idempotency keys. It skips a device whose row or placement has changed since it was
 * read, one whose target is not online, one whose key was used meanwhile, and one of an application whose caller has
 * lost its access. Returns the serials of the others.
 */
export const changeOwnersRoutine = routine(
  'change_owners',
  {
    p_now: 'timestamptz',
    p_apps: 'text[]',
    p_targets: 'text[]',
    p_count: 'integer',
    p_locks: 'text[]',
    p_key_owners: 'text[]',
    p_operations: 'text[]',
    p_keys: 'text[]',
    ...callerParameters,
    p_rows: text,
    p_ends: text,
    p_records: text,
    p_answers: text,
  },
  'device_no text',
  `${lockAndNumberVariablesSql}
  v_rows json := p_rows;
  v_lock text;
  v_online text[];
  v_used text[] := '{}';
  v_changed text[] := '{}';
  v_row record;
  v_device device;
  v_presence device_presence;
  v_last_end timestamptz;
  v_revoked text[] := '{}';`,
  `  -- Two requests with one key may be about different applications.
  foreach v_lock in array p_locks loop
    perform pg_advisory_xact_lock(hashtextextended(v_lock, 0));
  end loop;
  ${lockAndNumberSql}
  ${findRevokedSql()}
  v_online := array(select app_id from application where app_id = any(p_targets) and online_status = 1);
  -- Looked up one by one, by the whole key: for a list, a planner without statistics reads all keys of the owner.
  for v_app in select distinct owner from unnest(p_key_owners) as owner loop
    v_used := v_used || array(
      select concat_ws(' ', v_app, i.operation, i.key)
      from unnest(p_key_owners, p_operations, p_keys) as i (app_id, operation, key)
      cross join lateral (
        select 1 from idempotency_key
        where app_id = v_app and operation = i.operation and key = i.key and created_at + interval '24 hours' > p_now
        limit 1) as kept
      where i.app_id = v_app);
  end loop;
  -- The check holds until the commit: every writer of a device's row takes its application's lock first.
  foreach v_app in array p_apps loop
    v_changed := v_changed || array(
      select i.device_no from ${rowsSql({ ...device, row_version: 'xid', placement_version: text, target: text, lock: text })}
      cross join lateral (
        select 1 from device d
        where d.app_id = v_app and d.bound_at = i.bound_at and d.device_no = i.device_no and d.xmin = i.row_version
        limit 1) as same
      left join lateral (${placementSql('i.device_no')}) as p on true
      where i.app_id = v_app and i.app_id <> all(v_revoked) and p.placement_version is not distinct from i.placement_version
        and (i.target is null or i.target = any(v_online)) and (i.lock is null or i.lock <> all(v_used)));
  end loop;
  if v_changed = '{}' then
    return;
  end if;

  -- A create is composed before it waits for the request that frees the serial, so a binding can begin a little before
  -- the last one ended. In the history it begins where that ends, and never ends before it began, even if the clocks of
  -- two processes differ.
  ${forEachSql(
    { ...device, actor: text, reason: text, removed_at: 'timestamptz' },
    `v_last_end := (select unbound_at from past_binding where device_no = v_row.device_no order by id desc limit 1);
    insert into past_binding (device_no, app_id, bound_at, unbound_at, unbound_by, reason)
    values (v_row.device_no, v_row.app_id, greatest(v_row.bound_at, v_last_end),
      greatest(p_now, v_row.bound_at, v_row.removed_at, v_last_end), v_row.actor, v_row.reason);`,
  )}
  ${forEachSql(
    { ...device, actor: text, reason: text, placement_id: 'bigint', site_name: text, removed_at: 'timestamptz' },
    `continue when v_row.placement_id is null;
    update placement set removed_at = v_row.removed_at, removed_by = v_row.actor, reason = v_row.reason, site_name = v_row.site_name
    where app_id = v_row.app_id and id = v_row.placement_id;`,
  )}

  foreach v_app in array p_apps loop
    -- Report times are written without the application's lock, so their rows are locked too.
    ${lockPresenceSql(rowsSql(device), `and ${isChangedSql}`)}
  end loop;
  if p_targets <> '{}' then
    ${forEachSql(
      { ...device, target: text },
      `continue when v_row.target is null;
    select * into v_presence from device_presence where ${isRowSql};
    if found then
      insert into device_presence (app_id, device_no, reported_at, seen_at, offline_since, faulty_since)
      values (v_row.target, v_row.device_no, v_presence.reported_at, v_presence.seen_at, v_presence.offline_since,
        v_presence.faulty_since);
    end if;
    select * into v_device from device where ${isRowSql} and bound_at = v_row.bound_at;
    insert into device (app_id, bound_at, ${copiedColumns.join(', ')})
    values (v_row.target, p_now, ${copiedColumns.map((column) => `v_device.${column}`).join(', ')});`,
    )}
  end if;
  -- Devices first, as in every routine: on a cluster a statement locks the shards of its table.
  ${forEachSql(device, `delete from device where ${isRowSql} and bound_at = v_row.bound_at;`)}
  ${forEachSql(device, `delete from device_presence where ${isRowSql};`)}
  ${forEachSql(
    { device_no: text, target: text },
    `if v_row.target is null then
      delete from device_binding where device_no = v_row.device_no;
    else
      update device_binding set app_id = v_row.target, bound_at = p_now where device_no = v_row.device_no;
    end if;`,
  )}

  -- Two ids for each device: its placement ends before its binding.
  insert into event (app_id, id, type, time, actor, subject, data)
  select i.app_id, ${eventIdOfRow({ number: '2 * i.n - 1' })}, 'device.unplaced', p_now, i.actor, i.device_no, i.record
  from ${rowsWithSql('p_ends', { app_id: text, device_no: text, actor: text, placement_id: 'bigint' })}
  where i.placement_id is not null and i.device_no = any(v_changed);
  insert into event (app_id, id, type, time, actor, subject, data)
  select i.app_id, ${eventIdOfRow({ number: '2 * i.n' })}, case when i.target is null then 'device.unbound' else 'device.transferred' end,
    p_now, i.actor, i.device_no, i.record
  from ${rowsWithSql('p_records', { app_id: text, device_no: text, target: text, actor: text })}
  where i.device_no = any(v_changed);
  -- Both logs get an event of a transfer, and neither application learns of the other.
  insert into event (app_id, id, type, time, actor, subject, data)
  select i.target, ${eventIdOfRow({ owner: 'i.target', number: '2 * i.n' })}, 'device.transferred', p_now, i.actor, i.device_no, i.record
  from ${rowsWithSql('p_answers', { device_no: text, target: text, actor: text })}
  where i.target is not null and i.device_no = any(v_changed);
  if p_locks <> '{}' then
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select i.key_owner, i.operation, i.key, i.body_hash, i.record, p_now
    from ${rowsWithSql('p_answers', { device_no: text, key_owner: text, operation: text, key: text, body_hash: text })}
    where i.key is not null and i.device_no = any(v_changed)
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at;
  end if;
  return query select unnest(v_changed);`,
)

/**
 * Writes owner changes of distinct devices, in a transaction of its own or within the given one. Checks again that
 * `callers` still have access; pass none where the transaction has checked access itself. Returns the serials that changed.
 */
export async function changeOwners(
  sql: Statements,
  changes: OwnerChange[],
  callers: Iterable<Caller>,
  now: Date,
): Promise<string[]> {
  const sorted = sortedByDevice(changes, ({ known }) => known.device)
  const targets = new Set(changes.flatMap(({ target }) => target ?? []))
  const apps = new Set([...changes.map(({ known }) => known.device.appId), ...targets])
  const keyed = changes.filter(({ idempotency }) => idempotency !== undefined)
  const distinct = (values: (string | undefined)[]) =>
    textArray([...new Set(values.flatMap((value) => value ?? []))].sort())
  const changed = await callRoutine<{ device_no: string }>(sql, changeOwnersRoutine, [
    now.toISOString(),
    distinct([...apps]),
    distinct([...targets]),
    2 * changes.length,
    distinct(keyed.map(lockOf)),
    textArray(keyed.map(({ keyOwner }) => keyOwner)),
    textArray(keyed.map(({ idempotency }) => idempotency?.operation ?? null)),
    textArray(keyed.map(({ idempotency }) => idempotency?.key ?? null)),
    ...callerValues(callers, apps),
    JSON.stringify(sorted.map(toRow)),
    sorted.map(({ over }) => over?.record ?? '').join('\n'),
    sorted.map(({ record }) => record).join('\n'),
    sorted.map(({ answer }) => answer).join('\n'),
  ])
  noteEvents(sql, apps)
  return changed.map((row) => row.device_no)
}
