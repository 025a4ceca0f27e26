import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { makeTemplate } from '../test/kit/database.ts'
import { projectFolder } from '../test/kit/folders.ts'
import { startService } from '../test/kit/service.ts'
import { bunTest } from './bun-test.ts'
import { staleFiles } from './generated-files.ts'

// Runs the test files, on one service that is started here, once for all; those that kill, starve and time processes
// start their own.
//
//   npm test                      every file
//   npm test -- test/conformance  the files of a folder, or whatever else `bun test` takes
//   npm test -- --update-timings  every file, and notes how long each took, so that the longest begin first
//   npm run test:long             every file at its full size (FORECOURT_TEST_LONG), the service's own also on Node and with 3 workers

// Tests compare the service's responses with the generated files, so these must be current.
const stale = staleFiles()
if (stale.length > 0) {
  console.error(`${stale.join(', ')}: not what the source makes. Run \`npm run generate\`.`)
  process.exit(1)
}

// A killed process leaves the same files in memory as on a disk, and in memory a new database takes a fraction of the
// processor time. The long run stays on the disk, where a commit takes as long as in operation.
const isLong = process.env.FORECOURT_TEST_LONG !== undefined
const isInMemory = !isLong && freeBytes('/dev/shm') > 8 * 1024 ** 3
const folder = mkdtempSync(join(isInMemory ? '/dev/shm' : tmpdir(), 'forecourt-'))
// With the rights of any folder for temporary files, because the embedded database runs as another user.
chmodSync(folder, 0o1777)
process.env.TMPDIR = folder
// A service of a test lives for seconds: what the last stage of compilation makes faster does not repay its time.
if (!isLong) process.env.BUN_JSC_useFTLJIT = '0'

// The service for most tests runs from the source, as do the services of tests about the start, and all services in the
// long run.
const { url, operatorKey, stop } = await startService()
const status = await bunTest(process.argv.slice(2), {
  FORECOURT_TEST_TARGET: JSON.stringify({ url, operatorKey }),
  FORECOURT_TEST_DATABASE: await makeTemplate(),
  ...(!isLong && { FORECOURT_TEST_BUNDLE: await bundle() }),
})
await stop()
rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
process.exit(status)

/**
 * Bundles the service's source into one file for each kind of process, which starts in two thirds of the time that a
 * thousand modules take. For a module, its folder stays that of its source, where it finds files that are not modules;
 * its file becomes the bundle.
 */
async function bundle(): Promise<string> {
  const source = join(projectFolder, 'src')
  const outdir = join(folder, 'bundle')
  await Bun.build({
    entrypoints: ['main.ts', 'process/worker.ts'].map((name) => join(source, name)),
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    // As on a small machine: before its start, PostgreSQL prepares all the shared buffers that the memory allows.
    banner: 'process.constrainedMemory = () => 512 * 1024 ** 2',
    outdir,
    plugins: [
      {
        name: 'places of the modules',
        setup(build) {
          build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
            const filename = join(outdir, relative(source, path)).replace(/ts$/, 'js')
            const places = { dirname: dirname(path), filename, url: Bun.pathToFileURL(path).href }
            const contents = readFileSync(path, 'utf8').replaceAll(
              /\bimport\.meta\.(dirname|filename|url)\b/g,
              (_, name: keyof typeof places) => JSON.stringify(places[name]),
            )
            return { loader: 'ts', contents }
          })
        },
      },
    ],
  })
  return join(outdir, 'main.js')
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return 0
  }
}
