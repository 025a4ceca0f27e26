// Fills what years of operation leave in addition to devices, their bindings and their presence: events, changes of state.
// The database makes the rows, and COPY puts them into the tables that the service uses, with all their indexes.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readRows, writeRows } from '../src/backup/store.ts'
import type { Sql } from '../src/database/open.ts'
import type { Database } from './cluster.ts'

const dayIds = 86_400_000_000
/** The days of each table by default, and the days of one partition. */
const kept = { event: { days: 400, width: 26 }, state_change: { days: 30, width: 2 } }
type HistoryTable = keyof typeof kept

/** Tables that are filled side by side. */
const sideBySide = 3

/** Rows for a table: the values of its columns for each row of `device`. */
interface Fill {
  table: string
  columns: string
  values: string
}

/** Gives every device the event of its creation, and as many changes of state over the last 30 days. */
export async function fillHistory(database: Database, changesEach: number): Promise<void> {
  const { sql } = database
  for (const table of ['event', 'state_change'] as const) await addPastPartitions(sql, table)
  await sql`insert into application_lock select app_id from application on conflict do nothing`
  const turns = Array.from({ length: changesEach }, (_, turn) => changes(turn, changesEach))
  const waiting: Fill[] = [creations, ...turns]
  await Promise.all(
    Array.from({ length: sideBySide }, async () => {
      const [reader, writer] = [database.open(), database.open()]
      await writer`set synchronous_commit = off`
      for (let fill = waiting.shift(); fill !== undefined; fill = waiting.shift()) await copy(reader, writer, fill)
    }),
  )
  await sql`
    insert into event_head (app_id, last_event_id)
    select app_id, (extract(epoch from now()) * 1000000)::bigint from application
    on conflict (app_id) do update set last_event_id = excluded.last_event_id`
  await sql`vacuum analyze`
}

/**
 * SQL: the moment of a device's change of state number `turn`. The devices' changes are spread over this turn's part of
 * the days, in the order of the devices' ages.
 */
function changeTimeSql(turn: number, turns: number): string {
  const days = kept.state_change.days
  const age = `extract(epoch from bound_at - now() + interval '1 year') / 365`
  // Ids grow with time, and the ids of the present belong to the service, so all changes here are older.
  return `to_timestamp(extract(epoch from now()) - 100 - ${days * 86_399} * (1 - ${turn} / ${turns}.0) + ${age} * ${days} / ${turns}.0)`
}

function changes(turn: number, turns: number): Fill {
  const time = changeTimeSql(turn, turns)
  return {
    table: 'state_change',
    columns: `id, time, reported_at, status, online_status, run_status, app_id, device_no, actor, version, battery_energy, before`,
    values: `floor(extract(epoch from ${time}) * 1000000)::bigint, ${time}, ${time}, 1, 1, ${turn % 3}, app_id, device_no,
      'application:' || app_id, '2.10.4', '87%', '{"runStatus":${(turn + 2) % 3}}'`,
  }
}

/** Partitions of the days before today, as time would have made them. */
async function addPastPartitions(sql: Sql, table: HistoryTable): Promise<void> {
  const { days, width } = kept[table]
  const [row] = await sql<[{ first: number }]>`
    select min(first_id)::float8 as first from history_partition where parent = ${table}`
  for (let end = row.first; end > row.first - days * dayIds; end -= width * dayIds) {
    await sql`select add_history_partition(${table}, ${end - width * dayIds}::bigint, ${end}::bigint)`
  }
}

/** Writes a row for each device, in the order in which the devices were made. */
async function copy(reader: Sql, writer: Sql, { table, columns, values }: Fill): Promise<void> {
  const began = performance.now()
  const names = columns.split(', ')
  await reader.unsafe(`create temporary view filled (${columns}) as select ${values} from device`)
  const rows = readRows(reader, { name: 'filled', columns: names })
  await pipeline(Readable.from(rows), await writeRows(writer, { name: table, columns: names }, false))
  await reader`drop view filled`
  process.stderr.write(`filled ${table} in ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
}

/** The record of a device, as the event of its creation has it. */
const recordSql = `json_build_object('appId', app_id, 'deviceNo', device_no, 'deviceName', device_name, 'tag', tag,
  'provinceCode', province_code, 'cityCode', city_code, 'districtCode', district_code,
  'detailAddress', detail_address, 'coordinates', coordinates, 'modelName', model_name,
  'productPictureUrl', product_picture_url, 'deviceType', device_type, 'deviceTypeName', device_type_name,
  'status', status, 'onlineStatus', online_status, 'runStatus', run_status, 'statusRemark', status_remark,
  'version', version, 'batteryStatus', battery_status, 'batteryEnergy', battery_energy,
  'createTime', to_char(bound_at, 'YYYY-MM-DD HH24:MI:SS'))::text`

/** The events of the devices' creation. Their ids are the microseconds of their time, which no two devices share. */
const creations: Fill = {
  table: 'event',
  columns: 'app_id, id, type, time, actor, subject, data',
  values: `app_id, (extract(epoch from bound_at) * 1000000)::bigint, 'device.bound', bound_at, 'application:' || app_id,
    device_no, ${recordSql}`,
}
