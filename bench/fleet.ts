import type { Sql } from '../src/database/open.ts'

/** Few enough that a step is done in seconds. */
const fillStep = 250_000
export const applications = 10_000

/**
 * The fleet to fill: the number of all devices, and of those of the large application; the other applications share the
 * rest.
 */
export interface Fleet {
  devices: number
  largest: number
}

const places = [
  ...['East', 'West', 'North', 'South', 'Riverside', 'Garden Court', 'Old Town', 'Harbour', 'Station Road', 'Hillside'],
  ...['东湖', '西湖', '青山', '红谷滩', '滨江', '人民路', '高新区', '火车站', '大学城', '中心广场'],
]
const things = ['gate', 'barrier', 'garage door', 'car park', '道闸', '北门', '地下车库', 'lift gate']

/**
 * Fills the registry as years of operation would: devices of all applications in turn, places and models of which few
 * have many devices and many have few, rare states, and a district without a device for a long time. Three of four devices
 * are online and reported within the hour; of those that are not, one of five was silent for more than a day, and one of
 * twelve never reported.
 */
export async function fillFleet(sql: Sql, { devices, largest }: Fleet, large: string, ordinary: string): Promise<void> {
  await sql`
    insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
    select 'fleet' || i, 'Application ' || i, 'x', 7200, now() from generate_series(2, ${applications - 1}::int) as i`
  await sql`set synchronous_commit = off`
  const list = (texts: string[]) => `array[${texts.map((text) => `'${text}'`).join(', ')}]`
  for (let from = 1; from <= devices; from += fillStep) {
    const to = Math.min(devices, from + fillStep - 1)
    await sql.unsafe(
      `insert into device (device_no, app_id, device_name, province_code, city_code, district_code, detail_address,
        coordinates, model_name, device_type, device_type_name, status, online_status, run_status, bound_at)
      select 'SN-' || left(md5(i::text), 18),
        case when i * $6::bigint / $5 > (i - 1) * $6 / $5 then $1 when a = 1 then $2 else 'fleet' || a end,
        (${list(places)})[1 + r[1] % ${places.length}] || ' ' || (${list(things)})[1 + r[2] % ${things.length}] || ' ' || r[3] % 5000,
        lpad((10 + district / 30)::text, 6, '0'), lpad((1000 + district / 3)::text, 6, '0'),
        case when i <= $5::int / 500 then 'oldest' else lpad((10000 + district)::text, 6, '0') end,
        'No. ' || r[4] % 900 || ' Yangming Road',
        (73 + (r[5] % 60000000) / 1000000.0)::numeric(9, 6) || ',' || (18 + (r[6] % 35000000) / 1000000.0)::numeric(9, 6),
        'FG-' || 1000 + floor(50 * power((r[7] % 1000000) / 1000000.0, 3)), 'barrier', 'Barrier',
        case when r[8] % 100 = 0 then 2 else 1 end, case when r[9] % 4 = 0 then 2 else 1 end,
        case when r[10] % 50 = 0 then 2 when r[10] % 50 < 6 then 1 else 0 end,
        now() - interval '1 year' + i * (interval '364 days' / $5::int)
      from (
        select i, 1 + (i * 7919) % ${applications - 1} as a, r, floor(300 * power((r[11] % 1000000) / 1000000.0, 3))::int as district
        from generate_series($3::bigint, $4::bigint) as i,
          lateral (select array_agg(hashint8extended(i, n) & x'7fffffffffff'::bigint order by n) as r from generate_series(1, 11) as n) as random
      ) as drawn`,
      [large, ordinary, from, to, devices, largest],
    )
    process.stderr.write(`filled ${to} of ${devices}\n`)
  }
  await sql`insert into device_binding (device_no, app_id, bound_at) select device_no, app_id, bound_at from device`
  // First reports come in the order in which devices were bound. A sign of life from tomorrow does not get old during a
  // run.
  await sql`
    insert into device_presence (app_id, device_no, reported_at, seen_at, offline_since, faulty_since)
    select app_id, device_no, now() - case when online_status = 1 then random() * interval '1 hour'
        when random() < 0.2 then interval '1 day' + random() * interval '300 days'
        else interval '1 hour' + random() * interval '23 hours' end,
      case when online_status = 1 then now() + interval '1 day' end,
      case when online_status = 2 then now() - interval '1 day' end, case when status <> 1 then now() - interval '1 hour' end
    from (select app_id, device_no, online_status, status from device order by bound_at) as device
    where online_status = 1 or hashtext(device_no) % 12 <> 0`
  // Only pages that are on the disk are marked as visible to all.
  await sql`checkpoint`
  await sql`vacuum analyze device`
  await sql`vacuum analyze device_binding`
}

/** The code of a district by its rank: 0 has about a seventh of all devices, 299 one in a thousand. */
export function districtCode(rank: number): string {
  return String(10_000 + rank).padStart(6, '0')
}

export function cityCode(rank: number): string {
  return String(1_000 + rank).padStart(6, '0')
}

export function provinceCode(rank: number): string {
  return String(10 + rank).padStart(6, '0')
}
