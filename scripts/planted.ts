import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { faults } from '../test/planted/all.ts'
import type { Fault } from '../test/planted/fault.ts'

// Plants faults in copies of the checkout, one at a time, and prints which test files find each.
//
//   bun scripts/planted.ts --list                 the names of all faults
//   bun scripts/planted.ts --check                whether each fault still fits the source; runs no test
//   bun scripts/planted.ts                        every fault: the tests that are known to find it, else all tests
//   bun scripts/planted.ts cursor 'second secret' the faults whose group, file or name contains one of these
//   bun scripts/planted.ts cursor -- test/conformance  with these tests
//   bun scripts/planted.ts --sound -- test/cli    without a fault, to see what fails in a copy anyway
//
// `--output` shows the output of the tests. FORECOURT_TEST_LONG=1 plants also the faults that only the long run finds.
// Ends with 1 if a fault isn't found that has known finders.

const projectFolder = join(import.meta.dirname, '..')
const isLong = process.env.FORECOURT_TEST_LONG !== undefined

const asked = process.argv.slice(2)
const bar = asked.indexOf('--')
const [own, tests] = bar === -1 ? [asked, []] : [asked.slice(0, bar), asked.slice(bar + 1)]
const options = new Set(own.filter((one) => one.startsWith('--')))
const parts = own.filter((one) => !one.startsWith('--')).map((part) => part.toLowerCase())
const unknown = [...options].filter((one) => !['--list', '--check', '--sound', '--output'].includes(one))
if (unknown.length > 0) {
  console.error(`Unknown option ${unknown.join(', ')}.`)
  process.exit(2)
}
const chosen = faults.filter(({ group, file, name }) => {
  const text = `${group} ${file} ${name}`.toLowerCase()
  return parts.length === 0 || parts.some((part) => text.includes(part))
})

let child: ChildProcess | undefined
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true
    child?.kill(signal)
  })
}

if (options.has('--list')) for (const { group, name, file } of chosen) console.log(`${group}: ${name} (${file})`)
else if (options.has('--check')) process.exitCode = check()
else if (options.has('--sound')) console.log(wordsOf(await findersOf(undefined, tests)))
else process.exitCode = await plantAll()

/** Prints the faults that don’t fit the source. Returns the exit code. */
function check(): number {
  const wrong = faults.flatMap((fault) => {
    const reason = misfitOf(fault)
    return reason === undefined ? [] : [`${fault.group}: ${fault.name}: ${reason}`]
  })
  console.log([...wrong, `${faults.length} faults, ${wrong.length} of them don’t fit.`].join('\n'))
  return wrong.length === 0 ? 0 : 1
}

function misfitOf({ name, file, find, replace, foundBy, isGenerated }: Fault): string | undefined {
  const path = join(projectFolder, file)
  if (!existsSync(path)) return `${file} doesn’t exist`
  const count = readFileSync(path, 'utf8').split(find).length - 1
  if (count !== 1) return `the text to find occurs ${count} times in ${file}`
  if (find === replace) return 'it changes nothing'
  if (faults.filter((other) => other.name === name).length > 1) return 'another fault has this name'
  // The SQL of routines is checked in as migrations/routines.sql.
  if (file.endsWith('/routine.ts') && !isGenerated) return 'it changes routines.sql, and so needs isGenerated'
  const missing = foundBy.filter((test) => !existsSync(join(projectFolder, test)))
  return missing.length === 0 ? undefined : `${missing.join(', ')} doesn’t exist`
}

async function plantAll(): Promise<number> {
  const missed: string[] = []
  for (const fault of chosen) {
    if (isInterrupted) return 1
    if (fault.isOfLongRun && !isLong) {
      console.log(`${fault.group}: ${fault.name}\n  only in the long run`)
      continue
    }
    console.log(`${fault.group}: ${fault.name}`)
    const found = await findersOf(fault, tests.length > 0 ? tests : fault.foundBy)
    if (isInterrupted) return 1
    console.log(`  ${wordsOf(found)}`)
    if (found.length === 0 && fault.foundBy.length > 0) missed.push(fault.name)
  }
  if (missed.length > 0) console.log(`\nNo longer found:\n${missed.map((name) => `  ${name}`).join('\n')}`)
  return missed.length === 0 ? 0 : 1
}

// A declared function, as all below: the lines above run before those that follow.
function wordsOf(found: readonly string[]): string {
  return found.length === 0 ? 'NOT FOUND' : `found by: ${found.join(' ')}`
}

/** Runs tests in a copy with the fault. Returns the files that fail, or “start” if the tests don’t even start. */
async function findersOf(fault: Fault | undefined, files: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-planted-'))
  try {
    const copy = join(folder, 'checkout')
    const failed = join(folder, 'failed.json')
    copyCheckout(copy)
    if (fault !== undefined) plant(fault, copy)
    if (fault?.isGenerated && (await npm(copy, 'run', 'generate')) !== 0) return ['start']
    if (!(await hasConsole(copy, fault))) return ['start']
    const status = await npm({ copy, failed }, 'test', '--', ...files)
    if (status === 0) return []
    const found: string[] = existsSync(failed) ? JSON.parse(readFileSync(failed, 'utf8')) : ['start']
    return found.length > 0 ? found : ['an error outside of any test']
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** Copies the files that Git knows, as they are now, and links what is installed. */
function copyCheckout(to: string): void {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: projectFolder, maxBuffer: 64 * 1024 ** 2 }).toString()
  const folders = new Set<string>()
  for (const file of listed.split('\0')) {
    const path = join(projectFolder, file)
    if (file === '' || !existsSync(path)) continue
    const folder = dirname(join(to, file))
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true })
    folders.add(folder)
    copyFileSync(path, join(to, file))
  }
  symlinkSync(realpathSync(join(projectFolder, 'node_modules')), join(to, 'node_modules'))
}

function plant({ file, find, replace }: Fault, copy: string): void {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const at = text.indexOf(find)
  if (at === -1) throw new Error(`${file} doesn’t contain: ${find}`)
  writeFileSync(path, text.slice(0, at) + replace + text.slice(at + find.length))
}

/** Builds the console if the fault is in it or the checkout has no build. Returns whether there is a build. */
async function hasConsole(copy: string, fault: Fault | undefined): Promise<boolean> {
  const built = join(projectFolder, 'console', 'dist')
  const isBuilt = existsSync(built) && fault?.file.startsWith('console/') !== true
  if (!isBuilt) return (await npm(copy, 'run', 'build:console')) === 0
  symlinkSync(realpathSync(built), join(copy, 'console', 'dist'))
  return true
}

/** Runs npm in a copy; `failed` is where the tests note the files that fail. Returns the exit code. */
async function npm(where: string | { copy: string; failed: string }, ...args: string[]): Promise<number> {
  if (isInterrupted) return 1
  const { copy, failed } = typeof where === 'string' ? { copy: where, failed: undefined } : where
  child = spawn('npm', ['--silent', ...args], {
    cwd: copy,
    stdio: options.has('--output') ? 'inherit' : 'ignore',
    env: { ...process.env, ...(failed !== undefined && { FORECOURT_TEST_FAILED: failed }) },
  })
  const [status] = await once(child, 'close')
  child = undefined
  return status ?? 1
}
