import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeRequest } from '../src/deliveries/sign.ts'
import { Client } from './kit/client.ts'
import { projectFolder } from './kit/folders.ts'
import { newApplication, newSerial, siteBody } from './kit/records.ts'
import { freePort } from './kit/replicated.ts'
import { atScale, isLong } from './kit/scale.ts'
import { type Ended, type Service, startService } from './kit/service.ts'
import { becomesTrue } from './kit/waits.ts'

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
  { name: 'curl', command: ['bash', example('curl.sh')], probe: ['curl', '--version'], device: 'CURL' },
  { name: 'TypeScript', command: ['bun', example('typescript.ts')], probe: ['bun', '--version'], device: 'TS' },
  { name: 'Python', command: ['python3', example('python.py')], probe: ['python3', '--version'], device: 'PY' },
  { name: 'Java', command: ['java', example('Example.java')], probe: ['java', '-version'], device: 'JAVA' },
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

describe.each(languages)('the example in $name', ({ command, probe, device }) => {
  const [program = '', ...args] = probe
  const receives = program !== 'curl'
  // Java compiles for longer than the others run.
  const isThere = (isLong || program !== 'java') && spawnSync(program, args).status === 0
  test.skipIf(!isThere)(
    'makes a site and a device, reports, reads the feed, and takes a callback, also twice',
    async () => {
      const { appId, appSecret, token } = await newApplication(client)
      const env = { FORECOURT_URL: service.url, APP_ID: appId, APP_SECRET: appSecret }
      const first = await run(command, { ...env, ...(receives ? { PORT: String(await freePort()) } : {}) })
      expect(first.code, first.stderr).toBe(0)
      const { list } = (await client.call('pageSites', {}, { token })).data
      const lines = first.stdout.trim().split('\n')
      expect(lines).toContain(`site ${list[0]?.id}`)
      expect(lines).toContain(`device ${device}-${appId}`)
      for (const type of ['site.created', 'device.bound', 'device.stateChanged'])
        expect(lines).toContain(`event ${type}`)
      expect(lines.includes('callback test')).toBe(receives)
      const state = await client.call('getDeviceState', { deviceNo: `${device}-${appId}` }, { token })
      expect(state.data).toMatchObject({ runStatus: 1, onlineStatus: 1 })
      if (program === 'java') return
      const again = await run(command, env)
      expect(again.code, again.stderr).toBe(0)
      expect((await client.call('pageSites', {}, { token })).data.total).toBe(1)
    },
  )
})

describe.each([
  { name: 'TypeScript', file: 'events.ts', command: [process.execPath], language: 'typescript' },
  { name: 'Python', file: 'events.py', command: ['python3'], language: 'python' },
])('the example in $name that follows events', ({ file, command, language }) => {
  const folder = mkdtempSync(join(tmpdir(), 'events-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is the program of both guides', () => {
    const program = readFileSync(example(file), 'utf8')
    for (const guide of ['en', 'zh']) {
      const text = readFileSync(join(projectFolder, 'docs', 'guides', guide, 'events.md'), 'utf8')
      expect(text).toContain(`\`\`\`${language}\n${program}\`\`\``)
    }
  })

  test.skipIf(spawnSync(command[0] ?? '', ['--version']).status !== 0)(
    'continues where it was after a kill',
    async () => {
      const { appId, appSecret, token } = await newApplication(client)
      const env = {
        FORECOURT_URL: service.url,
        APP_ID: appId,
        APP_SECRET: appSecret,
        POSITION: join(folder, 'position'),
      }
      const printed: string[] = []
      const follow = () => {
        const child = spawn(command[0] ?? '', [example(file)], { cwd: projectFolder, env: { ...process.env, ...env } })
        let text = ''
        child.stdout.on('data', (piece) => {
          text += piece
          const lines = text.split('\n')
          text = lines.pop() ?? ''
          printed.push(...lines)
        })
        return child
      }
      const change = () => client.call('saveSite', siteBody(appId), { token })
      for (let run = 1; run <= atScale(1, 3); run++) {
        const child = follow()
        for (let count = 0; count < 3; count++) await change()
        expect(await becomesTrue(() => printed.length >= 1 + run * 5 - 2, 20_000)).toBe(true)
        expect(await becomesTrue(() => readPosition() === printed.at(-1)?.split(' ')[0], 5_000)).toBe(true)
        child.kill('SIGKILL')
        // What is written while nobody follows comes as well.
        for (let count = 0; count < 2; count++) await change()
      }
      const child = follow()
      const { list } = (await client.call('pageEvents', { pageSize: 100 }, { token })).data
      expect(await becomesTrue(() => printed.length >= list.length, 20_000)).toBe(true)
      child.kill('SIGKILL')
      expect(printed).toEqual(list.map(({ id, type }) => `${id} ${type}`))
    },
    60_000,
  )

  const readPosition = () => {
    try {
      return readFileSync(join(folder, 'position'), 'utf8')
    } catch {
      return undefined
    }
  }
})

describe('the example that keeps a copy in sync', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sync-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const [nightly, copy, receipts] = ['nightly.csv', 'copy.json', 'receipts.txt'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const rowOf = (deviceNo: string, name: string, tag: string) =>
    `${deviceNo},${name},${tag},360102,"115.899918,28.676493"`
  const write = (...rows: string[]) =>
    writeFileSync(nightly, ['deviceNo,deviceName,tag,districtCode,coordinates', ...rows].join('\n'))

  test('pushes what has changed, pulls what has changed, and names the callbacks that did not come', async () => {
    const { appId, appSecret, token } = await newApplication(client)
    const sync = (...args: string[]) => {
      const env = { FORECOURT_URL: service.url, APP_ID: appId, APP_SECRET: appSecret, GRACE_SECONDS: '0' }
      return run([process.execPath, example('sync.ts'), ...args], env)
    }
    const copied = () => JSON.parse(readFileSync(copy, 'utf8')).devices
    const there = async () => {
      const { list } = (await client.call('pageDevices', {}, { token })).data
      return Object.fromEntries(list.map((device) => [device.deviceNo, device]))
    }
    const [one, two, three] = [newSerial(), newSerial(), newSerial()]
    write(rowOf(one, 'East', 'a'), rowOf(two, 'West', 'b'))
    expect(await sync('push', nightly)).toMatchObject({
      code: 0,
      stdout: 'created 2, updated 0, existing 0, refused 0\n',
    })
    expect(await sync('pull', copy)).toMatchObject({ code: 0, stdout: '0 events, 2 devices\n' })
    expect(copied()).toEqual(await there())

    write(rowOf(one, 'East', ''), rowOf(two, 'West', 'b'), rowOf(three, 'North', ''), rowOf('', 'No serial', ''))
    const pushed = await sync('push', nightly)
    expect(pushed).toMatchObject({ code: 4, stderr: '' })
    expect(pushed.stdout).toMatch(/^created 1, updated 1, existing 1, refused 1\nline 5: 10001 /)
    await client.call('reportDeviceState', { deviceNo: two, runStatus: 1, batteryEnergy: '87%' }, { token })
    await client.call('unbindDevice', { deviceNo: three }, { token })
    const { list } = (await client.call('pageEvents', { type: 'device.*', order: 'desc' }, { token })).data
    const [last, ...before] = list.slice(0, 4).map(({ id }) => `evt_${id}`)
    // The receiver was away for the newest event.
    writeFileSync(receipts, before.join('\n'))
    const pulled = await sync('pull', copy, receipts)
    expect(pulled).toMatchObject({ code: 0, stdout: `missed ${last}\n4 events, 2 devices\n` })
    expect(list[0]?.type).toBe('device.unbound')
    expect(copied()).toEqual(await there())
    expect(await sync('pull', copy, receipts)).toMatchObject({ code: 0, stdout: '0 events, 2 devices\n' })
  })

  test('is what the guide shows', () => {
    const source = readFileSync(example('sync.ts'), 'utf8')
    const guide = readFileSync(join(projectFolder, 'docs', 'guides', 'en', 'sync.md'), 'utf8')
    const shown = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
    expect(shown.length).toBeGreaterThan(0)
    for (const code of shown) expect(source).toContain(code)
  })
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
