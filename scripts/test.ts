import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startService } from '../test/harness.ts'

// Runs test files side by side in a few processes: most of them wait for clocks, disks and other processes. The files
// that share a service share one that is started here, once for all.
//
//   npm test                     every file
//   npm test -- test/conformance the files of a folder, or whatever else `bun test` takes

/** More than the processors of a small machine, because tests wait more than they work. */
const sideBySide = 3

const service = await startService()
const { status } = spawnSync(
  'bun',
  ['test', '--timeout', '120000', `--parallel=${sideBySide}`, '--no-isolate', ...process.argv.slice(2)],
  {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: {
      ...process.env,
      FORECOURT_TEST_TARGET: JSON.stringify({ url: service.url, operatorKey: service.operatorKey }),
    },
  },
)
await service.stop()
process.exit(status ?? 1)
