import { spawnSync } from 'node:child_process'
import { installationOf, programsOf, type SupportedNode } from './nodes.ts'

// Runs a command where `node` is the lowest or the newest one that is supported:
// `bun scripts/on-node.ts lowest npm test test/faults`.

function run([program = '', ...args]: string[], env: Record<string, string>): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

const [which, ...command] = process.argv.slice(2)
if (which !== 'lowest' && which !== 'newest') throw new Error('which Node: lowest or newest?')
const node: SupportedNode = which
run(installationOf(node), {})
run(command, { PATH: `${programsOf(node)}:${process.env.PATH}`, FORECOURT_TEST_RUNTIME: 'node' })
