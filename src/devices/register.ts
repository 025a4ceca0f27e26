import type { Sql } from '../database/open.ts'
import {
  applicationLock,
  batchRows,
  type Columns,
  callRoutine,
  column,
  joinBatch,
  joinColumn,
  routine,
} from '../database/routine.ts'
import type { Caller } from '../http/authenticate.ts'
import type { RefusalName } from '../refusals.ts'
import { callerParameters, findPowerless, joinCallers } from '../tokens/power.ts'
import type { Device } from './rules.ts'

/** A device that is composed and waits to be written. */
export interface DeviceInsert extends Device {
  actor: string
  /** The inventory policy refuses the serial. It is told only when nothing that comes earlier refuses. */
  isUnknown: boolean
  idempotency: { key: string; bodyHash: string } | undefined
  /** The record as JSON text. */
  record: string
}

/**
 * `again`: nothing was written and nothing refused, because something moved meanwhile; compose and submit again.
 * `unsure`: nor here, because a caller of the application has lost its power; look whether this one has.
 */
export type DeviceOutcome = { record: string } | { refusal: RefusalName } | { again: true } | { unsure: true }

const columns = {
  app_id: (device: DeviceInsert) => device.appId,
  actor: (device) => device.actor,
  device_no: (device) => device.deviceNo,
  device_name: (device) => device.deviceName,
  tag: (device) => device.tag,
  province_code: (device) => device.provinceCode,
  city_code: (device) => device.cityCode,
  district_code: (device) => device.districtCode,
  detail_address: (device) => device.detailAddress,
  coordinates: (device) => device.coordinates,
  model_name: (device) => device.modelName,
  product_picture_url: (device) => device.productPictureUrl,
  device_type: (device) => device.deviceType,
  device_type_name: (device) => device.deviceTypeName,
  key: (device) => device.idempotency?.key ?? null,
  body_hash: (device) => device.idempotency?.bodyHash ?? null,
  record: (device) => device.record,
} as const satisfies Columns<DeviceInsert>

type ColumnName = keyof typeof columns

const deviceColumns = [
  'app_id',
  'device_no',
  'device_name',
  'tag',
  'province_code',
  'city_code',
  'district_code',
  'detail_address',
  'coordinates',
  'model_name',
  'product_picture_url',
  'device_type',
  'device_type_name',
] as const

const keyOfRow = `k.app_id = i.app_id and k.operation = 'createDevice' and k.key = i.key
        and k.created_at > p_now - interval '24 hours'`

/** The device rows of a batch, where nothing stands against them; what is bound is answered. */
const insertDevices = (size: 'one' | 'many', admitted: string) => `
    insert into device (${deviceColumns.join(', ')}, bound_at)
    select ${deviceColumns.map((name) => `i.${name}`).join(', ')}, p_now
    from ${batchRows([...deviceColumns, 'key'], size)}
    where ${admitted}
      and (p_unknown = '' or i.device_no <> all(${column('p_unknown')}))
      and (i.key is null or not exists (select from idempotency_key k where ${keyOfRow}))
    on conflict (device_no) do nothing
    returning device_no`

const insertEvents = (size: 'one' | 'many', from: string) => `
    insert into event (app_id, type, time, actor, subject, data)
    select i.app_id, 'device.bound', p_now, i.actor, i.device_no, i.record
    from ${batchRows(['app_id', 'actor', 'device_no', 'record'] satisfies ColumnName[], size)} ${from}`

/**
 * Writes a batch of devices: locks, rows, events and idempotency keys in one transaction. The offline rule holds
 * because the application's state is read by a statement that begins after its lock was had. The serials of a batch
 * differ from each other and come sorted, so that two batches wait for each other in one order.
 *
 * A lone device, which is what an idle service sees, takes the same steps without the machinery that makes rows of
 * arrays: setting that up costs several times the insert itself.
 *
 * Whether the callers still have power is looked at once a batch and not at each row; where one has not, the batch goes
 * on without its application.
 *
 * Answers a row for each device that was not written, and why; usually none.
 */
export const registerDevicesRoutine = routine(
  'register_devices',
  {
    p_now: 'timestamptz',
    p_catalogue_version: 'bigint',
    p_apps: 'text',
    p_unknown: 'text',
    p_count: 'integer',
    p_has_keys: 'boolean',
    ...callerParameters,
  },
  Object.keys(columns),
  'device_no text, outcome text, body_hash text, answer text',
  `  v_online text[];
  v_bound text[];
  v_powerless text[] := '{}';
  v_is_complete boolean;`,
  `  if p_count = 1 then
    perform ${applicationLock('p_apps')};
    ${findPowerless}
    with bound as (${insertDevices(
      'one',
      `exists (select from application a, device_catalogue
        where a.app_id = i.app_id and a.online_status = 1 and version = p_catalogue_version
          and a.app_id <> all(v_powerless))`,
    )}
    )${insertEvents('one', 'join bound using (device_no)')};
    v_is_complete := found;
    v_bound := case when found then array[c_device_no] end;
  else
    perform ${applicationLock('app_id')} from unnest(${column('p_apps')}) as a (app_id);
    ${findPowerless}
    v_online := array(select app_id from application, device_catalogue
      where app_id = any(${column('p_apps')}) and online_status = 1 and version = p_catalogue_version
        and app_id <> all(v_powerless));
    with bound as (${insertDevices('many', 'i.app_id = any(v_online)')}
    )
    select array_agg(device_no) into v_bound from bound;
    v_is_complete := coalesce(cardinality(v_bound), 0) = p_count;
    ${insertEvents('many', 'where v_is_complete or i.device_no = any(v_bound)')};
  end if;

  if p_has_keys then
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select i.app_id, 'createDevice', i.key, i.body_hash, i.record, p_now
    from ${batchRows(['app_id', 'device_no', 'key', 'body_hash', 'record'] satisfies ColumnName[], 'many')}
    where i.key is not null and i.device_no = any(v_bound)
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at;
  end if;

  if v_is_complete then
    return;
  end if;
  return query
  select i.device_no,
    case
      when i.app_id = any(v_powerless) then 'unsure'
      when k.key is not null then 'replay'
      when a.app_id is null then 'applicationNotFound'
      when a.online_status <> 1 then 'applicationOffline'
      when d.app_id = i.app_id then 'deviceAlreadyYours'
      when d.app_id is not null then 'deviceBoundElsewhere'
      when (select version from device_catalogue) <> p_catalogue_version then 'again'
      when i.device_no = any(${column('p_unknown')}) then 'deviceUnknown'
      else 'again'
    end,
    k.body_hash, k.answer
  from ${batchRows(['app_id', 'device_no', 'key'] satisfies ColumnName[], 'many')}
  left join application a on a.app_id = i.app_id
  left join device d on d.device_no = i.device_no
  left join idempotency_key k on ${keyOfRow}
  where v_bound is null or i.device_no <> all(v_bound);`,
)

interface ExceptionRow {
  device_no: string
  outcome: RefusalName | 'replay' | 'again' | 'unsure'
  body_hash: string | null
  answer: string | null
}

/**
 * Writes devices, for so many callers, in one transaction; one outcome a device, in order. The serials differ from each
 * other.
 */
export async function registerDevices(
  sql: Sql,
  devices: DeviceInsert[],
  callers: Iterable<Caller>,
  catalogueVersion: number,
  now: Date,
): Promise<DeviceOutcome[]> {
  const sorted = devices.toSorted((a, b) => (a.deviceNo < b.deviceNo ? -1 : 1))
  const apps = [...new Set(devices.map((device) => device.appId))].sort()
  const unknown = devices.filter((device) => device.isUnknown)
  const rows = await callRoutine<ExceptionRow>(sql, registerDevicesRoutine, [
    now.toISOString(),
    catalogueVersion,
    joinColumn(apps, (appId) => appId),
    unknown.length === 0 ? '' : joinColumn(unknown, (device) => device.deviceNo),
    devices.length,
    devices.some((device) => device.idempotency !== undefined),
    ...joinCallers(callers),
    joinBatch(sorted, columns),
  ])
  const exceptions = new Map(rows.map((row) => [row.device_no, row]))
  return devices.map((device) => toOutcome(device, exceptions.get(device.deviceNo)))
}

function toOutcome(device: DeviceInsert, exception: ExceptionRow | undefined): DeviceOutcome {
  if (exception === undefined) return { record: device.record }
  const { outcome, body_hash, answer } = exception
  if (outcome === 'again') return { again: true }
  if (outcome === 'unsure') return { unsure: true }
  if (outcome !== 'replay') return { refusal: outcome }
  return body_hash === device.idempotency?.bodyHash && answer !== null
    ? { record: answer }
    : { refusal: 'idempotencyKeyReused' }
}
