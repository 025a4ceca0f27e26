// What Forecourt is measured against: the same operation as a good team would first write it, on Fastify and pg.
// One transaction a request: lock the application's row, check that it is online, insert the device and its event.
// With the argument `prepared`, pg prepares each statement once a connection instead of having it planned each time.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import pg from 'pg'

const divisions = createRequire(import.meta.url)('lcn/data/data.json')
const names = new Map(divisions.map(({ code, name }) => [code, name]))

const schema = `
  create table application (
    app_id text primary key,
    online_status smallint not null default 1
  );
  create table access_token (
    token_hash text primary key,
    app_id text not null references application
  );
  create table device (
    device_no text primary key,
    app_id text not null,
    device_name text not null,
    tag text,
    province_code text not null,
    city_code text not null,
    district_code text not null,
    detail_address text,
    coordinates text not null,
    status smallint not null default 1,
    online_status smallint not null default 2,
    run_status smallint not null default 0,
    created_at timestamptz not null
  );
  create table event (
    id bigint generated always as identity,
    app_id text not null,
    type text not null,
    time timestamptz not null,
    actor text not null,
    subject text,
    data jsonb not null,
    primary key (app_id, id)
  )`

const text = (maxLength) => ({ type: 'string', minLength: 1, maxLength })
const registration = {
  type: 'object',
  required: ['appId', 'deviceNo', 'deviceName', 'districtCode', 'coordinates'],
  properties: {
    appId: text(64),
    deviceNo: { type: 'string', pattern: '^\\S{1,64}$' },
    deviceName: text(64),
    tag: text(512),
    provinceCode: text(12),
    cityCode: text(12),
    districtCode: text(12),
    detailAddress: text(255),
    coordinates: { type: 'string', pattern: '^-?\\d{1,3}(\\.\\d+)?,-?\\d{1,2}(\\.\\d+)?$', maxLength: 64 },
  },
}

const pool = new pg.Pool({ max: 20 })
await pool.query(schema)

const callers = new Map()

async function authenticate(request) {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const hash = createHash('sha256').update(token).digest('base64')
  let appId = callers.get(hash)
  if (appId === undefined) {
    const { rows } = await pool.query('select app_id from access_token where token_hash = $1', [hash])
    if (rows.length === 0) throw refusal(401, 10002, 'The access token is not valid.')
    appId = rows[0].app_id
    callers.set(hash, appId)
  }
  request.appId = appId
}

function refusal(statusCode, code, message) {
  return Object.assign(new Error(message), { statusCode, refusal: code })
}

const format = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Asia/Shanghai',
  dateStyle: 'short',
  timeStyle: 'medium',
})

function recordOf(body, now) {
  const { appId, deviceNo, deviceName, tag = null, detailAddress = null, districtCode, coordinates } = body
  const { provinceCode = '360000', cityCode = '360100' } = body
  return {
    appId,
    deviceNo,
    tag,
    deviceName,
    modelName: null,
    productPictureUrl: null,
    deviceType: null,
    deviceTypeName: null,
    status: 1,
    onlineStatus: 2,
    statusRemark: null,
    runStatus: 0,
    version: null,
    deviceNumber: 1,
    deviceBattery: {
      cityCode,
      cityName: names.get(cityCode) ?? null,
      coordinates,
      detailAddress,
      districtCode,
      districtName: names.get(districtCode) ?? null,
      provinceCode,
      provinceName: names.get(provinceCode) ?? null,
    },
    DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
    createTime: format.format(now),
  }
}

const isPrepared = process.argv.includes('prepared')

const statements = {
  lock: {
    name: 'lock-application',
    text: 'select online_status from application where app_id = $1 for share',
  },
  insertDevice: {
    name: 'insert-device',
    text: `
      insert into device (device_no, app_id, device_name, tag, province_code, city_code, district_code,
        detail_address, coordinates, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (device_no) do nothing`,
  },
  insertEvent: {
    name: 'insert-event',
    text: 'insert into event (app_id, type, time, actor, subject, data) values ($1, $2, $3, $4, $5, $6)',
  },
}

async function createDevice(body) {
  const now = new Date()
  const record = recordOf(body, now)
  const { appId, deviceNo, deviceName, tag } = record
  const { provinceCode, cityCode, districtCode, detailAddress, coordinates } = record.deviceBattery
  const address = [provinceCode, cityCode, districtCode, detailAddress, coordinates]
  const device = [deviceNo, appId, deviceName, tag, ...address, now]
  await inTransaction(async (client) => {
    const { rows } = await run(client, statements.lock, [appId])
    if (rows[0]?.online_status !== 1) throw refusal(409, 10006, 'The application is offline.')
    const { rowCount } = await run(client, statements.insertDevice, device)
    if (rowCount === 0) throw refusal(409, 20013, 'The serial is bound already.')
    const event = [appId, 'device.bound', now, `application:${appId}`, deviceNo, record]
    await run(client, statements.insertEvent, event)
  })
  return record
}

function run(client, { name, text }, values) {
  // pg prepares a statement only if it has a name.
  return client.query(isPrepared ? { name, text, values } : { text, values })
}

async function inTransaction(work) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const app = Fastify()
app.setErrorHandler((error, _request, reply) =>
  reply.code(error.statusCode ?? 500).send({ code: error.refusal ?? 10001, msg: error.message, data: null }),
)
app.post(
  '/api/device/entrance/guard/create',
  { schema: { body: registration }, onRequest: authenticate },
  async (request) => {
    if (request.body.appId !== request.appId) throw refusal(403, 10003, 'The caller may not act for this application.')
    return { code: 0, msg: 'success', data: await createDevice(request.body) }
  },
)
process.stdout.write(`ready at ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
