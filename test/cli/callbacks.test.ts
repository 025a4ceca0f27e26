import { afterAll, beforeAll, expect, test } from 'bun:test'
import { streamEvents } from '../../src/events/contract.ts'
import { CallbackBed, serialOf } from '../faults/callback-bed.ts'
import { Client } from '../kit/client.ts'
import { answerWith, type Received, Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { freePort } from '../kit/replicated.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { command, failed, startForecourt, told } from './support.ts'

// The commands for callbacks: `listen` brings them to a developer's machine, `delivery replay` sends them again.

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
let bed: CallbackBed
beforeAll(async () => {
  bed = await CallbackBed.start()
})
afterAll(() => bed.stop())

let paths = 0
const newUrl = (...given: Parameters<Receiver['url']> extends [string, ...infer Rest] ? Rest : never) => {
  const path = `/listener-${++paths}`
  return { path, url: bed.receiver.url(path, ...given) }
}

/** Starts `listen` as an application, with these arguments, and waits until it follows the feed. */
async function startListening({ appId, appSecret }: TestApplication, args: string[], env: Record<string, string> = {}) {
  const settings = { FORECOURT_URL: bed.client.url, APP_ID: appId, APP_SECRET: appSecret, CALLBACK_SECRET: secret }
  const { child, ended } = startForecourt(['listen', ...args], { ...settings, ...env })
  let said = ''
  child.stderr?.on('data', (piece) => {
    said += piece
  })
  const says = async (words: string) => {
    expect(await becomesTrue(() => said.includes(words)), `${words} in: ${said}`).toBe(true)
  }
  if (!args.includes('--quiet')) await Promise.race([says('Ctrl-C'), ended])
  return {
    ended,
    says,
    timesSaid: (words: string) => said.split(words).length - 1,
    async end() {
      child.kill('SIGINT')
      return ended
    },
  }
}

const serials = (received: Received[]) => received.map(serialOf)
const feedOf = async ({ token }: TestApplication) =>
  (await bed.client.call('pageEvents', { pageSize: '100' }, { token })).data.list

test('listen posts the events from now on, once and in order, each as its callback is', async () => {
  const app = await bed.newEndpoint()
  await bed.createDeviceOf(app)
  await bed.receiver.waitFor(app.path, 2)
  const { path, url } = newUrl()
  const listener = await startListening(app, ['--forward', url])
  const created = await bed.createDevicesOf(app, 3)
  const received = await bed.receiver.waitFor(path, 3)
  const { code, stdout } = await listener.end()
  const newest = (await feedOf(app)).at(-1)?.id
  expect(code).toBe(0)
  expect(stdout).toEndWith(`3 events forwarded. To continue from here: --after ${newest}\n`)
  expect(stdout).not.toContain(secret)
  expect(serials(received)).toEqual(created)

  const callbacks = (await bed.receiver.waitFor(app.path, 5)).slice(2)
  for (const [index, { text, id, headers }] of received.entries()) {
    verify(received[index] as Received, secret)
    const callback = callbacks[index] as Received
    expect({ text, id }).toEqual({ text: callback.text, id: callback.id })
    expect(Object.keys(headers).sort()).toEqual(Object.keys(callback.headers).sort())
    expect(headers['user-agent']).toBe(callback.headers['user-agent'] as string)
  }
  expect(bed.receiver.at(path)).toHaveLength(3)
})

longTest(
  'listen goes on after an event, with chosen types, with an operator key; it prints the secret that it makes',
  async () => {
    const app = await newApplication(bed.client)
    const [, second = '', third = ''] = await bed.createDevicesOf(app, 3)
    const [, first] = (await feedOf(app)).filter(({ type }) => type === 'device.bound')
    const unbound = await bed.client.call('unbindDevice', { deviceNo: second }, { token: app.token })
    expect(unbound.code).toBe(0)
    const { path, url } = newUrl()
    const asked = ['--app', app.appId, '--after', String(first?.id), '--types', 'device.unbound,device.updated']
    const env = { APP_ID: '', APP_SECRET: '', CALLBACK_SECRET: '', FORECOURT_OPERATOR_KEY: bed.service.operatorKey }
    const listener = await startListening(app, ['--forward', url, ...asked, '--json'], env)
    const [received] = await bed.receiver.waitFor(path, 1)
    const { code, stdout, stderr } = await listener.end()
    const { secret: made, ...outcome } = JSON.parse(stdout)
    const lastId = (await feedOf(app)).at(-1)?.id
    expect({ code, ...outcome }).toEqual({ code: 0, appId: app.appId, forward: url, posted: 1, lastId })
    expect(received?.body).toMatchObject({ type: 'device.unbound', data: { deviceNo: second } })
    verify(received as Received, made)
    expect(stderr).toContain(`Signing secret: ${made}\n`)
    expect(third).not.toBe('')
  },
)

test('listen polls where the service has no stream, or no place for one: the same events, in the same order', async () => {
  const app = await newApplication(bed.client)
  const refusals = [
    [404, 10001],
    [429, 10007],
  ] as const
  for (const [status, code] of refusals.slice(0, atScale(1, 2))) {
    const asked: string[] = []
    const between = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        asked.push(pathname)
        if (pathname === streamEvents.path) return Response.json({ code, msg: 'refused', data: null }, { status })
        const { method, headers } = request
        headers.set('accept-encoding', 'identity')
        return fetch(bed.client.url + pathname + search, { method, headers, body: (await request.text()) || null })
      },
    })
    const { path, url } = newUrl()
    const throughIt = { FORECOURT_URL: `http://127.0.0.1:${between.port}` }
    const listener = await startListening(app, ['--forward', url], throughIt)
    for (let count = 0; count < 3; count++) {
      await bed.client.call('createDevice', deviceBody(app.appId), { token: app.token })
    }
    expect(await becomesTrue(() => bed.receiver.at(path).length === 3)).toBe(true)
    const { list } = (await bed.client.call('pageEvents', { order: 'desc', pageSize: 3 }, { token: app.token })).data
    const posted = bed.receiver.at(path).map(({ headers }) => headers['webhook-id'])
    expect(posted).toEqual(list.toReversed().map(({ id }) => `evt_${id}`))
    expect((await listener.end()).code).toBe(0)
    expect(asked.filter((one) => one === streamEvents.path).length).toBe(1)
    between.stop(true)
  }
})

test('listen waits for a local program that is down or fails, says so once, and leaves out no event', async () => {
  const app = await newApplication(bed.client)
  const port = await freePort()
  const path = '/later'
  const listener = await startListening(app, ['--forward', `http://localhost:${port}${path}`])
  const created = await bed.createDevicesOf(app, 2)
  await listener.says('was not accepted: the connection failed')
  const receiver = await Receiver.start(port)
  try {
    let failures = 0
    receiver.url(path, (received, response, socket) => {
      const isFailing = serialOf(received) === created[1] && ++failures <= 2
      answerWith(isFailing ? 500 : 204)(received, response, socket)
    })
    const received = await receiver.waitFor(path, 4)
    expect(serials(received)).toEqual([created[0], created[1], created[1], created[1]])
    expect(new Set(received.slice(1).map(({ id }) => id)).size).toBe(1)
    const { code, stdout } = await listener.end()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('2 events forwarded.') })
    expect(listener.timesSaid('the connection failed')).toBe(1)
    expect(listener.timesSaid('answered 500')).toBe(1)
  } finally {
    receiver.stop()
  }
})

longTest(
  'listen ends cleanly while the local program is down, and tells where to go on; quietly if asked to',
  async () => {
    const app = await newApplication(bed.client)
    const before = (await feedOf(app)).at(-1)?.id ?? 0
    const listener = await startListening(app, ['--forward', `http://127.0.0.1:${await freePort()}`, '--json'])
    const deviceNo = await bed.createDeviceOf(app)
    await listener.says('was not accepted')
    expect(told(await listener.end())).toMatchObject({ code: 0, posted: 0, lastId: before, secret: null })

    const { path, url } = newUrl()
    const quiet = await startListening(app, ['--forward', url, '--after', String(before), '--quiet'])
    expect(serials(await bed.receiver.waitFor(path, 1))).toEqual([deviceNo])
    const lastId = (await feedOf(app)).at(-1)?.id
    expect(await quiet.end()).toEqual({
      code: 0,
      stdout: `1 event forwarded. To continue from here: --after ${lastId}\n`,
      stderr: '',
    })
  },
)

longTest('listen waits for a callback under way when it is interrupted', async () => {
  const app = await newApplication(bed.client)
  let respond = () => {}
  const { path, url } = newUrl((_, response) => {
    respond = () => response.writeHead(204).end()
  })
  const listener = await startListening(app, ['--forward', url, '--json'])
  await bed.createDeviceOf(app)
  await bed.receiver.waitFor(path, 1)
  const ended = listener.end()
  respond()
  const outcome = told(await ended)
  expect(outcome).toMatchObject({ code: 0, posted: 1, lastId: (await feedOf(app)).at(-1)?.id })
})

longTest('listen outlives a rate limit, the end of its token and a restart of the service', async () => {
  const dataDir = bed.place.preparedFolder()
  const port = String(await freePort())
  const start = () => bed.place.startService({ dataDir, env: { FORECOURT_PORT: port } })
  const first = await start()
  const client = new Client(first)
  const own = await newApplication(client, { rateLimitPerSecond: 1, tokenLifetimeSeconds: 2 })
  const { path, url } = newUrl()
  const listener = await startListening(own, ['--forward', url], { FORECOURT_URL: first.url })
  const create = async (on: Client) => {
    const body = { appId: own.appId, devices: [1, 2].map(() => deviceBody(own.appId)) }
    const answer = await on.operate('createDevices', body)
    expect(answer.code, answer.text).toBe(0)
  }
  await create(client)
  await bed.receiver.waitFor(path, 2)
  await first.kill('SIGKILL')
  await listener.says('is unavailable')
  const second = new Client(await start())
  await create(second)
  const received = await bed.receiver.waitFor(path, 4)
  const feed = (await second.operate('pageEvents', { appId: own.appId, type: 'device.bound' })).data.list
  expect(received.map(({ id }) => id)).toEqual(feed.map(({ id }) => `evt_${id}`))
  await listener.says('The service is available again.')
  expect(listener.timesSaid('is unavailable')).toBe(1)
  expect((await listener.end()).code).toBe(0)
  expect(bed.receiver.at(path)).toHaveLength(4)
})

test('listen ends with 3 when its application is frozen, and tells where to go on', async () => {
  const app = await newApplication(bed.client)
  const { path, url } = newUrl()
  const listener = await startListening(app, ['--forward', url])
  await bed.createDeviceOf(app)
  await bed.receiver.waitFor(path, 1)
  const frozenAt = performance.now()
  await bed.client.operate('freezeApplication', { appId: app.appId, reason: 'a test' })
  const { code, stdout, stderr } = await listener.ended
  expect(performance.now() - frozenAt).toBeLessThan(8_000)
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('10005 applicationFrozen: ') })
  // The event of the freeze itself may come first.
  expect(stdout).toMatch(/(1 event|2 events) forwarded\. To continue from here: --after /)
})

test('what listen cannot do is told before it listens', async () => {
  const { appId } = await newApplication(bed.client)
  const { url: FORECOURT_URL } = bed.client
  const settings = { FORECOURT_URL, APP_ID: appId, APP_SECRET: 'wrong' }
  const run = (args: string[], env: Record<string, string> = settings) => command(['listen', ...args], env)
  const forward = ['--forward', 'http://127.0.0.1:9000']
  const uses: [string[], RegExp, Record<string, string>?][] = [
    [[], /--forward/],
    [['--forward', 'ftp://127.0.0.1/'], /must begin with http:\/\/ or https:\/\//],
    [['--forward', 'here'], /must be an absolute URL/],
    [['--forward', 'http://example.com/'], /plain text.+--allow-http/],
    [['--forward', 'http://[::ffff:8.8.8.8]/'], /plain text.+--allow-http/],
    [[...forward, '--secret', 'not base64'], /--secret must be a callback secret: whsec_/],
    [[...forward, '--app', appId, '--app-id', appId], /use either --app/],
    [forward, /specify the application/, { FORECOURT_URL, FORECOURT_OPERATOR_KEY: bed.service.operatorKey }],
    [forward, /set APP_SECRET/, { FORECOURT_URL, APP_ID: appId }],
  ]
  for (const [args, said, env] of uses) expect([args, await run(args, env)]).toEqual([args, failed(2, said)])
  const warned = await run([...forward, '--app-secret', 'wrong', '--secret', secret])
  expect({ code: warned.code, stdout: warned.stdout }).toEqual({ code: 3, stdout: '' })
  expect(warned.stderr).toContain('10030 clientInvalid: ')
  expect(warned.stderr).toContain('--app-secret in the process list')
  expect(warned.stderr).toContain('--secret in the process list')
})

test('delivery replay sends one delivery again, or those of a time range in a state', async () => {
  const app = await bed.newEndpoint()
  await bed.createDeviceOf(app)
  const [, delivered] = await bed.receiver.waitFor(app.path, 2)
  const { id } = await bed.deliveryOf(app, 2)
  const settings = { FORECOURT_URL: bed.client.url, FORECOURT_OPERATOR_KEY: bed.service.operatorKey }
  const replay = (...args: string[]) => command(['delivery', 'replay', '--app', app.appId, ...args], settings)
  const one = await replay('--id', String(id))
  expect(one).toEqual({ code: 0, stdout: '1 delivery will be replayed.\n', stderr: '' })
  const [, , again] = await bed.receiver.waitFor(app.path, 3)
  expect(again?.id).toBe(delivered?.id as string)

  const range = ['--from', '2020-01-01 00:00:00', '--to', '2099-12-31 23:59:59']
  const dead = await replay(...range, '--status', 'dead', '--json')
  expect(told(dead)).toEqual({ code: 0, replayed: 0 })
  const missed = await replay(...range, '--status', 'undelivered', '--json')
  expect(told(missed)).toEqual({ code: 0, replayed: 0 })
  // As the application itself.
  const own = { FORECOURT_URL: bed.client.url, APP_ID: app.appId, APP_SECRET: app.appSecret }
  const all = await command(['delivery', 'replay', ...range, '--status', '2', '--json'], own)
  expect(told(all)).toEqual({ code: 0, replayed: 2 })
  await bed.receiver.waitFor(app.path, 5)

  const wrong = [[], ['--from', '2020-01-01 00:00:00'], [...range, '--id', '1'], [...range, '--status', 'lost']]
  const outcomes = await Promise.all(wrong.map((args) => replay(...args)))
  expect(outcomes.map(({ code, stdout }) => ({ code, stdout }))).toEqual(wrong.map(() => ({ code: 2, stdout: '' })))
  const [unknown, faulty] = await Promise.all([replay('--id', '1'), replay('--from', 'today', '--to', 'now')])
  expect(unknown).toEqual(failed(3, /^60003 /))
  expect(faulty).toEqual(failed(3, 'timeFrom'))
})
