import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../test/kit/client.ts'
import { projectFolder } from '../test/kit/folders.ts'
import { newApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'

// Checks openapi.json with other tools: two linters find nothing, the clients of three generators type-check and run
// against the service, and newman sends each request of the Postman collection. Only this script installs the tools.
// When it cannot, it fails in CI and prints a line elsewhere. What was proven once of the same files is not proven again,
// except in the long run.

const folder = join(projectFolder, 'test', 'tools')
const generated = join(folder, 'generated')

const record = join(folder, 'proven.json')
const inputs = ['openapi.json', 'postman.json', 'test/tools/package-lock.json', 'test/tools/clients.ts']
const digest = createHash('sha256')
for (const path of inputs) digest.update(readFileSync(join(projectFolder, path)))
const proven = { inputs, sha256: digest.digest('hex') }
const isProven = JSON.parse(readFileSync(record, 'utf8')).sha256 === proven.sha256
if (isProven && process.env.FORECOURT_TEST_LONG === undefined) {
  console.log(`${inputs.join(', ')}: as they were when these tools last accepted them`)
  process.exit(0)
}

function run(command: string, args: string[], env: Record<string, string> = {}): boolean {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } })
  return status === 0
}

/** Throws the name of what failed. */
function must(name: string, isDone: boolean): void {
  if (!isDone) throw new Error(`${name} failed`)
}

const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
if (!run('npm', ['ci', ...quietly])) {
  console.log('the tools cannot be installed: nothing is proved with them')
  process.exit(process.env.CI === 'true' ? 1 : 0)
}
rmSync(generated, { recursive: true, force: true })
mkdirSync(generated)
must('lint or generation', run('node', ['generate.mjs', join(projectFolder, 'openapi.json'), generated]))
must('the type check', run('tsc', ['-p', folder]))
const service = await startService()
const { appId, appSecret } = await newApplication(new Client(service))
const account = { FORECOURT_URL: service.url, APP_ID: appId, APP_SECRET: appSecret }
const isAccepted = run('bun', ['clients.ts'], account)
const collection = join(projectFolder, 'postman.json')
const isSent = run('node', ['postman.mjs', collection], { ...account, OPERATOR_KEY: service.operatorKey })
await service.stop()
must('a generated client', isAccepted)
must('a request of the Postman collection', isSent)
writeFileSync(record, `${JSON.stringify(proven, null, 2)}\n`)
