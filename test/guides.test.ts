import { afterAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { composeRequest } from '../src/deliveries/sign.ts'
import { target } from './kit/client.ts'
import { projectFolder } from './kit/folders.ts'
import { deviceBody, newApplication } from './kit/records.ts'
import { freePort } from './kit/replicated.ts'
import { becomesTrue } from './kit/waits.ts'

// Runs the commands of the guides exactly as they are printed. Only the English guides are run: another test checks
// that the Chinese ones contain the same code (test/conformance/guides.test.ts).

const client = await target()

/** The blocks of code in this language in a guide, in order. */
function codeOf(guide: string, language: string): string[] {
  const source = readFileSync(join(projectFolder, 'docs', 'guides', 'en', `${guide}.md`), 'utf8')
  return [...source.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, code = '']) =>
    of === language ? [code] : [],
  )
}

/** The folder in which commands are run: they write files. */
const folder = mkdtempSync(join(tmpdir(), 'guides-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs commands in a shell and returns the responses that they print, one on each line. */
function paste(commands: string[], env: Record<string, string>) {
  const { stdout, stderr } = spawnSync('bash', ['-euc', commands.join('\n')], {
    cwd: folder,
    env: { ...process.env, FORECOURT_URL: client.url, ...env },
    encoding: 'utf8',
  })
  const lines = stdout.trim().split('\n')
  expect(
    lines.filter((line) => !line.startsWith('{')),
    stderr,
  ).toEqual([])
  return lines.map((line) => JSON.parse(line))
}
const codesOf = (answers: { code: number }[]) => answers.map(({ code }) => code)

test('the quick start can be pasted twice, and the other guides’ commands after it', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const env = { APP_ID: appId, APP_SECRET: appSecret, TOKEN: token }
  const start = codeOf('quick-start', 'sh')
  const first = paste(start, env)
  expect(codesOf(first)).toEqual([0, 0, 0, 0, 0])
  const [, site, device, page, reported] = first.map(({ data }) => data)
  expect(page.list).toEqual([device])
  expect([reported.onlineStatus, reported.runStatus]).toEqual([1, 1])
  const guides = ['tokens', 'retries', 'pages', 'states', 'events'].map((guide) => codeOf(guide, 'sh').join('\n'))
  const [imports = '', ...others] = codeOf('bulk', 'sh')
  const all = paste([...start, ...guides, imports], env)
  const isOver = async () => (await client.call('pageImports', { status: 3 }, { token })).data.total === 1
  expect(await becomesTrue(isOver)).toBe(true)
  const further = paste(others, env)
  expect(codesOf([...all, ...further])).toEqual([...all, ...further].map(() => 0))
  expect(further).toHaveLength(1)
  const [, siteAgain, deviceAgain, , , , , rule, ruleAgain, , late, batch, several, , , feed] = all.map(
    ({ data }) => data,
  )
  expect([siteAgain, deviceAgain]).toEqual([site, device])
  expect(ruleAgain).toEqual(rule)
  expect([late.statusRemark, late.DeviceBatteryOutput.batteryEnergy]).toEqual(['E00', '86.5%'])
  expect(codesOf(batch.results)).toEqual([0, 20002])
  expect(several.list.map(({ deviceNo }: { deviceNo: string }) => deviceNo)).toEqual([device.deviceNo])
  expect(feed.list.map(({ type }: { type: string }) => type)).toContain('device.bound')
})

test('offline and frozen are provoked as the guide of tests says', () => {
  const env = { FORECOURT_OPERATOR_KEY: client.operatorKey }
  expect(codesOf(paste(codeOf('testing', 'sh'), env))).toEqual([10006, 10005])
})

test('every page is read by the cursor, in Python', async () => {
  const { appId, token } = await newApplication(client)
  const devices = Array.from({ length: 102 }, (_, n) => ({ ...deviceBody(appId, { deviceNo: `${appId}-${n}` }) }))
  await client.call('createDevices', { appId, devices }, { token })
  const env = { ...process.env, FORECOURT_URL: client.url, TOKEN: token }
  const { stdout, stderr } = spawnSync('python3', ['-c', codeOf('pages', 'py').join('\n')], { env, encoding: 'utf8' })
  expect(new Set(stdout.trim().split('\n')), stderr).toEqual(new Set(devices.map(({ deviceNo }) => deviceNo)))
})

describe('receivers of callbacks', () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`

  test.each([
    ['ts', 'receiver.ts', [process.execPath]],
    ['py', 'receiver.py', ['python3']],
    // Java is left out on a machine without its compiler.
    ...(Bun.which('javac') === null ? [] : [['java', 'Receiver.java', ['java']] as const]),
  ] as const)(
    'in %s admits what is signed, once, and nothing else',
    async (language, name, [command]) => {
      writeFileSync(join(folder, name), codeOf('events', language).join('\n'))
      const port = await freePort()
      const env = { ...process.env, CALLBACK_SECRET: secret, PORT: String(port) }
      const receiver = spawn(command, [join(folder, name)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let printed = ''
      receiver.stdout.on('data', (piece) => {
        printed += piece
      })
      receiver.stderr.on('data', (piece) => {
        printed += piece
      })
      try {
        const url = new URL(`http://127.0.0.1:${port}/`)
        const message = {
          webhookId: 'evt_29',
          type: 'device.bound',
          appId: 'a',
          time: new Date(),
          data: '{"deviceName":"东门"}',
        }
        const other = `whsec_${randomBytes(24).toString('base64')}`
        // During a rotation, a callback is signed with both secrets.
        const { headers, body } = composeRequest({ url, secrets: [other, secret] }, message)
        const post = async (changes: Record<string, string> = {}, sent = body) =>
          (await fetch(url, { method: 'POST', headers: { ...headers, ...changes }, body: sent })).status
        expect(
          await becomesTrue(
            () =>
              post().then(
                (status) => status === 204,
                () => false,
              ),
            30_000,
          ),
          printed,
        ).toBe(true)
        expect(await post()).toBe(204)
        expect(await post({}, body.replace('device.bound', 'device.unbound'))).toBe(401)
        expect(await post({ 'webhook-id': 'evt_30' })).toBe(401)
        expect(await post({ 'webhook-signature': 'v1,bm9uZQ==' })).toBe(401)
        const old = new Date(Date.now() - 600_000)
        const signature = new Webhook(secret).sign('evt_29', old, body)
        const timestamp = String(Math.floor(old.getTime() / 1000))
        expect(await post({ 'webhook-timestamp': timestamp, 'webhook-signature': signature })).toBe(401)
        expect(await post({ 'webhook-timestamp': 'now' })).toBe(401)
        expect(printed.trim().split('\n')).toEqual([expect.stringMatching(/^evt_29 .*device\.bound/)])
      } finally {
        receiver.kill()
      }
    },
    60_000,
  )
})
