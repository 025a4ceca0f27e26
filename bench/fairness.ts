// How fast the service is for one application while another one searches 100,000 sites, replays 40,000 events and hangs
// up.
//
//   bun bench/fairness.ts [--rounds 3] [--seconds 8]
//   npm run build && FORECOURT_TEST_RUNTIME=node bun bench/fairness.ts
import { startService } from '../test/kit/service.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { measureShares, p95 } from './fair-shares.ts'
import { runBench } from './program.ts'
import { table } from './report.ts'

await runBench(async ({ cluster, keep, options: { rounds, seconds } }) => {
  const database = await cluster.createDatabase('fairness')
  const env = { DATABASE_URL: database.url, FORECOURT_PRIVATE_CALLBACKS: 'allow' }
  const service = await keep(startService({ env }))
  // Microseconds of processor time in a period, by process. What ended before the period is subtracted.
  const used = { quiet: [0, 0, 0, 0], loaded: [0, 0, 0, 0] }
  const greed = { sites: 100_000, events: 40_000, rounds, seconds }
  const { shares, load } = await measureShares(service, database.sql, greed, (period, isOver, child) => {
    const now = [processCpu(service.process.pid ?? 0), databaseCpu(cluster.pid), processCpu(process.pid)]
    now.push(child?.pid === undefined ? 0 : processCpu(child.pid))
    used[period] = used[period].map((sum, at) => sum + (isOver ? 1 : -1) * (now[at] ?? 0))
  })
  const rows = shares.map(({ operation, quietMs, loadedMs, refused }) => {
    const [quiet, loaded] = [p95(quietMs), p95(loadedMs)]
    const counts = [`${quietMs.length}`, `${loadedMs.length}`, `${refused.length}`]
    return [operation, quiet.toFixed(1), loaded.toFixed(1), (loaded / quiet).toFixed(1), ...counts]
  })
  const headings = ['operation', 'p95 quiet, ms', 'p95 loaded, ms', 'times', 'quiet', 'loaded', 'refused']
  const rate = (count: number) => (count / load.seconds).toFixed(1)
  const cores = (micros: number[]) => micros.map((sum) => (sum / (rounds * seconds * 1e6)).toFixed(2))
  const byWhom = table(
    ['cores', 'service', 'database', 'measuring', 'load'],
    [
      ['quiet', ...cores(used.quiet)],
      ['loaded', ...cores(used.loaded)],
    ],
  )
  process.stdout.write(
    `${table(headings, rows)}\n\n${byWhom}\n\nThe load each second: ${rate(load.searches)} searches, ${rate(load.replays)} replays, ${rate(load.hangUps)} hang-ups.\n`,
  )
})
