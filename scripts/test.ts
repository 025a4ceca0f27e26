import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startEmbeddedDatabase } from '../src/database/embedded.ts'
import { newDataDir, startService } from '../test/harness.ts'
import { bunTest } from './bun-test.ts'

// Runs the test files, on one service that is started here, once for all; those that kill, starve and time processes
// start their own.
//
//   npm test                      every file
//   npm test -- test/conformance  the files of a folder, or whatever else `bun test` takes
//   npm test -- --update-timings  every file, and notes how long each took, so that the longest begin first
//   npm run test:long             every file at its full size (FORECOURT_TEST_LONG), the service's own also on Node

const { url, operatorKey, stop } = await startService()
const template = join(newDataDir(), 'database')
await (await startEmbeddedDatabase(template)).stop()
const status = bunTest(process.argv.slice(2), {
  FORECOURT_TEST_TARGET: JSON.stringify({ url, operatorKey }),
  FORECOURT_TEST_DATABASE: template,
})
await stop()
rmSync(dirname(template), { recursive: true, force: true })
process.exit(status)
