import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemplate, startService } from '../test/harness.ts'
import { bunTest } from './bun-test.ts'

// Runs the test files, on one service that is started here, once for all; those that kill, starve and time processes
// start their own.
//
//   npm test                      every file
//   npm test -- test/conformance  the files of a folder, or whatever else `bun test` takes
//   npm test -- --update-timings  every file, and notes how long each took, so that the longest begin first
//   npm run test:long             every file at its full size (FORECOURT_TEST_LONG), the service's own also on Node and with 3 workers

// What processes leave unwritten when they are killed is the same in memory as on a disk, and there a new database
// takes a fraction of the processor time. The long run stays on the disk, where a commit takes its time.
const isInMemory = process.env.FORECOURT_TEST_LONG === undefined && freeBytes('/dev/shm') > 8 * 1024 ** 3
const folder = mkdtempSync(join(isInMemory ? '/dev/shm' : tmpdir(), 'forecourt-'))
// As open as any folder for temporary files: the embedded database is another user.
chmodSync(folder, 0o1777)
process.env.TMPDIR = folder

const { url, operatorKey, stop } = await startService()
const status = bunTest(process.argv.slice(2), {
  FORECOURT_TEST_TARGET: JSON.stringify({ url, operatorKey }),
  FORECOURT_TEST_DATABASE: await makeTemplate(),
})
await stop()
rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
process.exit(status)

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return 0
  }
}
