// Whether a full registry is slower: the rate with no devices against the rate with millions, side by side.
import type { Sql } from '../src/database/open.ts'
import { type Figure, measure, medianFigure, requireEvents, rotated } from './measure.ts'
import { runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress } from './report.ts'
import { startForecourt } from './servers.ts'

const fillStep = 500_000

await runBench(async ({ cluster, options, keep }) => {
  const emptyDatabase = await cluster.createDatabase('empty')
  const fullDatabase = await cluster.createDatabase('filled')
  const empty = await keep(startForecourt('no devices', 'bun', emptyDatabase))
  const full = await keep(startForecourt(`${options.devices.toLocaleString('en')} devices`, 'bun', fullDatabase))
  await fill(fullDatabase.sql, options.devices)
  await cluster.admin`checkpoint`

  const measureFull = () => measure(cluster, full, options)
  const measureEmpty = async () => {
    await emptyDatabase.sql`truncate device, event`
    return measure(cluster, empty, options)
  }
  // The first creates after a checkpoint write whole pages. That is over here before it is measured, as it is nearly
  // always in a registry that has been running for minutes.
  await measureFull()
  const figures = { empty: [] as Figure[], full: [] as Figure[] }
  const measurements = [
    async () => figures.empty.push(await measureEmpty()),
    async () => figures.full.push(await measureFull()),
  ]
  for (let round = 0; round < options.rounds; round++) {
    for (const run of rotated(measurements, round)) await run()
    tellProgress(round, empty.name, showFigure(figures.empty[round] as Figure))
    tellProgress(round, full.name, showFigure(figures.full[round] as Figure))
  }
  for (const server of [empty, full]) await requireEvents(server)

  const [atNone, atMany] = [medianFigure(figures.empty), medianFigure(figures.full)]
  const rows = [figureRow(empty.name, atNone), figureRow(full.name, atMany)]
  const ratio = (atMany.perSecond / atNone.perSecond).toFixed(2)
  process.stdout.write(`${table(figureHeadings, rows)}\n\nThe rate at ${full.name} is ${ratio} of that at none.\n`)
})

/** Devices of many makers, in no order, so that the index is as loose as one that has grown by itself. */
async function fill(sql: Sql, devices: number): Promise<void> {
  for (let from = 1; from <= devices; from += fillStep) {
    const to = Math.min(devices, from + fillStep - 1)
    await sql`
      with filled as (insert into device (device_no, app_id, device_name, tag, province_code, city_code, district_code,
        detail_address, coordinates, bound_at)
      select 'SN-' || left(md5(i::text), 18), 'filled' || i % 1000, 'East gate barrier', 'lane=1', '360000', '360100',
        '360102', 'No. 1 Yangming Road', '115.899918,28.676493', now()
      from generate_series(${from}::int, ${to}::int) as i returning device_no, app_id, bound_at)
      insert into device_binding (device_no, app_id, bound_at) select device_no, app_id, bound_at from filled`
    process.stderr.write(`filled ${to} of ${devices}\n`)
  }
  await sql`vacuum analyze device, device_binding`
}
