import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { composeRequest } from '../src/deliveries/sign.ts'
import { getDeviceState } from '../src/devices/state/contract.ts'
import { pageSites } from '../src/sites/contract.ts'
import { freePort } from './faults/replicated.ts'
import { Client, type Ended, newApplication, projectFolder, type Service, startService } from './harness.ts'

// Runs the examples as a reader would, against a service that may send callbacks to this machine.

let service: Service
let client: Client
beforeAll(async () => {
  service = await startService({ env: { FORECOURT_PRIVATE_CALLBACKS: 'allow' } })
  client = new Client(service)
}, 60_000)
afterAll(async () => {
  await service.stop()
})

const example = (file: string) => join(projectFolder, 'examples', file)
const languages = [
  {
    name: 'curl',
    command: ['bash', example('curl.sh')],
    probe: ['curl', '--version'],
    device: 'CURL',
    receives: false,
  },
  {
    name: 'TypeScript',
    command: ['bun', example('typescript.ts')],
    probe: ['bun', '--version'],
    device: 'TS',
    receives: true,
  },
  {
    name: 'Python',
    command: ['python3', example('python.py')],
    probe: ['python3', '--version'],
    device: 'PY',
    receives: true,
  },
  {
    name: 'Java',
    command: ['java', example('Example.java')],
    probe: ['java', '-version'],
    device: 'JAVA',
    receives: true,
  },
]

function run([command = '', ...args]: string[], env: Record<string, string>): Promise<Ended> {
  const child = spawn(command, args, { cwd: projectFolder, env: { ...process.env, ...env } })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (piece) => {
    output.stdout += piece
  })
  child.stderr.on('data', (piece) => {
    output.stderr += piece
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })))
}

describe.each(languages)('the example in $name', ({ command, probe, device, receives }) => {
  const [program = '', ...args] = probe
  const isThere = spawnSync(program, args).status === 0
  test.skipIf(!isThere)(
    'makes a site and a device, reports, reads the feed, and takes a callback, also twice',
    async () => {
      const { appId, appSecret, token } = await newApplication(client)
      const env = { FORECOURT_URL: service.url, APP_ID: appId, APP_SECRET: appSecret }
      const first = await run(command, { ...env, ...(receives ? { PORT: String(await freePort()) } : {}) })
      expect(first.code, first.stderr).toBe(0)
      const { list } = (await client.call(pageSites, {}, { token })).data
      const lines = first.stdout.trim().split('\n')
      expect(lines).toContain(`site ${list[0]?.id}`)
      expect(lines).toContain(`device ${device}-${appId}`)
      for (const type of ['site.created', 'device.bound', 'device.stateChanged'])
        expect(lines).toContain(`event ${type}`)
      expect(lines.includes('callback test')).toBe(receives)
      const state = await client.call(getDeviceState, { deviceNo: `${device}-${appId}` }, { token })
      expect(state.data).toMatchObject({ runStatus: 1, onlineStatus: 1 })
      if (program === 'java') return
      const again = await run(command, env)
      expect(again.code, again.stderr).toBe(0)
      expect((await client.call(pageSites, {}, { token })).data.total).toBe(1)
    },
    60_000,
  )
})

test('the example in curl knows a genuine callback from a forged one', () => {
  const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`
  const [secret, older] = [newSecret(), newSecret()]
  const callback = { url: new URL('https://example.com'), secrets: [older, secret] }
  const message = { webhookId: 'evt_29', type: 'test', appId: 'a', time: new Date(), data: '{"siteName":"Étage 1"}' }
  const { headers, body } = composeRequest(callback, message)
  const verify = (CALLBACK_SECRET: string, input: string) =>
    spawnSync(
      'bash',
      [example('curl.sh'), 'verify', 'evt_29', headers['webhook-timestamp'] ?? '', headers['webhook-signature'] ?? ''],
      { env: { ...process.env, CALLBACK_SECRET }, input, encoding: 'utf8' },
    ).stdout.trim()
  expect(verify(secret, body)).toBe('genuine')
  expect(verify(older, body)).toBe('genuine')
  expect(verify(newSecret(), body)).toBe('forged')
  expect(verify(secret, body.replace('1', '2'))).toBe('forged')
})
