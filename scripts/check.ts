import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasOldestPostgres } from '../test/harness.ts'

// Everything that CI runs: `npm run check`. Stops at the first step that fails.

const root = join(import.meta.dirname, '..')

interface Step {
  name: string
  command: string[]
  env?: Record<string, string>
}

const generated = ['openapi.json', 'docs/errors.md']

const steps: Step[] = [
  { name: 'format, lint and import rules', command: ['biome', 'ci', '.'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'types of the console', command: ['tsc', '-p', 'console/tsconfig.json'] },
  { name: 'types of the browser tests', command: ['tsc', '-p', 'test/browser/tsconfig.json'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'build of the console', command: ['npm', 'run', '--silent', 'build:console'] },
  { name: 'size of the console’s first load', command: ['bun', 'scripts/console-size.ts'] },
  { name: 'build for Node', command: ['npm', 'run', '--silent', 'build'] },
  { name: 'tests, with the conformance suite on Bun', command: ['npm', 'test'] },
  {
    name: 'conformance suite on Node',
    command: ['bun', 'scripts/test.ts', 'test/conformance'],
    env: { FORECOURT_TEST_RUNTIME: 'node' },
  },
]

function run({ name, command, env }: Step): void {
  const [program = '', ...args] = command
  console.log(`\n== ${name}: ${command.join(' ')}`)
  const startedAt = performance.now()
  const { status } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
  })
  console.log(`== ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  if (status !== 0) {
    console.log(`== ${name}: failed`)
    process.exit(status ?? 1)
  }
}

/** Makes the generated files anew and fails when that changes one: what is checked in must be what the source says. */
function checkGeneratedFiles(): void {
  const before = generated.map((file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''))
  run({ name: 'generated files', command: ['bun', 'scripts/generate.ts'] })
  const changed = generated.filter((file, index) => readFileSync(join(root, file), 'utf8') !== before[index])
  if (changed.length === 0) return
  console.log(`== ${changed.join(' and ')} did not fit the source; look at the change and commit it`)
  process.exit(1)
}

checkGeneratedFiles()
for (const step of steps) run(step)
if (hasOldestPostgres) {
  run({ name: 'conformance suite on PostgreSQL 15', command: ['bun', 'scripts/conformance-on-oldest-postgres.ts'] })
} else {
  console.log('\n== conformance suite on PostgreSQL 15: skipped, because its binaries are not on this machine')
}
