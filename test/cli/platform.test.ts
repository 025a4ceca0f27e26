import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { newDataDir } from '../kit/folders.ts'
import { newGenerator, newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, newToken } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { asOperator, command, commandLine, failed } from './support.ts'

// The commands that call the API, as a script and as a person use them.

const { client, settings } = await asOperator()

const asJson = async (args: string[]) => {
  const { code, stdout, stderr } = await command([...args, '--json', '--quiet'], settings)
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout)
}

test('an application’s life: made ready to work, offline, frozen, given a new secret', async () => {
  const appName = newSerial('应用')
  const { appId, appSecret, thirdPartyConfig } = await asJson(['app', 'create', appName])
  expect(thirdPartyConfig).toMatchObject({ operatorName: appName })
  await newToken(client, appId, appSecret)

  const listed = await command(['app', 'list', '--name', appName], settings)
  expect(listed.stdout.split('\n')).toEqual([
    expect.stringMatching(/^APPID +NAME +ONLINE +STATUS +CREATED$/),
    expect.stringMatching(new RegExp(`^${appId}  ${appName}  online +normal +\\d{4}-`)),
    '',
  ])
  expect(await asJson(['app', 'list', '--name', appName])).toMatchObject([{ appId }])
  expect(await asJson(['app', 'offline', appId])).toMatchObject({ onlineStatus: 2 })
  expect(await asJson(['app', 'online', appId])).toMatchObject({ onlineStatus: 1 })
  expect(await asJson(['app', 'freeze', appId, '--reason', 'unpaid'])).toMatchObject({ frozenReason: 'unpaid' })
  expect((await command(['app', 'show', appId], settings)).stdout).toMatch(/^status +frozen\nreason +unpaid$/m)
  expect(await asJson(['app', 'unfreeze', appId])).toMatchObject({ status: 1 })
  const rotated = await asJson(['app', 'rotate-secret', appId])
  expect(rotated.appSecret).not.toBe(appSecret)
  await newToken(client, appId, rotated.appSecret)

  const fresh = await asJson(['app', 'rotate-secret', appId, '--overlap', '600'])
  const { overlapUntil } = await asJson(['app', 'show', appId])
  expect(overlapUntil).toMatch(/^\d{4}-/)
  expect((await command(['app', 'show', appId], settings)).stdout).toContain(
    `old secret  valid until ${overlapUntil}\n`,
  )
  await newToken(client, appId, rotated.appSecret)
  expect(await asJson(['app', 'end-old-secret', appId])).toMatchObject({ overlapUntil: null })
  await expect(newToken(client, appId, rotated.appSecret)).rejects.toThrow('10030')
  await newToken(client, appId, fresh.appSecret)
  expect((await command(['app', 'end-old-secret', appId], settings)).stdout).not.toContain('old secret')
})

test('accounts and keys are made, listed and removed, and their secrets shown once', async () => {
  const name = newSerial('account')
  const operator = await asJson(['operator', 'create', name, '--role', 'viewer'])
  expect(operator.setUpUrl).toStartWith(`${client.url}/console/set-up#`)
  expect(await asJson(['operator', 'list'])).toContainEqual(expect.objectContaining({ name, isSetUp: false }))
  const gone = await command(['operator', 'delete', String(operator.id)], settings)
  expect(gone).toEqual({ code: 0, stdout: `Account ${name} (${operator.id}) deleted.\n`, stderr: '' })

  const key = await command(['key', 'create', name, '--role', 'viewer'], settings)
  const [, secret = ''] = /^key +(\S+)$/m.exec(key.stdout) ?? []
  expect(key).toMatchObject({ code: 0, stderr: 'Store the key now. It can’t be shown again.\n' })
  // The operator key can also be given as an option or in a file.
  const refused = await command(['app', 'create', 'not a viewer’s', '--key', secret], { FORECOURT_URL: client.url })
  expect(refused.stderr).toContain('--key in the process list')
  expect(refused).toEqual(failed(3, /^10003 notPermitted: /m))
  // Applications may be named only for a developer, because the other roles see all of them; a developer needs at least
  // one.
  for (const mistaken of [
    ['--role', 'developer'],
    ['--role', 'viewer', '--app', 'a'],
  ]) {
    const answer = await command(['operator', 'create', name, ...mistaken], settings)
    expect(answer).toEqual(failed(2, '--app is required'))
  }
  const file = join(newDataDir(), 'key')
  writeFileSync(file, `${secret}\n`)
  const byFile = { FORECOURT_URL: client.url, FORECOURT_OPERATOR_KEY_FILE: file }
  expect(await command(['key', 'list', '--json'], byFile)).toEqual(failed(3, /^10003 notPermitted: /))
  const [{ id }] = (await asJson(['key', 'list'])).filter((row: { name: string }) => row.name === name)
  expect(await asJson(['key', 'delete', String(id)])).toMatchObject({ name })
})

test('a second factor is reset with a reason, and the person comes in by the password alone', async () => {
  const person = await newPerson(client, 'viewer')
  const headers = await signIn(client, person)
  await newGenerator(client, headers)
  const reset = ['operator', 'reset-second-factor', String(person.id)]
  const words = 'the phone is lost'
  expect(await command(reset, settings)).toEqual(failed(2, '--reason'))
  expect(await command([...reset, '--reason', words], settings)).toEqual({
    code: 0,
    stdout: `Second factor of ${person.name} (${person.id}) reset. The person is signed out.\n`,
    stderr: '',
  })
  const { list } = (await client.operate('pageAudit', { type: 'secondFactor.reset', subject: String(person.id) })).data
  expect(list.map(({ data }) => data)).toMatchObject([{ operatorId: person.id, reason: words }])
  const hasEnded = async () => (await client.call('getSession', {}, { headers })).code === 10002
  expect(await becomesTrue(hasEnded, 1000)).toBe(true)
  await signIn(client, person)
  expect(await command([...reset, '--reason', words], settings)).toEqual(failed(3, /^10056 secondFactorNotFound: /))
})

test('refusals shows what was refused, why, and as many as are asked for', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const faulty = { ...deviceBody(appId), deviceName: '' }
  for (let calls = 0; calls < 3; calls++) await client.call('createDevice', faulty, { token })
  const { deviceNo } = faulty
  const asked = ['refusals', '--filter', `deviceNo=${deviceNo}`]
  // Refusals are written beside the requests.
  const listed = async () => JSON.parse((await command([...asked, '--app', appId, '--json'], settings)).stdout)
  expect(await becomesTrue(async () => (await listed()).length === 3)).toBe(true)
  const first = { appId, code: 10001, subject: deviceNo, errors: [{ field: 'deviceName' }] }
  expect((await listed())[0]).toMatchObject(first)

  const shown = await command([...asked, '--limit', '2'], { ...settings, APP_ID: appId, APP_SECRET: appSecret })
  expect(shown).toEqual({ code: 0, stdout: expect.any(String), stderr: expect.stringContaining('More rows exist') })
  const row = new RegExp(
    `^\\d{4}-.+  ${appId}  10001  invalidRequest  createDevice  ${deviceNo}  deviceName: .+  application:`,
  )
  expect(shown.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^TIME +APPID +CODE +NAME +OPERATION +SUBJECT +WHY +ACTOR +REQUEST$/),
    expect.stringMatching(row),
    expect.stringMatching(row),
  ])
  // Called as the application itself, which sees only its own refusals.
  const itself = { FORECOURT_URL: client.url, APP_SECRET: appSecret }
  const own = await command(['refusals', '--limit', '3', '--json', '--app-id', appId], itself)
  expect([own.code, own.stderr, JSON.parse(own.stdout).length]).toEqual([0, '', 3])
  expect(await command(['refusals', '--filter', 'deviceno=x'], settings)).toMatchObject({ code: 3, stdout: '' })
  expect(await command(['refusals', '--filter', 'deviceNo'], settings)).toMatchObject({ code: 2, stdout: '' })
})

test('what the service refuses ends with 3, its code and what to do on standard error', async () => {
  const unknown = await command(['app', 'show', 'none-such', '--json'], settings)
  expect(unknown).toEqual(failed(3, /^10004 applicationNotFound: .+ `forecourt app list`. .+\n$/))
  const faulty = await command(['app', 'create', 'x', '--callback-url', 'nowhere'], settings)
  expect(faulty).toEqual(failed(3, /^10001 .+\n {2}thirdPartyConfig\.callbackUrl: /))
})

test('who gives no key, or no address, used it wrongly', async () => {
  const keyless = await command(['app', 'list'], { FORECOURT_URL: client.url })
  expect(keyless).toEqual(failed(2, 'FORECOURT_OPERATOR_KEY'))
  for (const wrong of ['here', 'http://user:secret@127.0.0.1/', `${client.url}?x=1`]) {
    const refused = await command(['app', 'list', '--url', wrong], settings)
    expect(refused).toEqual(failed(2, /^error: [^\n]+\n$/))
    expect(refused.stderr).not.toContain('secret')
  }
  const { url } = client
  for (const pasted of [`${url.replace('http', 'HTTP')}//`, `${url}/console/devices?x=1#y`, new URL(url).host]) {
    const { code } = await command(['app', 'list', '--json'], { ...settings, FORECOURT_URL: ` ${pasted} ` })
    expect([pasted, code]).toEqual([pasted, 0])
  }
  expect(await command(['app', 'freeze', 'some'], settings)).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: required option '--reason <text>' not specified\nFor help, run: forecourt app freeze --help\n",
  })
})

longTest('a service that is not there, or is another program, is told in a sentence', async () => {
  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const show = (...args: string[]) => command(['app', 'show', 'some', ...args], settings)
  expect(await show('--url', url)).toEqual(failed(1, /^The server at .+ isn’t Forecourt/))
  other.closeAllConnections()
  await new Promise((resolve) => other.close(resolve))
  const isOpen = await show('--url', 'http://forecourt.example.com')
  expect(isOpen).toEqual(failed(2, /plain text.*--allow-http/))
  const isAllowed = await show('--allow-http', '--url', 'http://0.0.0.0:3')
  expect(isAllowed).toEqual(failed(1, /^No response from the service at /))
  expect(await show('--url', url)).toEqual(failed(1, /^No response from the service at .+\n$/))
})

test('whoever reads may stop reading', async () => {
  const quoted = [...commandLine, 'openapi'].map((word) => `'${word}'`).join(' ')
  const { code, stdout, stderr } = await shell(`set -o pipefail; ${quoted} | head -1`)
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '{\n', stderr: '' })
})

async function shell(script: string) {
  const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}
