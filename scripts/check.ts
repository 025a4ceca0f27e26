import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { hasOldestPostgres } from '../test/kit/database.ts'
import { staleFiles } from './generated-files.ts'
import { installationOf, programsOf } from './nodes.ts'

// Everything that CI runs: `npm run check`; `npm run check:quick` is the first stage, without tests. The stages follow
// each other; the steps of a stage are independent and run two at a time, on the two processors that CI has. Ends with
// the first stage of which a step fails.

const root = join(import.meta.dirname, '..')

interface Step {
  name: string
  command: string[]
  env?: Record<string, string>
  /** A folder that is put first in `PATH`. */
  programs?: string
}

/**
 * Most fault tests do not depend on the runtime. These concern the HTTP server and the stop, where the two runtimes
 * differ, so they run on Node in every check.
 */
const edgeFaults = ['edge-connections', 'silent-connections', 'outages', 'stopping'].map(
  (name) => `test/faults/${name}.test.ts`,
)
/** The lowest supported Node is installed; the one that runs this script may be another. */
const onNode = { FORECOURT_TEST_RUNTIME: 'node', FORECOURT_TEST_SIDE_BY_SIDE: '3' }

const quickSteps: Step[] = [
  // With declarations, because the build for Node writes them and fails at what cannot be declared.
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json', '--declaration'] },
  { name: 'types of the console', command: ['tsc', '-p', 'console/tsconfig.json'] },
  { name: 'types of the browser tests', command: ['tsc', '-p', 'test/browser/tsconfig.json'] },
  { name: 'format, lint and import rules (`npm run format` formats)', command: ['biome', 'ci', '--colors=off', '.'] },
  { name: 'dead code', command: ['knip'] },
]

const stages: Step[][] = [
  [
    // In CI `npm ci` has just built it.
    ...(process.env.CI === 'true'
      ? []
      : [{ name: 'build of the console', command: ['npm', 'run', '--silent', 'build:console'] }]),
    { name: 'the lowest Node', command: installationOf('lowest') },
    { name: 'build for Node', command: ['npm', 'run', '--silent', 'build'] },
    ...quickSteps,
  ],
  [
    { name: 'size of the console’s first load', command: ['bun', 'scripts/console-size.ts'] },
    { name: 'known faults in dependencies', command: ['bun', 'scripts/audit.ts'] },
  ],
  [{ name: 'tests on Bun', command: ['npm', 'test'] }],
  [
    {
      name: 'the package, installed into an empty folder',
      command: ['bun', 'test', '--timeout', '120000', 'test/package.test.ts'],
      env: { FORECOURT_TEST_LONG: '1' },
    },
    { name: 'other people’s tools', command: ['bun', 'scripts/other-tools.ts'] },
  ],
  // These have the machine for themselves: they tell how soon a service answers beside a flood.
  [
    {
      name: 'fault tests on the lowest Node',
      command: ['bun', 'scripts/test.ts', ...edgeFaults],
      env: onNode,
      programs: programsOf('lowest'),
    },
  ],
  [
    hasOldestPostgres
      ? {
          name: 'conformance suite on the lowest Node and PostgreSQL 15',
          command: ['bun', 'scripts/conformance-on-oldest-postgres.ts'],
          env: onNode,
          programs: programsOf('lowest'),
        }
      : {
          name: 'conformance suite on the lowest Node; not on PostgreSQL 15, whose binaries are not on this machine',
          command: ['bun', 'scripts/test.ts', 'test/conformance'],
          env: onNode,
          programs: programsOf('lowest'),
        },
  ],
]

/** Runs a step. Its output is shown at once if it runs alone, else when it has ended. */
async function passes({ name, command, env, programs }: Step, isAlone: boolean): Promise<boolean> {
  const [program = '', ...args] = command
  const title = `\n== ${name}: ${command.join(' ')}`
  const path = [...(programs === undefined ? [] : [programs]), join(root, 'node_modules', '.bin'), process.env.PATH]
  const began = performance.now()
  if (isAlone) console.log(title)
  const child = spawn(program, args, {
    cwd: root,
    stdio: isAlone ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, PATH: path.join(':') },
  })
  const printed: Uint8Array[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => printed.push(piece))
  const [code] = await once(child, 'close')
  if (!isAlone) console.log(`${title}\n${Buffer.concat(printed)}`)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`== ${name}: ${code === 0 ? '' : 'failed after '}${seconds} s`)
  return code === 0
}

const isQuick = process.argv[2] === 'quick'
const stale = staleFiles()
if (stale.length > 0) {
  console.log(`${stale.join(', ')}: not what the source makes. Run \`npm run generate\`.`)
  process.exit(1)
}
for (const stage of isQuick ? [quickSteps] : stages) {
  const waiting = stage.values()
  const failed: string[] = []
  const runner = async () => {
    for (const step of waiting) if (!(await passes(step, stage.length === 1))) failed.push(step.name)
  }
  await Promise.all([runner(), runner()])
  if (failed.length === 0) continue
  console.log(`\n== failed: ${failed.join('; ')}`)
  process.exit(1)
}
