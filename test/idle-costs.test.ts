import { afterAll, expect, test } from 'bun:test'
import pino from 'pino'
import type postgres from 'postgres'
import { type Rests, runUpkeep } from '../src/service/upkeep.ts'
import { MeasuredDatabase } from './costs/measured-database.ts'
import { Meter } from './costs/meter.ts'
import { hasOldestPostgres } from './kit/database.ts'
import { isLong, tell } from './kit/scale.ts'
import { becomesTrue, sleep } from './kit/waits.ts'
import { Workplace } from './kit/workplace.ts'

// What an idle service costs its database, with ten applications and with thousands.

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

/** Creates applications with rows in each table that background work searches; no row has work to do. */
async function fill(sql: postgres.Sql, from: number, to: number): Promise<void> {
  const all = sql`generate_series(${from}::int, ${to}::int) as i`
  const id = sql`((extract(epoch from now())::bigint - 3600) * 1000000 + i)`
  const ofEach = (table: string, columns: string, values: postgres.PendingQuery<postgres.Row[]>) => sql`
    insert into ${sql.unsafe(table)} (app_id, ${sql.unsafe(columns)}) select 'idle ' || i, ${values} from ${all}`
  await ofEach('application', 'app_name, secret_hash, token_lifetime_seconds, created_at', sql`'x', '', 7200, now()`)
  await sql`insert into application_lock (app_id) select 'idle ' || i from ${all}`
  await ofEach('event_head', 'last_event_id', id)
  await ofEach('event', 'id, type, time, actor, data', sql`${id}, 'device.bound', now(), 'x', '{}'`)
  const config = sql`'x', 'http://127.0.0.1:1/', '{}', now()`
  await ofEach('third_party_config', 'operator_name, callback_url, callback_events, updated_at', config)
  await ofEach('callback_endpoint', 'through_event_id, due_at', sql`${id}, 'infinity'`)
  const delivery = sql`${id}, 'device.bound', 2, 1, now(), now(), now(), '[]'`
  await ofEach('delivery', 'id, type, status, attempts, event_time, created_at, finished_at, attempt_log', delivery)
  await ofEach('refusal', 'time, request_id, operation, code, actor', sql`now(), '', 'createDevice', 10001, 'x'`)
  await ofEach('device_presence', 'device_no, reported_at, seen_at', sql`'x' || i, now(), now() + interval '1 day'`)
}

/**
 * The blocks per second that the walk through callback endpoints may add: for each of its 100 endpoints two look-ups of
 * three to five blocks and a row, twelve blocks at most. A walk through all 20,000 would be two hundred times as many.
 */
const walkBlocks = 1_200
/** Longer than a round of the fleet's counter, which looks for applications with news. */
const seconds = 16
/** Of such a round: the tables of applications, of their newest events and of their last counts. */
const fleetBlocks = 3_000 / seconds

test.if(isLong && hasOldestPostgres)(
  'an idle service costs its database the same with 10 applications and with 20,000',
  async () => {
    const database = await MeasuredDatabase.start(place.newFolder(), ['autovacuum=off'])
    const { sql } = database
    const startService = () => place.startService({ env: { DATABASE_URL: database.url } })
    let service = await startService()
    const meter = await Meter.open(sql)
    const rests: Rests = new Map()
    const upkeep = () =>
      runUpkeep(sql, pino({ enabled: false }), { deliveryDays: 30, eventDays: 400, refusalDays: 7 }, [], rests)
    const areCounted = async () => {
      const [row] = await sql`
        select count(*) = (select count(*) + 1 from application) as are_all from fleet_count`
      return row?.are_all === true
    }
    const look = async () => {
      // The first round examines every application; no later round does so within the hour.
      await upkeep()
      expect(await becomesTrue(areCounted, 60_000)).toBe(true)
      await sleep(1_500)
      const idle = await meter.statementsOf(() => sleep(seconds * 1000))
      const blocks = idle.reduce((sum, { read }) => sum + read, 0) / seconds
      // So that a round of upkeep is counted without what the service reads meanwhile.
      await service.stop()
      const round = await meter.statementsOf(upkeep)
      return { idle: Math.round(blocks), upkeep: round.reduce((sum, { read }) => sum + read, 0) }
    }
    await fill(sql, 1, 10)
    const few = await look()
    service = await startService()
    await fill(sql, 11, 20_000)
    rests.clear()
    const many = await look()
    tell(
      `blocks a second: ${few.idle} with 10 applications, ${many.idle} with 20,000; a round of upkeep: ${few.upkeep}, ${many.upkeep}`,
    )
    expect(few.idle).toBeGreaterThan(0)
    expect(many.idle).toBeLessThan(1.5 * few.idle + walkBlocks + fleetBlocks)
    expect(many.upkeep).toBeLessThan(1.5 * few.upkeep + 100)
    await database.stop()
  },
)
