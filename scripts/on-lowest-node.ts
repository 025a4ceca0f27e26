import { spawnSync } from 'node:child_process'
import { installationOf, programsOf } from './nodes.ts'

// Runs a command where `node` is the lowest one that is supported: `bun scripts/on-lowest-node.ts npm test test/faults`.

function run([program = '', ...args]: string[], env: Record<string, string>): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

run(installationOf('lowest'), {})
run(process.argv.slice(2), { PATH: `${programsOf('lowest')}:${process.env.PATH}`, FORECOURT_TEST_RUNTIME: 'node' })
