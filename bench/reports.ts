// The load of state reports.
import { reportDeviceState } from '../src/devices/state/contract.ts'
import type { Work } from './load.ts'
import { serialPlaceholder } from './serials.ts'
import type { Registry } from './servers.ts'

/** Devices of each kind of load: many times as many as report at once. */
const devices = 20_000
/** It has the same length as the version that the load reports in its place. */
const knownVersion = '0'.repeat(16)

/** Creates devices that have reported what the load repeats, and returns their load. */
export async function reportsOf(server: Registry, changedPercent: number): Promise<Work> {
  const { appId, database } = server
  const fleet = `SN-${changedPercent.toString(16).padStart(10, '0')}`
  const state = { status: 1, onlineStatus: 1, runStatus: 0, batteryEnergy: '87%', version: knownVersion }
  await database.sql`
    insert into device (device_no, app_id, device_name, tag, province_code, city_code, district_code, detail_address,
      coordinates, online_status, battery_energy, version, bound_at)
    select ${fleet} || lpad(to_hex(n), 8, '0'), ${appId}, 'East gate barrier', 'lane=1', '360000', '360100', '360102',
      'No. 1 Yangming Road', '115.899918,28.676493', ${state.onlineStatus}, ${state.batteryEnergy}, ${state.version}, now()
    from generate_series(0, ${devices - 1}::int) as n`
  await database.sql`
    insert into device_binding (device_no, app_id, bound_at)
    select device_no, app_id, bound_at from device where starts_with(device_no, ${fleet})`
  await database.sql`
    insert into event (app_id, id, type, time, actor, subject, data)
    select app_id, (floor(extract(epoch from now())) - 60 - ${changedPercent}::int)::bigint * 1000000 + row_number() over (),
      'device.bound', now(), 'bench', device_no, '{}'
    from device where starts_with(device_no, ${fleet})`
  await database.sql`
    insert into device_presence (device_no, app_id, reported_at, seen_at)
    select device_no, app_id, now(), now() from device where starts_with(device_no, ${fleet})`
  return {
    script: 'reports.lua',
    env: {
      BENCH_BODY: JSON.stringify({ deviceNo: serialPlaceholder, ...state }),
      BENCH_PLACEHOLDER: serialPlaceholder,
      BENCH_FLEET: fleet,
      BENCH_DEVICES: String(devices),
      BENCH_CHANGED: String(changedPercent),
      BENCH_VERSION: knownVersion,
    },
    url: new URL(reportDeviceState.path, server.url).href,
    event: 'device.stateChanged',
    eventPercent: changedPercent,
  }
}
