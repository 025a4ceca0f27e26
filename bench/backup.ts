// A backup and its restore at scale, by the command line as an operator runs it: time, rows, size, memory.
//
//   bun bench/backup.ts --devices 1000000
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../test/kit/client.ts'
import { newApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import { type CommandFigure, measureCommand } from './command.ts'
import { fillFleet } from './fleet.ts'
import { fillHistory } from './history-fill.ts'
import { runBench } from './program.ts'
import { table } from './report.ts'

await runBench(async ({ cluster, options }) => {
  const { devices } = options
  const source = await cluster.createDatabase('source')
  const service = await startService({ env: { DATABASE_URL: source.url } })
  const client = new Client(service)
  const { appId: large } = await newApplication(client)
  const { appId: ordinary } = await newApplication(client)
  await service.stop()
  await fillFleet(source.sql, options, large, ordinary)
  await fillHistory(source, 0)

  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'))
  const file = join(folder, 'backup')
  const rows: string[][] = []
  try {
    for (const runtime of ['bun', 'node'] as const) {
      const target = await cluster.createDatabase(`target_${runtime}`)
      await cluster.admin`checkpoint`
      const backup = await measureCommand(runtime, ['backup', file], source.url, cluster.pid)
      const megabytes = (statSync(file).size / 1e6).toFixed(0)
      rows.push([`backup, ${runtime}`, ...shown(backup), megabytes])
      await cluster.admin`checkpoint`
      const restore = await measureCommand(runtime, ['restore', file], target.url, cluster.pid)
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

function shown({ seconds, ownSeconds, databaseSeconds, peakMegabytes }: CommandFigure): string[] {
  return [seconds.toFixed(1), ownSeconds.toFixed(1), databaseSeconds.toFixed(1), peakMegabytes.toFixed(0)]
}
