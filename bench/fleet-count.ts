// What the fleet metrics cost: a count of the fleet without changes and with some, and the creates and reports a second
// beside the counts, compared with those while nothing is counted.
//
//   bun bench/fleet-count.ts --devices 1000000 [--largest 100000] [--rounds 5] [--seconds 20]
import type { Sql } from '../src/database/open.ts'
import { countFleet } from '../src/service/fleet/store.ts'
import { databaseCpu } from './cpu.ts'
import { fillFleet } from './fleet.ts'
import { creates } from './load.ts'
import { measure, median, rotated } from './measure.ts'
import { runBench } from './program.ts'
import { table, tellProgress } from './report.ts'
import { reportsOf } from './reports.ts'
import { startForecourt } from './servers.ts'

const counts = 20

/** Gives every application its lock and log, and each four devices of an application a site. */
async function placeFleet(sql: Sql): Promise<void> {
  await sql`insert into application_lock (app_id) select app_id from application on conflict do nothing`
  await sql`insert into event_head (app_id) select app_id from application on conflict do nothing`
  await sql`
    insert into placement (app_id, id, device_no, bound_at, site_id, lane_type, placed_at, placed_by)
    select app_id, n, device_no, bound_at, 1 + n / 4, 1 + n % 3, bound_at, 'bench'
    from (select app_id, device_no, bound_at, row_number() over (order by app_id, bound_at) as n from device) as d`
  await sql`
    insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, province_code, province_name, city_code, city_name, district_code,
      district_name, created_at)
    select distinct app_id, site_id, 'Site ' || site_id, '', '', '', '', '', '', '33', 'Zhejiang', '3301', 'Hangzhou', '330106',
      'Xihu', now() from placement`
  for (const name of ['placement', 'site', 'device_presence', 'event_head', 'application']) {
    await sql.unsafe(`vacuum analyze ${name}`)
  }
}

await runBench(async ({ cluster, options, keep }) => {
  const database = await cluster.createDatabase('fleet')
  const server = await keep(startForecourt('Forecourt on Bun', 'bun', database))
  const { sql } = database
  // While it is held nobody counts.
  const held = database.open()
  const hold = (what: 'pg_advisory_lock' | 'pg_advisory_unlock') =>
    held.unsafe(`select ${what}(hashtextextended('fleet', 0))`)
  await hold('pg_advisory_lock')
  await sql`
    insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
    values ('ordinary', 'Ordinary', 'x', 7200, now())`
  await fillFleet(sql, options, server.appId, 'ordinary')
  await placeFleet(sql)
  const works = [
    { name: 'creates', work: creates(server, options.serials) },
    { name: 'reports, all changed', work: await reportsOf(server, 100) },
    { name: 'reports, none changed', work: await reportsOf(server, 0) },
  ]
  await cluster.admin`checkpoint`
  await hold('pg_advisory_unlock')

  /** The milliseconds of a count, and of the database's processor time in it. */
  const count = async (change: string) => {
    await sql.unsafe(`update event_head set last_event_id = last_event_id + 1 where ${change}`)
    await sql`update fleet_count set counted_at = counted_at - interval '1 day'`
    const [beganAt, before] = [performance.now(), databaseCpu(cluster.pid)]
    await sql.begin((tx) => countFleet(tx))
    return [performance.now() - beganAt, (databaseCpu(cluster.pid) - before) / 1000] as const
  }
  const kinds = [
    { what: 'the first, or after a change in every application', change: 'true', times: 3 },
    { what: 'without changes', change: 'false', times: counts },
    { what: 'after a change in the largest application', change: `app_id = '${server.appId}'`, times: counts },
    { what: 'after a change in one of a hundred applications', change: `hashtext(app_id) % 100 = 0`, times: counts },
  ]
  const rows: string[][] = []
  for (const { what, change, times } of kinds) {
    const found: (readonly [number, number])[] = []
    for (let n = 0; n < times; n++) found.push(await count(change))
    const shown = (numbers: number[]) => `${median(numbers).toFixed(1)} ms`
    rows.push([what, shown(found.map(([took]) => took)), shown(found.map(([, used]) => used))])
  }
  process.stdout.write(
    `${options.devices.toLocaleString('en')} devices, the largest application with ${options.largest.toLocaleString('en')}.\n\n` +
      `${table(['a count', 'takes', 'processor time of the database'], rows)}\n`,
  )

  const ratios = new Map<string, number[]>()
  for (let round = 0; round < options.rounds; round++) {
    for (const { name, work } of works) {
      const perSecond: Record<string, number> = {}
      for (const on of rotated(['on', 'off'], round)) {
        if (on === 'off') await hold('pg_advisory_lock')
        perSecond[on] = (await measure(cluster, server, options, work)).perSecond
        if (on === 'off') await hold('pg_advisory_unlock')
      }
      const ratio = Number(perSecond.on) / Number(perSecond.off)
      ratios.set(name, [...(ratios.get(name) ?? []), ratio])
      tellProgress(
        round,
        name,
        `${ratio.toFixed(3)} (${perSecond.on?.toFixed(0)} and ${perSecond.off?.toFixed(0)} a second)`,
      )
    }
  }
  const compared = [...ratios].map(([name, found]) => [name, median(found).toFixed(3)])
  process.stdout.write(`${table(['a second, with counts to without', 'median ratio'], compared)}\n`)
})
