import type { ParameterOrJSON, Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { countedRows, type PageKey, type PageWish, rowsOf } from '../database/page.ts'
import { column, joinColumn } from '../database/routine.ts'
import { deviceColumns } from '../devices/store.ts'
import type { CopiedDevice } from './columns.ts'
import { anyDevice, asciiLower, type DeviceFilter, fittingStates, isIndexed } from './rules.ts'

/** Newest first. Microseconds since 1970 are the same text in every session, whatever its time zone. */
export const deviceKey: PageKey = [
  { column: 'bound_micros', type: 'bigint' },
  { column: 'device_no', type: 'text' },
]

const boundMicros = '(extract(epoch from bound_at) * 1000000)::bigint'
const momentOf = (micros: string) => `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
const pageKey = `json_build_array(${boundMicros}::text, device_no)::text as page_key`

/** A row of a page, with `deviceColumns` and its key in `page_key`. */
export type DeviceRow = Row

/** A statement and its parameters. */
export interface Statement {
  text: string
  values: ParameterOrJSON<never>[]
}

/** Collects parameters; answers the place of each. */
function parameters() {
  const values: ParameterOrJSON<never>[] = []
  return { values, add: (value: string | number | Date) => `$${values.push(value)}` }
}

type Parameters = ReturnType<typeof parameters>

/**
 * One select for each combination of states that fits, all of them together. Each reads one range of the index
 * `device_by_state`, which is in the order of pages; so the ranges are merged, and no more of them is read than asked.
 */
function ranges(appId: string, filter: DeviceFilter, { add }: Parameters, columns: string, tail: string): string {
  const conditions = [`app_id = ${add(appId)}`, ...conditionsOf(filter, add)].join(' and ')
  return fittingStates(filter)
    .map(
      ({ status, onlineStatus, runStatus }) =>
        `(select ${columns} from device where ${conditions} and status = ${status}
          and online_status = ${onlineStatus} and run_status = ${runStatus} ${tail})`,
    )
    .join(' union all ')
}

/** What a device must fulfil beside its states. */
function conditionsOf(filter: DeviceFilter, add: Parameters['add']): string[] {
  const { deviceNo, deviceName, boundFrom, boundBefore, bbox } = filter
  const conditions: string[] = []
  if (boundFrom !== null) conditions.push(`bound_at >= ${add(boundFrom)}`)
  if (boundBefore !== null) conditions.push(`bound_at < ${add(boundBefore)}`)
  for (const [name, value] of [
    ['province_code', filter.provinceCode],
    ['city_code', filter.cityCode],
    ['district_code', filter.districtCode],
    ['model_name', filter.modelName],
  ]) {
    if (value != null) conditions.push(`${name} = ${add(value)}`)
  }
  if (deviceNo !== null) conditions.push(`starts_with(device_no, ${add(deviceNo)})`)
  if (deviceName !== null) conditions.push(`strpos(lower(device_name collate "C"), ${add(asciiLower(deviceName))}) > 0`)
  if (bbox !== null) {
    const [longitude, latitude] = [1, 2].map((part) => `split_part(coordinates, ',', ${part})::double precision`)
    conditions.push(`${longitude} between ${add(bbox.minLng)} and ${add(bbox.maxLng)}`)
    conditions.push(`${latitude} between ${add(bbox.minLat)} and ${add(bbox.maxLat)}`)
  }
  return conditions
}

const order = 'order by bound_at desc, device_no desc'

/** What comes behind the cursor. */
function behind({ after }: PageWish, { add }: Parameters): string {
  const [micros, deviceNo] = after ?? []
  if (micros === undefined || deviceNo === undefined) return 'true'
  return `(bound_at, device_no) < (${momentOf(add(micros))}, ${add(deviceNo)})`
}

/** The rows of a page, and one more when another page follows: as far along the index as the page's end. */
export function pageStatement(appId: string, filter: DeviceFilter, wish: PageWish): Statement {
  const bound = parameters()
  const tail = `and ${behind(wish, bound)} ${order} limit ${bound.add(wish.offset + wish.pageSize + 1)}`
  const text = `
    select ${deviceColumns}, ${pageKey} from (
      select device_no from (${ranges(appId, filter, bound, 'bound_at, device_no', tail)}) as found
      ${order} limit ${bound.add(wish.pageSize + 1)} offset ${bound.add(wish.offset)}
    ) as page join device using (device_no) ${order}`
  return { text, values: bound.values }
}

/** How many devices fit, as far as is counted. */
export function countStatement(appId: string, filter: DeviceFilter): Statement {
  const bound = parameters()
  const text = `
    select count(*) as counted from (
      select from (${ranges(appId, filter, bound, '', '')}) as found limit ${countedRows + 1}
    ) as fitting`
  return { text, values: bound.values }
}

/**
 * Both in one, for a filter that looks at the devices themselves: they are read once. A page that lies behind what is
 * counted comes out short.
 */
export function walkStatement(appId: string, filter: DeviceFilter, wish: PageWish): Statement {
  const bound = parameters()
  const tail = `${order} limit ${countedRows + 1}`
  const text = `
    with fitting as materialized (
      select bound_at, device_no from (${ranges(appId, filter, bound, 'bound_at, device_no', tail)}) as found ${tail}
    )
    select counted, page.* from (select count(*) as counted from fitting) as total left join (
      select ${deviceColumns}, ${pageKey} from (
        select device_no from fitting where ${behind(wish, bound)}
        ${order} limit ${bound.add(wish.pageSize + 1)} offset ${bound.add(wish.offset)}
      ) as listed join device using (device_no)
    ) as page on true ${order}`
  return { text, values: bound.values }
}

/** Reads a page and the total by walking along the index. */
export async function walkDevices(sql: Sql, appId: string, filter: DeviceFilter, wish: PageWish) {
  const readPage = () => rowsOf(run<Row[]>(sql, pageStatement(appId, filter, wish)))
  if (isIndexed(filter)) {
    const [rows, [{ counted }]] = await Promise.all([
      readPage(),
      run<[{ counted: number }]>(sql, countStatement(appId, filter)),
    ])
    return { rows, counted }
  }
  const walked = await rowsOf(run<Row[]>(sql, walkStatement(appId, filter, wish)))
  const counted: number = walked[0]?.counted
  const rows = walked.filter((row) => row.device_no !== null)
  const isCut = counted > countedRows && rows.length <= wish.pageSize
  return { rows: isCut ? await readPage() : rows, counted }
}

/** How many devices the application has, as far as they are counted. */
export async function countDevices(sql: Statements, appId: string, atMost: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) as count from (select from device where app_id = ${appId} limit ${atMost}) as counted`
  return row.count
}

/**
 * The devices with these serials, in this order. `isTouched` tells that one of them has changed since the event
 * `through`, or is not the application's any more.
 */
export async function readFound(sql: Sql, appId: string, serials: readonly string[], through: number) {
  if (serials.length === 0) return { rows: [], isTouched: false }
  const rows = await run<Row[]>(sql, foundStatement(appId, serials, through))
  return { rows, isTouched: rows.length < serials.length || rows.some((row) => row.is_touched) }
}

export function foundStatement(appId: string, serials: readonly string[], through: number): Statement {
  const text = `
    select ${deviceColumns}, ${pageKey}, exists (
      select from event where app_id = $1 and id > $3 and subject = any(${column('$2')})) as is_touched
    from unnest(${column('$2')}) with ordinality as found (device_no, place) join device using (device_no)
    where app_id = $1 order by place`
  return { text, values: [appId, joinColumn(serials, (serial) => serial), through] }
}

/** The id of the application's last event; 0 when it has none. */
export async function lastEventId(sql: Statements, appId: string): Promise<number> {
  const [row] = await sql<[{ id: number }]>`select coalesce(max(id), 0) as id from event where app_id = ${appId}`
  return row.id
}

/** What a copy takes of a device, in one text: cheaper than columns, which the driver reads value by value. */
const copied = [
  ...['device_no', boundMicros, 'device_name', 'province_code', 'city_code', 'district_code'],
  ...["coalesce(model_name, '')", 'coordinates', 'status', 'online_status', 'run_status'],
]
// No stored string holds a control character (contract §2).
const copiedText = `concat_ws(E'\\x1f', ${copied.join(', ')})`

function readCopied(text: string): CopiedDevice {
  const [deviceNo = '', micros, deviceName = '', provinceCode = '', cityCode = '', districtCode = '', ...others] =
    text.split('\x1f')
  const [modelName = '', coordinates = '', ...states] = others
  const [status = 0, onlineStatus = 0, runStatus = 0] = states.map(Number)
  const codes = { provinceCode, cityCode, districtCode, modelName: modelName === '' ? null : modelName }
  return { deviceNo, boundMicros: Number(micros), deviceName, ...codes, coordinates, status, onlineStatus, runStatus }
}

/** An application's devices for its copy, the oldest first, from behind one on. */
export async function readDevices(
  sql: Statements,
  appId: string,
  after: CopiedDevice | undefined,
  limit: number,
): Promise<CopiedDevice[]> {
  const [row] = await run<[{ devices: string | null }]>(sql, devicesStatement(appId, after, limit))
  return row.devices?.split('\n').map(readCopied) ?? []
}

export function devicesStatement(
  appId: string,
  after: Pick<CopiedDevice, 'boundMicros' | 'deviceNo'> | undefined,
  limit: number,
): Statement {
  const bound = parameters()
  const more =
    after === undefined
      ? ''
      : `and (bound_at, device_no) > (${momentOf(bound.add(after.boundMicros))}, ${bound.add(after.deviceNo)})`
  const oldest = `order by bound_at, device_no limit ${bound.add(limit)}`
  const text = `
    select string_agg(${copiedText}, E'\\n') as devices
    from (select * from (${ranges(appId, anyDevice, bound, '*', `${more} ${oldest}`)}) as merged ${oldest}) as device`
  return { text, values: bound.values }
}

/** What an application's events behind one have touched, as it is now. */
export interface Changes {
  /** The last event that was read; null when there is none. */
  through: number | null
  events: number
  devices: CopiedDevice[]
  /** Serials that are not the application's any more, and what events of other things are about. */
  others: string[]
}

/** One statement, and so one moment: when fewer events than `limit` come back, no change up to it is missing. */
export async function readChanges(sql: Statements, appId: string, since: number, limit: number): Promise<Changes> {
  const rows = await run<ChangeRow[]>(sql, changesStatement(appId, since, limit))
  const [first] = rows
  return {
    through: first?.through ?? null,
    events: first?.events ?? 0,
    devices: rows.flatMap(({ device }) => (device === null ? [] : [readCopied(device)])),
    others: rows.flatMap(({ subject, device }) => (subject === null || device !== null ? [] : [subject])),
  }
}

interface ChangeRow {
  through: number | null
  events: number
  subject: string | null
  device: string | null
}

export function changesStatement(appId: string, since: number, limit: number): Statement {
  const text = `
    with tail as materialized (
      select id, subject from event where app_id = $1 and id > $2 order by id limit $3
    )
    select through, events, subject, case when device_no is not null then ${copiedText} end as device
    from (select max(id) as through, count(*) as events from tail) as read
    left join (select distinct subject from tail where subject is not null) as touched on true
    left join device on device_no = subject and app_id = $1`
  return { text, values: [appId, since, limit] }
}

/** The applications that hold the most devices, as far as the database's statistics know. */
export async function findLargeApplications(sql: Statements, least: number): Promise<string[]> {
  const rows = await sql<{ app_id: string }[]>`
    select app_id from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    join pg_stats on schemaname = nspname and tablename = relname and attname = 'app_id',
    unnest(most_common_vals::text::text[], most_common_freqs) as common (app_id, share)
    where pg_class.oid = 'device'::regclass and share * reltuples >= ${least}
    order by share desc`
  return rows.map((row) => row.app_id)
}

function run<Rows extends readonly object[]>(sql: Statements, { text, values }: Statement): Promise<Rows> {
  return sql.unsafe<Rows & Row[]>(text, values, { prepare: true }) as unknown as Promise<Rows>
}
