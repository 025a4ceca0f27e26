// What one application has of the service beside another that searches 100,000 sites, replays 40,000 events and hangs up.
//
//   bun bench/fairness.ts
import { startService } from '../test/harness.ts'
import { measureShares, p95 } from './fair-shares.ts'
import { runBench } from './program.ts'
import { table } from './report.ts'

await runBench(async ({ cluster, keep }) => {
  const database = await cluster.createDatabase('fairness')
  const env = { DATABASE_URL: database.url, FORECOURT_PRIVATE_CALLBACKS: 'allow' }
  const service = await keep(startService({ env }))
  const shares = await measureShares(service, database.sql, { sites: 100_000, events: 40_000, seconds: 15 })
  const rows = shares.map(({ operation, quietMs, loadedMs, refused }) => {
    const [quiet, loaded] = [p95(quietMs), p95(loadedMs)]
    const counts = [`${quietMs.length}`, `${loadedMs.length}`, `${refused.length}`]
    return [operation, quiet.toFixed(1), loaded.toFixed(1), (loaded / quiet).toFixed(1), ...counts]
  })
  const headings = ['operation', 'p95 quiet, ms', 'p95 loaded, ms', 'times', 'quiet', 'loaded', 'refused']
  process.stdout.write(`${table(headings, rows)}\n`)
})
