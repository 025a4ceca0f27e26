import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { becomesTrue, waitUntil } from '../kit/waits.ts'

// The fleet metrics (contract §16) of two processes that share a database: which devices and sites they count, since when,
// and what they leave out.

const place = ownWorkplace()
const database = await place.findDatabase()
const start = () => place.startService({ env: { DATABASE_URL: database.url() } })
const [service, other] = (await Promise.all([start(), start()])) as [Service, Service]
const client = new Client(service)

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const unescaped = (text: string) => text.replace(/\\(.)/g, (_, sign) => (sign === 'n' ? '\n' : sign))

async function samplesOf(of = client): Promise<Sample[]> {
  const { text } = await of.operate('getMetrics', {})
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, of = '']) => [label, unescaped(of)]),
    ),
    value: Number(value),
  }))
}

const roundOf = (sql: postgres.Sql) =>
  sql`select round from fleet_count where app_id = ''`.then(([row]) => Number(row?.round ?? 0))
const makeOld = (sql: postgres.Sql) => sql`update fleet_count set counted_at = counted_at - interval '1 hour'`

let lastCount: Promise<unknown> = Promise.resolve()

/**
 * The samples after a new count, by which everything that was done before is counted. For one test at a time: each makes
 * the last count of all old.
 */
function counted(of = client): Promise<Sample[]> {
  const count = lastCount.then(() => newlyCounted(of))
  lastCount = count.catch(() => {})
  return count
}

async function newlyCounted(of: Client): Promise<Sample[]> {
  const before = await database.run(async (sql) => {
    // Waits for a count that is under way.
    await makeOld(sql)
    return roundOf(sql)
  })
  await waitUntil(async () => (await database.run(roundOf)) > before, 10_000)
  const at = (
    await database.sql`select extract(epoch from counted_at)::float8 as at from fleet_count where app_id = ''`
  )[0]?.at
  let found: Sample[] = []
  const isKnown = async () => {
    found = await samplesOf(of)
    return found.some(({ name, value }) => name === 'forecourt_counted_timestamp_seconds' && value >= at - 0.001)
  }
  await waitUntil(isKnown, 10_000)
  return found
}

// The first count may have begun before what a test does, and nothing waits for it.
await waitUntil(async () => (await database.run(roundOf)) > 0)

/** The values of a metric of an application, by its other labels. */
function ofApplication(samples: readonly Sample[], name: string, { appId }: { appId: string }, by: string) {
  const own = samples.filter((sample) => sample.name === name && sample.labels.app_id === appId)
  return Object.fromEntries(own.map(({ labels, value }) => [labels[by], value]))
}

const newDevice = async ({ appId, token }: TestApplication, members = {}) =>
  (await client.call('createDevice', deviceBody(appId, members), { token })).data.deviceNo
const newSite = async ({ appId, token }: TestApplication, siteName: string) =>
  (await client.call('saveSite', siteBody(appId, { siteName, cityName: '杭州市' }), { token })).data.id
async function report({ token }: TestApplication, deviceNo: string, state: Record<string, unknown> = {}) {
  expect((await client.call('reportDeviceState', { deviceNo, ...state }, { token })).code).toBe(0)
}
async function stand({ appId, token }: TestApplication, deviceNo: string, siteId: number, laneType: number) {
  expect((await client.call('savePlacement', { appId, deviceNo, siteId, laneType }, { token })).code).toBe(0)
}

const online = { onlineStatus: 1 }
const offline = { onlineStatus: 2 }

test.concurrent('devices are online, offline or faulty once they have reported; what was never heard is none of these', async () => {
  const app = await newApplication(client)
  const serials = await Promise.all([1, 2, 3, 4, 5].map(() => newDevice(app)))
  const [never = '', up = '', down = '', broken = '', gone = ''] = serials
  await report(app, up, online)
  // Its first report changes nothing of the record.
  await report(app, down, offline)
  await report(app, broken, { status: 2 })
  await report(app, gone, online)
  await report(app, gone, { ...offline, status: 2 })
  const first = await counted()
  const devices = (samples: readonly Sample[]) => ofApplication(samples, 'forecourt_devices', app, 'state')
  expect(devices(first)).toEqual({ online: 2, offline: 2, faulty: 2 })
  expect(ofApplication(first, 'forecourt_devices_gone_offline', app, 'app_id')).toEqual({ [app.appId]: 2 })
  const faulty = ofApplication(first, 'forecourt_device_faulty', app, 'device_no')
  expect(Object.keys(faulty).sort()).toEqual([broken, gone].sort())
  for (const seconds of Object.values(faulty)) expect(seconds).toBeLessThan(60)

  // Transferred, it is what it was; unbound, it is nothing.
  const next = await newApplication(client)
  expect(
    (await client.operate('transferDevice', { deviceNo: gone, targetAppId: next.appId, reason: 'sold' })).code,
  ).toBe(0)
  expect((await client.operate('forceUnbindDevice', { deviceNo: broken, reason: 'gone' })).code).toBe(0)
  await report(app, never, offline)
  const later = await counted(new Client(other))
  expect(devices(later)).toEqual({ online: 1, offline: 2, faulty: 0 })
  expect(ofApplication(later, 'forecourt_devices', next, 'state')).toEqual({ online: 0, offline: 1, faulty: 1 })
  expect(ofApplication(later, 'forecourt_devices_gone_offline', next, 'app_id')).toEqual({ [next.appId]: 1 })

  // They went offline 28 minutes ago, and 31; a report does not begin the time again.
  for (const [device, minutes] of [
    [down, 28],
    [gone, 31],
  ] as const)
    await database.sql`
        update device_presence set offline_since = now() - ${minutes} * interval '1 minute' where device_no = ${device}`
  await report(app, down, { ...offline, version: '2.0' })
  await report(next, gone, { ...offline, version: '2.0' })
  const last = await counted()
  expect(ofApplication(last, 'forecourt_devices_gone_offline', app, 'app_id')).toEqual({ [app.appId]: 2 })
  expect(ofApplication(last, 'forecourt_devices_gone_offline', next, 'app_id')).toEqual({ [next.appId]: 0 })
})

test.concurrent('a site is unreachable when its entrances, or its exits, have reported and none of these is online', async () => {
  const app = await newApplication(client)
  const sites: Record<string, number> = {}
  const site = async (name: string, lanes: [laneType: number, state: Record<string, unknown> | undefined][]) => {
    const siteId = await newSite(app, name)
    sites[name] = siteId
    const devices: string[] = []
    for (const [laneType, state] of lanes) {
      const deviceNo = await newDevice(app)
      devices.push(deviceNo)
      if (state !== undefined) await report(app, deviceNo, state)
      await stand(app, deviceNo, siteId, laneType)
    }
    return devices
  }
  await site('bare', [])
  await site('new', [[1, undefined]])
  await site('in order', [
    [1, online],
    [1, offline],
    [2, online],
  ])
  await site('no way in', [
    [1, offline],
    [1, undefined],
    [2, online],
  ])
  await site('no way out', [
    [1, online],
    [2, offline],
  ])
  await site('one lane', [[3, offline]])
  await site('a lane for both', [
    [1, offline],
    [3, online],
  ])
  await site('a door', [[4, offline]])
  const [spare = '', last = ''] = await site('thinned out', [
    [1, offline],
    [1, online],
  ])
  await database.sql`update device_presence set offline_since = now() - interval '1 day' where device_no = ${spare}`
  const unreachable = async (of = client) => {
    const samples = await counted(of)
    return {
      samples,
      seconds: ofApplication(samples, 'forecourt_site_unreachable', app, 'site_name'),
      states: ofApplication(samples, 'forecourt_sites', app, 'state'),
    }
  }
  const first = await unreachable()
  expect(Object.keys(first.seconds).sort()).toEqual(['no way in', 'no way out', 'one lane'])
  expect(first.states).toEqual({ reachable: 5, unreachable: 3, without_devices: 1 })
  const { labels } = first.samples.find(({ labels }) => labels.site_name === 'one lane') as Sample
  expect(labels).toMatchObject({ app_id: app.appId, site_id: String(sites['one lane']), city: '杭州市' })
  for (const seconds of Object.values(first.seconds)) expect(seconds).toBeLessThan(60)

  // Its last device that was online is taken away: it is unreachable since then, and not for the day of the other.
  expect((await client.call('removePlacement', { deviceNo: last }, { token: app.token })).code).toBe(0)
  const second = await unreachable(new Client(other))
  expect(second.seconds['thinned out']).toBeLessThan(60)
  // The seconds go on, also when another device that is offline comes to the site.
  await database.sql`
    update fleet_count set counts = replace(counts::text, '"since":', '"since":-')::json where app_id = ${app.appId}`
  await stand(app, spare, sites['one lane'] ?? 0, 1)
  const third = await unreachable()
  expect(third.seconds['one lane']).toBeGreaterThan(1e9)
  expect(third.seconds['thinned out']).toBe(undefined)
})

test.concurrent('a renamed application or site ends its series, frozen applications count nowhere, and names are escaped', async () => {
  const names = ['A "quoted"\\name', 'Ring\nroad']
  const app = await newApplication(client, { appName: names[0] })
  const siteId = await newSite(app, 'North "gate" \\ 1')
  const deviceNo = await newDevice(app, { deviceName: 'Gate "1"' })
  await stand(app, deviceNo, siteId, 1)
  await report(app, deviceNo, { ...offline, status: 2 })
  const shown = async () => (await counted()).filter(({ labels }) => labels.app_id === app.appId)
  const first = await shown()
  expect(first.map(({ labels }) => labels.app_name)).toEqual(first.map(() => names[0] ?? ''))
  expect(first.find(({ name }) => name === 'forecourt_device_faulty')?.labels).toMatchObject({
    site_id: String(siteId),
    site_name: 'North "gate" \\ 1',
    city: '杭州市',
    device_no: deviceNo,
    device_name: 'Gate "1"',
  })
  expect((await client.operate('updateApplication', { appId: app.appId, appName: 'Renamed' })).code).toBe(0)
  const { data } = await client.call(
    'updateSite',
    { id: siteId, appId: app.appId, siteName: 'South' },
    { token: app.token },
  )
  expect(data.siteName).toBe('South')
  const second = await shown()
  expect(second).toHaveLength(first.length)
  expect([...new Set(second.map(({ labels }) => labels.app_name))]).toEqual(['Renamed'])
  expect(second.filter(({ labels }) => labels.site_id !== undefined).map(({ labels }) => labels.site_name)).toEqual([
    'South',
    'South',
  ])

  // At once, however long its count takes, and with it how seldom it is repeated.
  await database.sql`update fleet_count set took_ms = 1e9 where app_id = ${app.appId}`
  expect((await client.operate('freezeApplication', { appId: app.appId, reason: 'unpaid' })).code).toBe(0)
  expect(await shown()).toEqual([])
  expect((await client.operate('unfreezeApplication', { appId: app.appId })).code).toBe(0)
  expect(await shown()).toHaveLength(first.length)
})

test.concurrent('seconds of a callback that fails, and of what is out of order, go on after a restart', async () => {
  const [failing, held, stopped] = [
    await newApplication(client),
    await newApplication(client),
    await newApplication(client),
  ]
  const device = await newDevice(failing)
  await report(failing, device, { status: 2 })
  await database.run(async (sql) => {
    for (const [{ appId }, failures, isStopped] of [
      [failing, 1, false],
      [held, 5, false],
      [stopped, 1, true],
    ] as const) {
      await sql`
        insert into callback_endpoint (app_id, through_event_id, failures, failing_since, stopped_at, due_at)
        values (${appId}, ${2 ** 52}, ${failures}, now() - interval '1 hour', ${isStopped ? new Date() : null}, 'infinity')
        on conflict (app_id) do update set failures = excluded.failures, failing_since = excluded.failing_since, stopped_at = excluded.stopped_at, due_at = 'infinity'`
    }
    await sql`update device_presence set faulty_since = now() - interval '2 hours' where device_no = ${device}`
    await sql`update event_head set last_event_id = last_event_id + 1 where app_id = ${failing.appId}`
  })
  await counted()
  const again = await start()
  let first: Sample[] = []
  const isShown = async () => {
    first = await samplesOf(new Client(again))
    return first.some(({ name }) => name === 'forecourt_device_faulty')
  }
  await waitUntil(isShown, 10_000)
  for (const [app, state] of [
    [failing, 'failing'],
    [held, 'held'],
    [stopped, 'stopped'],
  ] as const) {
    const values = ofApplication(first, 'forecourt_callback_failing', app, 'state')
    expect(Object.keys(values)).toEqual([state])
    expect(values[state]).toBeWithin(3600, 3700)
  }
  expect(ofApplication(first, 'forecourt_device_faulty', failing, 'device_no')[device]).toBeWithin(7200, 7300)
  await again.stop()
})

test('one of the processes counts, and no sooner than 15 seconds after the last count', async () => {
  await counted()
  const before = await database.run(roundOf)
  // Each process looks every two seconds.
  const reaches = (round: number, withinMs: number) =>
    becomesTrue(async () => (await database.run(roundOf)) >= round, withinMs)
  expect(await reaches(before + 1, 2_500)).toBe(false)
  await database.run(makeOld)
  expect(await reaches(before + 1, 10_000)).toBe(true)
  expect(await reaches(before + 2, 2_500)).toBe(false)
})

test('500 applications, 200 sites and devices of one and 1,000 in all have their own series; the rest is told', async () => {
  await database.run(async (sql) => {
    const all = sql`generate_series(1, 520) as i`
    await sql`insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at) select 'many ' || i, 'Many ' || i, '', 7200, now() from ${all}`
    await sql`insert into application_lock (app_id) select 'many ' || i from ${all}`
    await sql`insert into event_head (app_id) select 'many ' || i from ${all}`
    // Six applications with 240 sites each, whose one device is faulty and offline, and every other with one device more.
    await sql`
      insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
        business_start_time, business_closing_time, province_code, province_name, city_code, city_name, district_code, district_name, created_at)
      select 'many ' || a, 1000000 + a * 1000 + i, 'Site ' || i, '', '', '', '', '', '', '33', 'Z', '3301', 'H', '330106', 'X', now()
      from generate_series(1, 6) as a, generate_series(1, 240) as i`
    const devices = sql`(select a, i from generate_series(1, 6) as a, generate_series(1, 241) as i
      union all select a, i from generate_series(7, 520) as a, generate_series(1, 6) as i) as d`
    await sql`
      insert into device (app_id, bound_at, device_no, device_name, province_code, city_code, district_code, coordinates, status)
      select 'many ' || a, now(), 'M' || a || '-' || i, 'Gate', '330000', '330100', '330106', '120,30', case when a <= 6 then 2 else 1 end from ${devices}`
    await sql`
      insert into device_presence (app_id, device_no, reported_at, offline_since, faulty_since)
      select 'many ' || a, 'M' || a || '-' || i, now(), now() - (i + 1000 * a) * interval '1 minute', case when a <= 6 then now() - (i + 1000 * a) * interval '1 minute' end from ${devices}`
    await sql`
      insert into placement (app_id, id, device_no, bound_at, site_id, lane_type, placed_at, placed_by)
      select app_id, row_number() over (), device_no, bound_at, 1000000 + substr(app_id, 6)::int * 1000 + split_part(device_no, '-', 2)::int, 1, now() - interval '30 days', ''
      from device where app_id in ('many 1', 'many 2', 'many 3', 'many 4', 'many 5', 'many 6') and split_part(device_no, '-', 2)::int <= 240`
    // Of the application with the fewest.
    await sql`delete from device_presence where app_id = 'many 520'`
    await sql`delete from device where app_id = 'many 520'`
  })
  const samples = await counted()
  const of = (name: string) => samples.filter((sample) => sample.name === name)
  const uncounted = Object.fromEntries(of('forecourt_fleet_uncounted').map(({ labels, value }) => [labels.kind, value]))
  const named = new Set(of('forecourt_devices').map(({ labels }) => labels.app_id))
  expect(named.size).toBe(501)
  expect(named.has('many 520')).toBe(false)
  expect(named.has('many 1')).toBe(true)
  const states = Object.fromEntries(
    of('forecourt_devices')
      .filter(({ labels }) => labels.app_id === '')
      .map(({ labels, value }) => [`${labels.app_name}${labels.state}`, value]),
  )
  expect(states.online).toBeGreaterThanOrEqual(0)
  expect(states.offline).toBeGreaterThanOrEqual(6)
  const applications = await database.sql`select count(*)::int as count from application where status = 1`
  expect(uncounted.application).toBe(applications[0]?.count - 500)
  const sum = (samples: readonly Sample[]) => samples.reduce((total, { value }) => total + value, 0)
  const byState = (name: string, state: string) => sum(of(name).filter(({ labels }) => labels.state === state))
  for (const [name, kind, total] of [
    ['forecourt_site_unreachable', 'site', byState('forecourt_sites', 'unreachable')],
    ['forecourt_device_faulty', 'device', byState('forecourt_devices', 'faulty')],
  ] as const) {
    expect(of(name)).toHaveLength(1_000)
    expect(uncounted[kind]).toBe(total - 1_000)
    const ofOne = (appId: string) => of(name).filter(({ labels }) => labels.app_id === appId)
    expect(Math.max(...Array.from({ length: 6 }, (_, i) => ofOne(`many ${i + 1}`).length))).toBe(200)
    // The longest of an application, and no device without a site.
    const many = ofOne('many 6')
    expect(Math.min(...many.map(({ value }) => value))).toBeGreaterThanOrEqual(6040 * 60)
    expect(many.every(({ labels }) => labels.site_id !== '')).toBe(true)
  }
})
