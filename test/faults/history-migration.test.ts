import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase, type Sql } from '../../src/database/open.ts'
import { installHistoryKeeping } from '../../src/events/history/store.ts'
import { pageOfEvents } from '../../src/events/store.ts'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { projectFolder } from '../harness.ts'
import { atScale, type OwnDatabase, tell, Workplace } from './support.ts'

// The migration that moves the event log into partitions, in a database with rows of the previous version. In the long
// run it has a million devices.

const devices = atScale(5_000, 1_000_000)
const folder = join(projectFolder, 'migrations')
const place = new Workplace()
let server: OwnDatabase
let sql: Sql

beforeAll(async () => {
  server = await place.startDatabase()
  await server.run((admin) => admin.unsafe('create database carried'))
  const target = { ...server.connection, database: 'carried' }
  sql = openDatabase({ target, connections: 2, statementTimeoutMs: 600_000 })
  await migrate(sql, () => sql, folder, { info: () => {} }, 1)
}, 120_000)
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await place.clear()
}, 120_000)

/** Binds every device within the last 40 days; each second device reports its state twice. */
async function fill(): Promise<void> {
  const micros = `(extract(epoch from now())::bigint - 40 * 86400 + i::bigint * 3400000 / ${devices}) * 1000000 + i`
  const record = (run: string, battery: string) =>
    `'{"id":null,"appId":"many","deviceNo":"SN-' || i || '","deviceName":"East gate","tag":"lane=1","status":1,' ||
      '"onlineStatus":1,"runStatus":' || ${run} || ',"statusRemark":null,"version":"1.2","batteryStatus":3,' ||
      '"batteryEnergy":${battery},"createTime":"2026-01-01 00:00:00","detailAddress":"' || repeat('x', 400) || '"}'`
  await sql`insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
    values ('many', 'many', 'x', 7200, now())`
  await sql`insert into application_lock values ('many')`
  const event = 'insert into event (app_id, id, type, time, actor, subject, data)'
  const at = (offset: number) =>
    `${micros} + ${offset}, TYPE, to_timestamp((${micros} + ${offset}) / 1e6), 'application:many'`
  const insert = (offset: number, type: string, data: string, where = '') =>
    sql.unsafe(`${event} select 'many', ${at(offset).replace('TYPE', `'${type}'`)}, 'SN-' || i, ${data}
      from generate_series(1, ${devices}) as i ${where}`)
  await insert(0, 'device.bound', record('0', 'null'))
  await insert(100_000, 'device.stateChanged', record('1', 'null'), 'where i % 2 = 0')
  await insert(200_000, 'device.stateChanged', record('0', '"87%"'), 'where i % 2 = 0')
  await sql`insert into event (app_id, id, type, time, actor, address, data)
    values ('', 1, 'session.created', to_timestamp(0), 'operator:Wang Fang#7', '127.0.0.1', '{}')`
  await sql`insert into event_head select app_id, max(id) from event group by 1 on conflict (app_id) do update set last_event_id = excluded.last_event_id`
}

test('history is carried over to its partitions within a minute for a million devices, and nothing is lost', async () => {
  await fill()
  const digestSql = `select count(*)::int as rows, sum(hashtextextended(concat_ws('|', app_id, id, time, actor, subject), 0))::text as digest`
  const [before] = await sql.unsafe(`${digestSql} from event`)
  const lines: unknown[][] = []
  const began = performance.now()
  await migrate(sql, () => sql, folder, { info: (...line: unknown[]) => lines.push(line) }, 2)
  const seconds = (performance.now() - began) / 1000
  tell(`${before?.rows} events of ${devices} devices in ${seconds.toFixed(1)} s`)
  expect(seconds).toBeLessThan(60)
  expect(JSON.stringify(lines)).toContain('this migration blocks the write path while it runs')

  const [after] = await sql.unsafe(`${digestSql} from (
      select app_id, id, time, actor, subject from event
      union all select app_id, id, time, actor, device_no from state_change) as history`)
  expect(after).toEqual(before)
  const misplaced = await sql`
      select (select count(*)::int from event_default) as events, (select count(*)::int from state_change_default) as changes`
  // The platform's event of 1970 belongs to no day's partition.
  expect(misplaced[0]).toEqual({ events: 1, changes: 0 })

  const filter = { types: null, afterId: null, beforeId: null, time: { from: null, before: null }, siteId: null }
  const asked = { ...filter, appId: 'many', deviceNo: 'SN-2', billingRuleId: null, newestFirst: false }
  const { list } = await pageOfEvents(sql, asked, momentFormat('Asia/Shanghai'))
  expect(list.map(({ type }) => type)).toEqual(['device.bound', 'device.stateChanged', 'device.stateChanged'])
  const state = { appId: 'many', deviceNo: 'SN-2', status: 1, onlineStatus: 1, statusRemark: null, version: '1.2' }
  expect(list.slice(1).map(({ data }) => data)).toEqual([
    { ...state, runStatus: 1, batteryStatus: 3, batteryEnergy: null, lastReportTime: list[1]?.time, before: {} },
    {
      ...state,
      runStatus: 0,
      batteryStatus: 3,
      batteryEnergy: '87%',
      lastReportTime: list[2]?.time,
      before: { runStatus: 1, batteryEnergy: null },
    },
  ])
  // Changes of state are kept for 30 days, and so are the migrated ones.
  await installHistoryKeeping(sql, { eventDays: 400, stateEventDays: 30 })
  const [oldest] = await sql`select min(id) / 1000000 as first from state_change`
  const ageDays = (Date.now() / 1000 - oldest?.first) / 86_400
  expect(ageDays).toBeWithin(29, 32.1)
  const [left] = await sql`select count(*)::int as events from event`
  expect(left?.events, 'all but the one of 1970').toBe(devices)
}, 600_000)
