import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../test/kit/client.ts'
import { projectFolder } from '../test/kit/folders.ts'
import { newApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'

// Checks openapi.json with other tools: two linters find nothing, the clients of three generators type-check and run
// against the service, and newman sends each request of the Postman collection. Only this script installs the tools.
// When it cannot, it fails in CI and prints a line elsewhere.

const folder = join(projectFolder, 'test', 'tools')
const generated = join(folder, 'generated')

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
