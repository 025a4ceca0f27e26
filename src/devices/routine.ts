import type { Caller } from '../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../callers/store.ts'
import type { LaneOutcome } from '../callers/submitter.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../database/application-lock.ts'
import { noteEvents } from '../database/commits.ts'
import { findKeptKeysSql, keptAnswer, keptKey, type RequestKey } from '../database/idempotency.ts'
import type { Statements } from '../database/open.ts'
import { arrayRows, callRoutine, jsonRows, recordsOf, routine, textArray } from '../database/routine.ts'
import { Refusal, type RefusalName } from '../vocabulary/refusals.ts'
import { registeredColumns } from './columns.ts'
import { compareSerials, type Device } from './rules.ts'

export interface DeviceInsert extends Device {
  actor: string
  /** The inventory policy refuses the serial. Refusals that rank above `deviceUnknown` come first. */
  isUnknown: boolean
  idempotency: RequestKey | undefined
  record: string
}

/** Written now, or earlier by the first request with its key. */
export type WrittenDevice = Pick<DeviceInsert, 'record' | 'boundAt'>

export type RegistrationOutcome = LaneOutcome<WrittenDevice>

type RegisteredColumn = (typeof registeredColumns)[keyof typeof registeredColumns]
/** Nulls are left out, because parsing one costs as much as a value. */
type DeviceRow = Record<RegisteredColumn, string | undefined>

// Building the row from column names would cost several times as much.
const toRow = (device: DeviceInsert): DeviceRow => ({
  app_id: device.appId,
  device_no: device.deviceNo,
  device_name: device.deviceName,
  tag: device.tag ?? undefined,
  province_code: device.provinceCode,
  city_code: device.cityCode,
  district_code: device.districtCode,
  detail_address: device.detailAddress ?? undefined,
  coordinates: device.coordinates,
  model_name: device.modelName ?? undefined,
  product_picture_url: device.productPictureUrl ?? undefined,
  device_type: device.deviceType ?? undefined,
  device_type_name: device.deviceTypeName ?? undefined,
})

const text = 'text'
const columnNamesSql = Object.values(registeredColumns).join(', ')
const deviceTypes = Object.fromEntries(Object.values(registeredColumns).map((column) => [column, text]))

/** Arrays for values that several statements read: parsing JSON again costs more than writing a row. */
const owned = { app_id: 'p_owners', device_no: 'p_serials' }
const claimRowsSql = arrayRows({ ...owned, key: 'p_keys' })

/**
 * SQL for a routine: locks rows of `device_presence` in `v_app`. `rows` lists devices as `i`, in the order of every
 * writer. It uses whole keys: for a list, a planner without statistics reads all rows of the application.
 */
export const lockPresenceSql = (rows: string, condition = '') => `perform 1 from ${rows}
      cross join lateral (
        select 1 from device_presence p where p.app_id = v_app and p.device_no = i.device_no for update) as locked
      where i.app_id = v_app ${condition};`

/**
 * Writes a batch of devices: locks, bindings, rows, events and idempotency keys in one transaction. It locks the
 * applications first, so an application that has gone offline gets no device. The bindings' primary key gives a serial
 * one owner. Serials must be distinct and sorted, so that two batches can't deadlock. It skips an application whose
 * caller has lost access. Returns a row with the reason for each device that was not written. A dry run returns 'free'
 * for those that it could write.
 */
export const registerDevicesRoutine = routine(
  'register_devices',
  {
    p_now: 'timestamptz',
    p_catalogue_version: 'bigint',
    p_apps: 'text[]',
    p_unknown: 'text[]',
    p_count: 'integer',
    p_owners: 'text[]',
    p_serials: 'text[]',
    p_actors: 'text[]',
    p_keys: 'text[]',
    p_body_hashes: 'text[]',
    ...callerParameters,
    p_rows: text,
    p_records: text,
    p_is_dry: 'boolean',
  },
  'device_no text, outcome text, body_hash text, answer text, kept_at timestamptz',
  `${lockAndNumberVariablesSql}
  v_online text[];
  v_kept text[] := '{}';
  v_bound text[];
  -- The serials of the batch that are bound, and their owners.
  v_held text[];
  v_holders text[];
  v_online_status smallint;
  v_revoked text[] := '{}';
  v_records text[] := ${recordsOf('p_records')};
  v_is_complete boolean := false;`,
  `  ${lockAndNumberSql}
  ${findRevokedSql()}
  v_online := array(select app_id from application, device_catalogue
    where app_id = any(p_apps) and online_status = 1 and version = p_catalogue_version and app_id <> all(v_revoked));
  if p_keys <> '{}' then
    ${findKeptKeysSql('createDevice', 'p_owners')}
  end if;

  with bound as (
    insert into device_binding (device_no, app_id, bound_at)
    select i.device_no, i.app_id, p_now from ${claimRowsSql}
    where not p_is_dry and i.app_id = any(v_online) and i.device_no <> all(p_unknown)
      and (v_kept = '{}' or i.key is null or ${keptKey} <> all(v_kept))
    on conflict (device_no) do nothing
    returning device_no
  )
  select array_agg(device_no) into v_bound from bound;

  if v_bound is not null then
    -- Nearly always true. To search for each row in v_bound would cost as much as to write it.
    v_is_complete := cardinality(v_bound) = p_count;
    insert into device (${columnNamesSql}, bound_at)
    select ${columnNamesSql}, p_now from ${jsonRows<DeviceRow>('p_rows::json', deviceTypes)}
    where v_is_complete or i.device_no = any(v_bound);
    insert into event (app_id, id, type, time, actor, subject, data)
    select i.app_id, ${eventIdOfRow}, 'device.bound', p_now, i.actor, i.device_no, i.record
    from ${arrayRows({ ...owned, actor: 'p_actors', record: 'v_records' })}
    where v_is_complete or i.device_no = any(v_bound);
    if p_keys <> '{}' then
      insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
      select i.app_id, 'createDevice', i.key, i.body_hash, i.record, p_now
      from ${arrayRows({ ...owned, key: 'p_keys', body_hash: 'p_body_hashes', record: 'v_records' })}
      where i.key is not null and i.device_no = any(v_bound)
      on conflict (app_id, operation, key) do update
        set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at;
    end if;
  end if;

  if v_is_complete then
    return;
  end if;
  select array_agg(b.device_no), array_agg(b.app_id) into v_held, v_holders from device_binding b
  where b.device_no = any(p_serials);
  foreach v_app in array p_apps loop
    v_online_status := (select online_status from application where app_id = v_app);
    return query
    select i.device_no,
      case
        when v_app = any(v_revoked) then 'revoked'
        when k.key is not null then 'replay'
        when v_online_status is null then 'applicationNotFound'
        when v_online_status <> 1 then 'applicationOffline'
        when held.app_id = v_app then 'deviceAlreadyYours'
        when held.app_id is not null then 'deviceBoundElsewhere'
        when (select version from device_catalogue where only_row) <> p_catalogue_version then 'again'
        when i.device_no = any(p_unknown) then 'deviceUnknown'
        when p_is_dry then 'free'
        else 'again'
      end,
      k.body_hash, k.answer, k.created_at
    from ${claimRowsSql}
    left join unnest(v_held, v_holders) as held (device_no, app_id) on held.device_no = i.device_no
    left join lateral (${keptAnswer('createDevice')}) as k on true
    where i.app_id = v_app and (v_bound is null or i.device_no <> all(v_bound));
  end loop;`,
)

function keyArrays(devices: DeviceInsert[]): [string, string] {
  if (devices.every(({ idempotency }) => idempotency === undefined)) return ['{}', '{}']
  return [
    textArray(devices.map(({ idempotency }) => idempotency?.key ?? null)),
    textArray(devices.map(({ idempotency }) => idempotency?.bodyHash ?? null)),
  ]
}

interface ExceptionRow {
  device_no: string
  outcome: RefusalName | 'replay' | 'again' | 'revoked' | 'free'
  body_hash: string | null
  answer: string | null
  kept_at: Date | null
}

/** Writes devices with distinct serials in one transaction; a dry run only checks. Returns ordered outcomes. */
export async function registerDevices(
  sql: Statements,
  devices: DeviceInsert[],
  callers: Iterable<Caller>,
  { catalogueVersion, now, isDryRun }: { catalogueVersion: number; now: Date; isDryRun: boolean },
): Promise<RegistrationOutcome[]> {
  const sorted = devices.toSorted((a, b) => compareSerials(a.deviceNo, b.deviceNo))
  const apps = [...new Set(devices.map((device) => device.appId))].sort()
  const unknown = devices.filter((device) => device.isUnknown)
  const refused = await callRoutine<ExceptionRow>(sql, registerDevicesRoutine, [
    now.toISOString(),
    catalogueVersion,
    textArray(apps),
    textArray(unknown.map((device) => device.deviceNo)),
    devices.length,
    textArray(sorted.map((device) => device.appId)),
    textArray(sorted.map((device) => device.deviceNo)),
    textArray(sorted.map((device) => device.actor)),
    ...keyArrays(sorted),
    ...callerValues(callers, apps),
    JSON.stringify(sorted.map(toRow)),
    sorted.map((device) => device.record).join('\n'),
    isDryRun,
  ])
  noteEvents(sql, apps)
  const exceptions = new Map(refused.map((row) => [row.device_no, row]))
  return devices.map((device) => toOutcome(device, exceptions.get(device.deviceNo)))
}

function toOutcome(device: DeviceInsert, exception: ExceptionRow | undefined): RegistrationOutcome {
  if (exception === undefined || exception.outcome === 'free') return { record: device }
  const { outcome, body_hash, answer, kept_at } = exception
  if (outcome === 'again') return { again: true }
  if (outcome === 'revoked') return { revoked: true }
  if (outcome !== 'replay') return { refusal: new Refusal(outcome) }
  const { idempotency } = device
  if (idempotency === undefined || body_hash !== idempotency.bodyHash || answer === null || kept_at === null) {
    return { refusal: new Refusal('idempotencyKeyReused') }
  }
  idempotency.isReplayed = true
  // A key is stored with the time at which its device was bound.
  return { record: { record: answer, boundAt: kept_at } }
}
