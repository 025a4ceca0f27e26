import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startService } from '../test/harness.ts'

// Runs the test files. Most wait for a service more than they work, so they run side by side in a few processes, on one
// service that is started here, once for all. Those that kill, starve and time processes of their own run afterwards.
//
//   npm test                     every file
//   npm test -- test/conformance the files of a folder, or whatever else `bun test` takes, side by side

/** More than the processors of a small machine, because tests wait more than they work. */
const sideBySide = '--parallel=3'
const onTheirOwn = ['test/faults', 'src/database']

const chosen = process.argv.slice(2)
if (chosen.length > 0) await runOnOneService(chosen)
else {
  await runOnOneService(onTheirOwn.map((folder) => `--path-ignore-patterns=${folder}/**`))
  stopUnlessPassed(bunTest(onTheirOwn, {}))
}

async function runOnOneService(options: string[]): Promise<void> {
  const { url, operatorKey, stop } = await startService()
  const status = bunTest(['--no-isolate', ...options], { FORECOURT_TEST_TARGET: JSON.stringify({ url, operatorKey }) })
  await stop()
  stopUnlessPassed(status)
}

function stopUnlessPassed(status: number): void {
  if (status !== 0) process.exit(status)
}

function bunTest(options: string[], env: Record<string, string>): number {
  const { status } = spawnSync('bun', ['test', '--timeout', '120000', sideBySide, ...options], {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status ?? 1
}
