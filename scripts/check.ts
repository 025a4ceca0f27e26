import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { hasOldestPostgres } from '../test/harness.ts'

// Everything that CI runs: `npm run check`. The stages follow each other; the steps of a stage need nothing of each
// other and run two at a time, on the two processors that CI has. Ends with the first stage of which a step fails.

const root = join(import.meta.dirname, '..')

interface Step {
  name: string
  command: string[]
  env?: Record<string, string>
  /** A folder whose programs come before all others. */
  programs?: string
}

/** Fault tests that hold whatever the runtime is; these meet the edge, where the two runtimes differ, in the gate too. */
const faultsOnNode = ['edge-connections', 'silent-connections', 'outages', 'stopping'].map(
  (name) => `test/faults/${name}.test.ts`,
)
/** Node 20 is what starts all of this; the newest supported one is installed for the conformance suite (Linux only). */
const node24 = join(root, 'test', 'node24')
const onNewestNode = { programs: join(node24, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin') }
const onNode = { FORECOURT_TEST_RUNTIME: 'node', FORECOURT_TEST_SIDE_BY_SIDE: '3' }

const stages: Step[][] = [
  [
    // In CI the installation of a moment ago has built it.
    ...(process.env.CI === 'true'
      ? []
      : [{ name: 'build of the console', command: ['npm', 'run', '--silent', 'build:console'] }]),
    {
      name: 'Node 24',
      command: ['npm', 'ci', '--prefix', node24, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
    },
    { name: 'build for Node', command: ['npm', 'run', '--silent', 'build'] },
    { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
    { name: 'types of the console', command: ['tsc', '-p', 'console/tsconfig.json'] },
    { name: 'types of the browser tests', command: ['tsc', '-p', 'test/browser/tsconfig.json'] },
    { name: 'format, lint and import rules', command: ['biome', 'ci', '.'] },
    { name: 'dead code', command: ['knip'] },
  ],
  [{ name: 'size of the console’s first load', command: ['bun', 'scripts/console-size.ts'] }],
  [{ name: 'tests on Bun', command: ['npm', 'test'] }],
  [
    {
      name: 'the package, installed into an empty folder',
      command: ['bun', 'test', '--timeout', '120000', 'test/package.test.ts'],
      env: { FORECOURT_TEST_LONG: '1' },
    },
    { name: 'other people’s tools', command: ['bun', 'scripts/other-tools.ts'] },
    { name: 'fault tests on Node', command: ['bun', 'scripts/test.ts', ...faultsOnNode], env: onNode },
    hasOldestPostgres
      ? {
          name: 'conformance suite on Node 24 and PostgreSQL 15',
          command: ['bun', 'scripts/conformance-on-oldest-postgres.ts'],
          env: onNode,
          ...onNewestNode,
        }
      : {
          name: 'conformance suite on Node 24; not on PostgreSQL 15, whose binaries are not on this machine',
          command: ['bun', 'scripts/test.ts', 'test/conformance'],
          env: onNode,
          ...onNewestNode,
        },
  ],
]

/** Runs a step; what it prints is shown at once when nothing runs beside it, else when it has ended. */
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

for (const stage of stages) {
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
