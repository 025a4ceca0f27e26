// What one connection can do without Forecourt: a loop of postgres.js that waits for each create before the next.
// `insert` writes only the device's row; `whole` does the durable work of a create, one statement after the other.
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { deviceBody } from '../test/kit/records.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { type Figure, median } from './measure.ts'
import { type SerialOrder, serialSource } from './serials.ts'

/**
 * The same figures as for a server. The client runs inside this program and needs no server, so its processor time
 * stands in the server's place.
 */
export type DriverFigure = Pick<Figure, 'perSecond' | 'p50Ms' | 'serverMicros' | 'databaseMicros'>

const [kind, seconds, serials, postmaster] = process.argv.slice(2)
const warmUpSeconds = 1

// The driver takes the database's address from libpq's environment variables.
const sql = postgres({ max: 1, max_lifetime: null, fetch_types: false })
const newSerial = serialSource(serials as SerialOrder)
const appId = randomBytes(10).toString('hex')

function insertDevice(tx: postgres.ISql, body: ReturnType<typeof deviceBody>, now: Date) {
  return tx`
    insert into device (device_no, app_id, device_name, tag, province_code, city_code, district_code,
      detail_address, coordinates, bound_at)
    values (${body.deviceNo}, ${appId}, ${body.deviceName}, ${body.tag ?? null}, ${body.provinceCode ?? null},
      ${body.cityCode ?? null}, ${body.districtCode}, ${body.detailAddress ?? null}, ${body.coordinates}, ${now})`
}

async function create(): Promise<void> {
  const body = deviceBody(appId, { deviceNo: newSerial() })
  const now = new Date()
  if (kind === 'insert') {
    await insertDevice(sql, body, now)
    return
  }
  await sql.begin(async (tx) => {
    await tx`select 1 from application_lock where app_id = ${appId} for update`
    const [head] = await tx`
      update event_head set last_event_id = greatest(last_event_id + 1, ${now.getTime() * 1000}::bigint)
      where app_id = ${appId} returning last_event_id as id`
    const [application] = await tx`select online_status from application where app_id = ${appId}`
    if (application?.online_status !== 1) throw new Error('offline')
    await tx`
      insert into device_binding (device_no, app_id, bound_at) values (${body.deviceNo}, ${appId}, ${now})
      on conflict (device_no) do nothing`
    await insertDevice(tx, body, now)
    await tx`
      insert into event (app_id, id, type, time, actor, subject, data)
      values (${appId}, ${head?.id}, 'device.bound', ${now}, ${`application:${appId}`}, ${body.deviceNo}, ${JSON.stringify(body)})`
  })
}

async function createFor(milliseconds: number): Promise<DriverFigure> {
  const latencies: number[] = []
  const cpu = () => ({ client: processCpu(process.pid), database: databaseCpu(Number(postmaster)) })
  const before = cpu()
  const start = performance.now()
  let now = start
  while (now - start < milliseconds) {
    await create()
    const end = performance.now()
    latencies.push(end - now)
    now = end
  }
  const after = cpu()
  const creates = latencies.length
  return {
    perSecond: (creates * 1000) / (now - start),
    p50Ms: median(latencies),
    serverMicros: (after.client - before.client) / creates,
    databaseMicros: (after.database - before.database) / creates,
  }
}

await sql`
  insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
  values (${appId}, 'driver loop', '', 7200, now())`
await sql`insert into application_lock (app_id) values (${appId})`
await sql`insert into event_head (app_id) values (${appId})`
await createFor(warmUpSeconds * 1000)
process.stdout.write(JSON.stringify(await createFor(Number(seconds) * 1000)))
await sql.end()
