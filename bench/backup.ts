// A backup and its restore at scale, by the command line as an operator runs it: time, rows, size, memory.
//
//   bun bench/backup.ts --devices 1000000
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from '../src/database/open.ts'
import { Client, newApplication, projectFolder, startService } from '../test/harness.ts'
import { databaseCpu, processCpu, residentMegabytes } from './cpu.ts'
import { fillFleet } from './fleet.ts'
import { runBench } from './program.ts'
import { table } from './report.ts'

const lookEveryMs = 50

interface Figure {
  seconds: number
  /** Processor time of the command and of the database. */
  ownSeconds: number
  databaseSeconds: number
  peakMegabytes: number
}

await runBench(async ({ cluster, options }) => {
  const { devices } = options
  const source = await cluster.createDatabase('source')
  const service = await startService({ env: { DATABASE_URL: source.url } })
  const client = new Client(service)
  const { appId: large } = await newApplication(client)
  const { appId: ordinary } = await newApplication(client)
  await service.stop()
  await fillFleet(source.sql, options, large, ordinary)
  await fillHistory(source.sql)

  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'))
  const file = join(folder, 'backup')
  const rows: string[][] = []
  try {
    for (const runtime of ['bun', 'node'] as const) {
      const target = await cluster.createDatabase(`target_${runtime}`)
      await cluster.admin`checkpoint`
      const backup = await measure(runtime, ['backup', file], source.url, cluster.pid)
      const megabytes = (statSync(file).size / 1e6).toFixed(0)
      rows.push([`backup, ${runtime}`, ...shown(backup), megabytes])
      await cluster.admin`checkpoint`
      const restore = await measure(runtime, ['restore', file], target.url, cluster.pid)
      rows.push([`restore, ${runtime}`, ...shown(restore), megabytes])
      process.stderr.write(`${rows.at(-2)?.join('  ')}\n${rows.at(-1)?.join('  ')}\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const headings = ['', 'seconds', 'CPU s', 'database CPU s', 'peak MB', 'file MB']
  process.stdout.write(
    `${devices.toLocaleString('en')} devices, each with its binding and its event.\n\n${table(headings, rows)}\n`,
  )
})

/** What creating the devices would have written beside them. */
async function fillHistory(sql: Sql): Promise<void> {
  await sql`insert into application_lock select app_id from application on conflict do nothing`
  await sql`insert into device_binding (device_no, app_id, bound_at) select device_no, app_id, bound_at from device`
  await sql.unsafe(`
    insert into event (app_id, id, type, time, actor, subject, data)
    select app_id, (extract(epoch from bound_at) * 1000000)::bigint + row_number() over (order by bound_at),
      'device.bound', bound_at, 'application:' || app_id, device_no,
      json_build_object('appId', app_id, 'deviceNo', device_no, 'deviceName', device_name, 'tag', tag,
        'provinceCode', province_code, 'cityCode', city_code, 'districtCode', district_code,
        'detailAddress', detail_address, 'coordinates', coordinates, 'modelName', model_name,
        'productPictureUrl', product_picture_url, 'deviceType', device_type, 'deviceTypeName', device_type_name,
        'status', status, 'onlineStatus', online_status, 'runStatus', run_status, 'statusRemark', status_remark,
        'version', version, 'batteryStatus', battery_status, 'batteryEnergy', battery_energy,
        'createTime', to_char(bound_at, 'YYYY-MM-DD HH24:MI:SS'))::text
    from device`)
  await sql`
    insert into event_head (app_id, last_event_id) select app_id, max(id) from event group by app_id
    on conflict (app_id) do update set last_event_id = excluded.last_event_id`
  await sql`vacuum analyze`
}

async function measure(runtime: 'bun' | 'node', args: string[], url: string, postmaster: number): Promise<Figure> {
  const [command, main] = runtime === 'node' ? ['node', 'dist/cli/main.js'] : [process.execPath, 'src/cli/main.ts']
  const databaseBefore = databaseCpu(postmaster)
  const began = performance.now()
  const child: ChildProcess = spawn(command, [join(projectFolder, main), ...args], {
    cwd: projectFolder,
    env: { ...process.env, DATABASE_URL: url, BUN_JSC_forceRAMSize: '536870912' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let [peak, own] = [0, 0]
  const timer = setInterval(() => {
    try {
      own = processCpu(child.pid as number)
      // A process that has ended but was not waited for shows no memory.
      peak = residentMegabytes(child.pid as number).peak || peak
    } catch {
      // It has just ended.
    }
  }, lookEveryMs)
  const [code] = await once(child, 'exit')
  clearInterval(timer)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return {
    seconds: (performance.now() - began) / 1000,
    ownSeconds: own / 1e6,
    databaseSeconds: (databaseCpu(postmaster) - databaseBefore) / 1e6,
    peakMegabytes: peak,
  }
}

function shown({ seconds, ownSeconds, databaseSeconds, peakMegabytes }: Figure): string[] {
  return [seconds.toFixed(1), ownSeconds.toFixed(1), databaseSeconds.toFixed(1), peakMegabytes.toFixed(0)]
}
