import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noteUnsteady, unsteadyFiles } from './unsteady.ts'

/** The long run, where a test does many times as much and nothing is tried again. */
const isLong = process.env.FORECOURT_TEST_LONG !== undefined

/**
 * Runs test files by the test runner, side by side in a few processes, the longest first. Returns the runner's exit
 * code. By default there are more processes than a small machine has processors, because tests wait more than they
 * work; fewer in the long run, where they work, and if each service has several processes.
 *
 * A file that failed runs once more, alone, only if `test/unsteady.json` lists it with a reason, and if no other failed.
 * That it passes then is noted in the list; at two of ten commits is a failure. The long run has no second attempt.
 *
 * Writes the files that failed in the end as JSON to the file that FORECOURT_TEST_FAILED names, if it is set.
 */
export async function bunTest(options: string[], env: Record<string, string>): Promise<number> {
  const byDefault = isLong || process.env.FORECOURT_TEST_WORKERS !== undefined ? 2 : 4
  const sideBySide = Number(process.env.FORECOURT_TEST_SIDE_BY_SIDE ?? byDefault)
  const { FORECOURT_TEST_SEED = String(randomInt(2 ** 31)) } = process.env
  const seeded = { ...env, FORECOURT_TEST_SEED }
  const first = await runReported([`--parallel=${sideBySide}`, ...options], seeded)
  if (first.status !== 0)
    console.log(`\nFORECOURT_TEST_SEED=${FORECOURT_TEST_SEED} repeats the random choices of this run.`)
  const { failed } = first
  const listed = unsteadyFiles().map(({ file }) => file)
  const isTriedAgain = failed.length > 0 && !first.hasErrors && failed.every((file) => listed.includes(file))
  if (!isTriedAgain || isLong) {
    tellFailed(failed)
    return first.status
  }
  console.log(`\nAgain, with nothing beside: ${failed.join(' ')}\n`)
  const second = await runReported(['--parallel=1', ...failed.map((file) => `./${file}`)], seeded)
  tellFailed(second.failed)
  if (second.status !== 0) {
    console.log('\nFailed at both attempts.')
    return second.status
  }
  console.log(`\nUNSTEADY, passed at the second attempt, as test/unsteady.json now says: ${failed.join(' ')}`)
  const often = noteUnsteady(failed)
  if (often.length === 0) return 0
  console.log(`At two of the last ten commits: ${often.join(' ')}. Correct the test or the service.`)
  return 1
}

function tellFailed(files: readonly string[]): void {
  const { FORECOURT_TEST_FAILED: to } = process.env
  if (to !== undefined) writeFileSync(to, JSON.stringify(files))
}

interface Ran {
  status: number
  /** Whether an error was thrown outside of any test, which the report does not mention. */
  hasErrors: boolean
}

/** Runs the test runner with a report. Returns also the files that failed. */
async function runReported(options: string[], env: Record<string, string>): Promise<Ran & { failed: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-report-'))
  const report = join(folder, 'report.xml')
  const ran = await run(['--reporter=junit', `--reporter-outfile=${report}`, ...options], env)
  const failed = ran.status === 0 ? [] : failedFiles(report)
  rmSync(folder, { recursive: true, force: true })
  return { ...ran, failed }
}

async function run(options: string[], env: Record<string, string>): Promise<Ran> {
  const ours = [
    '--timeout',
    isLong ? '600000' : '120000',
    '--no-isolate',
    `--timings=test/timings${isLong ? '-long' : ''}.json`,
  ]
  const child = spawn('bun', ['test', ...ours, ...options], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['inherit', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  // Without this, a signal would end this process alone: the runner, its services and their files would stay.
  const stop = () => child.kill()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  let end = ''
  const show = (to: NodeJS.WriteStream) => (piece: Buffer) => {
    to.write(piece)
    end = `${end}${piece}`.slice(-2000)
  }
  child.stdout.on('data', show(process.stdout))
  child.stderr.on('data', show(process.stderr))
  const [status] = await once(child, 'close')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  return { status: status ?? 1, hasErrors: /^ [1-9]\d* errors?$/m.test(end) }
}

/** The files of which a test failed, by the runner's report; none where it wrote none. */
function failedFiles(report: string): string[] {
  let xml: string
  try {
    xml = readFileSync(report, 'utf8')
  } catch {
    return []
  }
  const files = xml.matchAll(/<testcase[^>]* file="([^"]+)"[^>]*>\s*<failure/g)
  return [...new Set([...files].map(([, file = '']) => file))]
}
