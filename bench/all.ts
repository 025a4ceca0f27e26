// Every figure that README.md and docs/performance.md name of creates, files and backups, one benchmark after another.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const given = process.argv.slice(2)
const isComparison = given.some((argument) => argument.startsWith('--against'))
const programs = isComparison
  ? [['against.ts', ...given]]
  : [['run.ts', ...given], ['bulk.ts'], ['backup.ts', '--devices', '1000000']]
for (const [program = '', ...args] of programs) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, program), ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  process.stdout.write('\n')
}
