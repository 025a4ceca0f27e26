import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reconnects } from '../../sdk/src/event-stream.ts'
import {
  FileAnswer,
  Forecourt,
  ForecourtError,
  ImportStatus,
  OnlineStatus,
  type SiteRegistration,
} from '../../sdk/src/index.ts'
import { operations } from '../../src/reference/operations.ts'
import { version } from '../../src/runtime/version.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { target } from '../kit/client.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'

const client = await target()
const baseUrl = client.url

async function newSdk(members?: Record<string, unknown>) {
  const app = await newApplication(client, members)
  return { ...app, forecourt: new Forecourt({ baseUrl, appId: app.appId, appSecret: app.appSecret }) }
}

/** A server whose responses a test determines, instead of the real service or before passing requests on. */
function standIn(answer: (request: Request, nth: number) => Response | undefined | Promise<Response | undefined>) {
  const requests: { path: string; headers: Headers; body: string }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const { pathname, search } = new URL(request.url)
      requests.push({ path: pathname, headers: request.headers, body })
      const own = await answer(request, requests.length)
      if (own !== undefined) return own
      const { method, headers } = request
      return fetch(baseUrl + pathname + search, { method, headers, ...(method === 'POST' && { body }) })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => server.stop(true) }
}

/** A site's body as a program would write it. */
const newSite = (appId: string) => siteBody(appId) as SiteRegistration

const success = (data: unknown) => Response.json({ code: 0, msg: 'success', data })
const refused = (status: number, headers = {}) =>
  Response.json({ code: 50003, msg: 'unavailable', data: null }, { status, headers })

async function errorOf(promise: Promise<unknown>): Promise<ForecourtError> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(ForecourtError)
  return error as ForecourtError
}

describe('the SDK', () => {
  test('has a method for each operation, by its id, and .all for each page', () => {
    const forecourt = new Forecourt({ baseUrl, token: 'any' }) as unknown as Record<string, { all?: unknown }>
    for (const { id, query } of operations) {
      expect(forecourt[id], id).toBeFunction()
      expect(typeof forecourt[id]?.all, id).toBe(query?.properties.cursor === undefined ? 'undefined' : 'function')
    }
  })

  test('creates with an application’s secret, and answers the data', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    const created = await forecourt.createDevice(device)
    expect(created).toMatchObject({ deviceNo: device.deviceNo, status: 1 })
    expect(await forecourt.getDevice({ deviceNo: device.deviceNo })).toEqual(created)
    const site = await forecourt.saveSite(newSite(appId))
    expect((await forecourt.getSite({ id: site.id })).siteName).toBe(site.siteName)
  })

  test('throws a refusal with its code, name, message, status, faulty members and request id', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    await forecourt.createDevice(device)
    const error = await errorOf(forecourt.createDevice(device))
    const { code, status, en } = refusals.deviceAlreadyYours
    const named = { message: `createDevice: ${en}`, reason: en, operation: 'createDevice' }
    expect(error).toMatchObject({ name: 'deviceAlreadyYours', code, status, errors: [], ...named })
    expect(error.requestId).toMatch(/^[\w-]{36}$/)
    const faulty = await errorOf(forecourt.createDevice({ ...device, deviceName: '', coordinates: '1' }))
    expect(faulty.name).toBe('invalidRequest')
    expect(faulty.errors.map(({ field }) => field).sort()).toEqual(['coordinates', 'deviceName'])
    for (const { field, reason } of faulty.errors) expect(String(faulty)).toContain(`${field}: ${reason}`)
    const chinese = new Forecourt({ baseUrl, operatorKey: client.operatorKey, language: 'zh' })
    expect((await errorOf(chinese.createDevice(device))).reason).toBe(refusals.deviceAlreadyYours.zh)
  })

  test('walks every row of a page operation, by cursor', async () => {
    const { appId, forecourt } = await newSdk()
    const prefix = newSerial('ALL')
    const devices = Array.from({ length: 25 }, (_, n) => deviceBody(appId, { deviceNo: `${prefix}-${n}` }))
    await forecourt.createDevices({ appId, devices })
    const found: string[] = []
    for await (const { deviceNo } of forecourt.pageDevices.all({ pageSize: 10 })) found.push(deviceNo)
    expect(found.sort()).toEqual(devices.map(({ deviceNo }) => deviceNo).sort())
    const types: string[] = []
    for await (const { type } of forecourt.pageEvents.all({ type: 'device.bound', pageSize: 20 })) types.push(type)
    expect(types).toEqual(devices.map(() => 'device.bound'))
    for await (const { deviceNo } of forecourt.pageDevices.all({ deviceNo: `${prefix}-7` })) {
      expect(deviceNo).toBe(`${prefix}-7`)
    }
  })

  test('has events that narrow by their type, and outcomes of batches that narrow by their code', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    const { results } = await forecourt.createDevices({ appId, devices: [device, { ...device, coordinates: 'x' }] })
    const [done, refusedRow] = results
    // The types are tested too: without narrowing by `code`, this would not compile.
    expect(done?.code === 0 ? done.data.deviceNo : undefined).toBe(device.deviceNo)
    expect(refusedRow?.code === 0 ? [] : refusedRow?.data?.errors.map(({ field }) => field)).toEqual(['coordinates'])
    const changed = await forecourt.updateDevices({
      appId,
      devices: [
        { deviceNo: device.deviceNo, deviceName: 'West gate' },
        { deviceNo: 'none', deviceName: 'x' },
      ],
    })
    const names = changed.results.map((row) => (row.code === 0 ? row.data.deviceName : row.code))
    expect(names).toEqual(['West gate', refusals.deviceNotFound.code])
    const serials: string[] = []
    for await (const event of forecourt.pageEvents.all()) {
      if (event.type === 'device.bound') serials.push(event.data.deviceNo)
      if (event.type === 'site.created') serials.push(event.data.siteName)
    }
    expect(serials).toEqual([device.deviceNo])
  })

  test('sends files and reads them, whole, as a stream and row by row', async () => {
    const { forecourt } = await newSdk()
    const columns = 'deviceNo,deviceName,districtCode,coordinates'
    const serials = [newSerial('SDK'), newSerial('SDK')]
    const text = [columns, ...serials.map((serial) => `${serial},门,360102,"1,2"`), 'x'].join('\n')
    const stream = new Blob([text]).stream() as ReadableStream<Uint8Array>
    for (const [file, told] of [
      [text, { created: 2, existing: 0, refused: 1 }],
      [stream, { created: 0, existing: 2, refused: 1 }],
      [new Blob([text], { type: 'text/csv; charset=utf-8' }), { created: 0, existing: 2, refused: 1 }],
    ] as const) {
      const { id, ...done } = await forecourt.importFile({ kind: 'devices', file })
      expect(done).toMatchObject({ status: ImportStatus.done, ...told })
      const lines: unknown[] = []
      for await (const { line, code } of (await forecourt.getImportResult({ id, outcome: 'refused' })).rows()) {
        lines.push([line, code])
      }
      expect(lines).toEqual([[4, 10001]])
    }
    const exported = await forecourt.createExport({ kind: 'devices', format: 'ndjson' })
    expect(exported).toMatchObject({
      mediaType: 'application/x-ndjson',
      name: expect.stringMatching(/^devices-.*\.ndjson$/),
    })
    const found: unknown[] = []
    for await (const { deviceNo } of exported.rows()) found.push(deviceNo)
    expect(found.sort()).toEqual(serials.toSorted())
    expect((await (await forecourt.getTemplate({ kind: 'inventory' })).text()).trim()).toBe('deviceNo,modelName')
    const error = await errorOf(forecourt.createImport({ kind: 'devices', file: 'serial\n' }))
    expect(error.errors.map(({ field }) => field)).toContain('serial')
  })

  test('sends a string as what it is, UTF-8, and files as they are', async () => {
    const place = standIn(() => undefined)
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    const typeOf = async (input: Omit<Parameters<Forecourt['createImport']>[0], 'kind'>) => {
      await errorOf(forecourt.createImport({ kind: 'devices', ...input } as never))
      return place.requests.at(-1)?.headers.get('content-type')
    }
    expect(await typeOf({ file: '涓枃' })).toBe('text/csv; charset=utf-8')
    expect(await typeOf({ file: '{}', format: 'ndjson' } as never)).toBe('application/x-ndjson')
    expect(await typeOf({ file: new Blob(['a']) })).toBe('text/csv')
    expect(await typeOf({ file: new Uint8Array([65]) })).toBe('text/csv')
    expect(await typeOf({ file: 'a', charset: 'gb18030' } as never)).toBe('text/csv; charset=gb18030')
    await place.stop()
  })

  test.concurrent('fetches one token for all calls, and another when it ends before its time', async () => {
    const { appId, appSecret } = await newApplication(client)
    const place = standIn(() => undefined)
    const forecourt = new Forecourt({ baseUrl: `${place.url}/`, appId, appSecret })
    await Promise.all(Array.from({ length: 5 }, () => forecourt.pageSites()))
    const issued = () => place.requests.filter(({ path }) => path.endsWith('/token')).length
    expect(issued()).toBe(1)
    const token = place.requests.at(-1)?.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    await forecourt.revokeToken({ token, client_id: appId, client_secret: appSecret })
    await Bun.sleep(1100)
    await Promise.all(Array.from({ length: 5 }, () => forecourt.pageSites()))
    expect(issued()).toBe(2)
    await client.operate('rotateApplicationSecret', { appId })
    await Bun.sleep(1100)
    expect((await errorOf(forecourt.pageSites())).name).toBe('clientInvalid')
    await place.stop()
  })

  test.concurrent('fetches a token anew before it ends', async () => {
    const { appId, appSecret } = await newApplication(client)
    let lifetime = 0.5
    const place = standIn(async (request) => {
      if (!request.url.endsWith('/token')) return undefined
      const data = { accessToken: `short-${lifetime}`, tokenType: 'Bearer', expiresIn: lifetime }
      lifetime = 100
      return Response.json({ code: 0, msg: 'success', data })
    })
    const forecourt = new Forecourt({ baseUrl: place.url, appId, appSecret })
    await errorOf(forecourt.getSite({ id: 1 }))
    await Bun.sleep(500)
    await errorOf(forecourt.getSite({ id: 1 }))
    expect(place.requests.at(-1)?.headers.get('authorization')).toBe('Bearer short-100')
    await place.stop()
  })

  test('sends a write that was not answered again, under one key, with one effect', async () => {
    const { appId, token } = await newApplication(client)
    const place = standIn(async (request, nth) => {
      if (nth === 1) return refused(503, { 'retry-after': '0' })
      if (nth > 2) return undefined
      // The request is carried out, but its response is lost.
      const { body, headers } = place.requests.at(-1) ?? { body: '', headers: new Headers() }
      await fetch(baseUrl + new URL(request.url).pathname, { method: 'POST', headers, body })
      return new Response('<html>', { status: 408 })
    })
    const forecourt = new Forecourt({ baseUrl: place.url, token })
    const device = deviceBody(appId)
    expect((await forecourt.createDevice(device)).deviceNo).toBe(device.deviceNo)
    const keys = place.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    await forecourt.createDevice(deviceBody(appId), { idempotencyKey: 'mine' })
    expect(place.requests.at(-1)?.headers.get('idempotency-key')).toBe('mine')
    await forecourt.updateDevice({ deviceNo: device.deviceNo, deviceName: 'renamed' })
    expect(place.requests.at(-1)?.headers.get('idempotency-key')).toBeNull()
    await place.stop()
  })

  test.concurrent('tries five times, waits as long as it is asked to, and gives up with what it was told', async () => {
    const place = standIn(() => refused(429, { 'retry-after': '0' }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    expect((await errorOf(forecourt.pageSites())).status).toBe(429)
    expect(place.requests).toHaveLength(5)
    await place.stop()
    // A proxy may write Retry-After as a date, in whole seconds: of two seconds, at least one is left.
    const waits = [() => '1', () => new Date(Date.now() + 2000).toUTCString()].map(async (retryAfter) => {
      const slow = standIn((_, nth) =>
        nth === 1 ? refused(503, { 'retry-after': retryAfter() }) : success({ list: [] }),
      )
      const began = performance.now()
      await new Forecourt({ baseUrl: slow.url, token: 'any' }).pageSites()
      expect(performance.now() - began).toBeGreaterThanOrEqual(1000)
      await slow.stop()
    })
    await Promise.all(waits)
  })

  test('tries five times in all to get a token, and does not wait for one after it is aborted', async () => {
    const place = standIn(() => refused(503, { 'retry-after': '0' }))
    const forecourt = new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'any' })
    expect((await errorOf(forecourt.pageSites())).status).toBe(503)
    expect(place.requests).toHaveLength(5)
    await place.stop()
    const silent = standIn(() => new Promise(() => {}))
    const abort = new AbortController()
    const options = { baseUrl: silent.url, appId: 'any', appSecret: 'any' }
    const call = new Forecourt(options).pageSites({}, { signal: abort.signal }).catch((error: Error) => error.message)
    while (silent.requests.length === 0) await Bun.sleep(10)
    abort.abort(new Error('enough'))
    expect(await call).toBe('enough')
    await silent.stop()
  })

  test('tells a service that is not there from a refusal', async () => {
    const place = standIn(() => undefined)
    await place.stop()
    const error = await errorOf(new Forecourt({ baseUrl: place.url, token: 'any', retries: 0 }).pageSites())
    expect(error).toMatchObject({ name: 'noAnswer', code: 0, status: 0, requestId: null })
    expect(error.message).toMatch(/^pageSites: no answer: /)
    expect(error.cause).toBeInstanceOf(Error)
    const other = standIn(() => new Response('<html>', { status: 404 }))
    const strange = await errorOf(new Forecourt({ baseUrl: other.url, token: 'any' }).pageSites())
    expect(strange).toMatchObject({ name: 'notForecourt', code: 0, status: 404 })
    expect(other.requests).toHaveLength(1)
    await other.stop()
  })

  const ours = { 'x-request-id': 'gateway-1', 'content-type': 'application/json' }
  test.each([
    ['a page of a gateway', '<html>', { ...ours, 'content-type': 'text/html' }],
    ['nothing', '', ours],
    ['JSON of another program', '{"status":"ok"}', ours],
    ['a text', '"ok"', ours],
    ['a list', '[]', ours],
    ['a code alone', '{"code":0}', ours],
    ['a code as text', '{"code":"0","msg":"success","data":{}}', ours],
    ['no data', '{"code":0,"msg":"success","data":null}', ours],
    ['another envelope', '{"code":0,"msg":"ok","data":{}}', ours],
    ['a code of another meaning', '{"code":200,"msg":"success","data":{}}', ours],
    ['a file of another program', 'a,b', { 'content-type': 'text/csv' }],
  ])('takes somebody else’s 200 for no success: %s', async (_, body, headers) => {
    const place = standIn(() => new Response(body, { headers }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    const calls = [
      forecourt.createDevice(deviceBody('any')),
      forecourt.unbindDevice({ deviceNo: 'A' }),
      forecourt.pageSites.all().next(),
      forecourt.createExport({ kind: 'sites' }),
      forecourt.createImport({ kind: 'sites', file: 'a' }),
      new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'any' }).pageSites(),
    ]
    for (const error of await Promise.all(calls.map(errorOf)))
      expect(error).toMatchObject({ name: 'notForecourt', code: 0, status: 200 })
    expect(place.requests).toHaveLength(calls.length)
    await place.stop()
  })

  test('reads what has no envelope, by its media type', async () => {
    const forecourt = new Forecourt({ baseUrl, operatorKey: client.operatorKey })
    expect(await forecourt.getMetrics()).toContain('forecourt_')
    expect(await forecourt.getOpenApi()).toMatchObject({ openapi: expect.any(String) })
    expect((await forecourt.getHealth()).alive).toBe(true)
  })

  test.each([500, 502, 504])('retries %i as often as it is told to', async (status) => {
    const place = standIn(() => new Response('<html>', { status, headers: { 'retry-after': '0' } }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any', retries: 1 })
    expect((await errorOf(forecourt.createDevice(deviceBody('any')))).status).toBe(status)
    expect(place.requests).toHaveLength(2)
    expect((await errorOf(forecourt.pageSites({}, { retries: 0 }))).status).toBe(status)
    expect(place.requests).toHaveLength(3)
    await place.stop()
  })

  test.each(['61', '86400', '9999999999', new Date(Date.now() + 3_600_000).toUTCString()])(
    'throws at once when it is told to wait for longer than a minute: %s',
    async (retryAfter) => {
      const place = standIn(() => refused(503, { 'retry-after': retryAfter }))
      const error = await errorOf(new Forecourt({ baseUrl: place.url, token: 'any' }).pageSites())
      expect(error.retryAfterSeconds).toBeGreaterThan(60)
      expect(place.requests).toHaveLength(1)
      await place.stop()
    },
  )

  test('takes a timeout and a fetch, of the client and of a call, and names its version', async () => {
    const silent = standIn(() => new Promise(() => {}))
    const forecourt = new Forecourt({ baseUrl: silent.url, token: 'any', retries: 0, timeoutMs: 100 })
    expect(await errorOf(forecourt.pageSites())).toMatchObject({ name: 'noAnswer', reason: 'no answer within 0.1 s' })
    expect(silent.requests[0]?.headers.get('user-agent')).toBe(`forecourt-sdk/${version}`)
    expect((await errorOf(forecourt.pageSites({}, { timeoutMs: 50 }))).reason).toBe('no answer within 0.05 s')
    const sent: string[] = []
    const fetch = async (url: string) => {
      sent.push(url)
      return success({ list: [] })
    }
    // A longer time than timers have is no time at all.
    await forecourt.pageSites({}, { fetch, timeoutMs: 1e12 })
    await new Forecourt({ baseUrl: silent.url, token: 'any', fetch }).pageSites()
    expect(sent).toEqual(Array(2).fill(`${silent.url}/api/charging/v1/siteManageThird/page`))
    await silent.stop()
  })

  test('answers what the headers say too, and names values', async () => {
    const { appId, forecourt } = await newSdk({ rateLimitPerSecond: 50 })
    const device = deviceBody(appId)
    const options = { idempotencyKey: 'once' }
    const first = await forecourt.createDevice.raw(device, options)
    const rateLimit = { limit: 50, remaining: expect.any(Number), resetSeconds: expect.any(Number) }
    expect(first).toMatchObject({ etag: expect.stringMatching(/^"/), replayed: false, rateLimit })
    expect(first.requestId).toMatch(/^[\w-]{36}$/)
    expect(first.data.onlineStatus).toBe(OnlineStatus.offline)
    expect(await forecourt.createDevice.raw(device, options)).toMatchObject({ data: first.data, replayed: true })
    const operators = new Forecourt({ baseUrl, operatorKey: client.operatorKey })
    expect((await operators.getDevice.raw({ deviceNo: device.deviceNo })).rateLimit).toBeNull()
  })

  test('refuses at once what cannot work: no caller, no address, plain http to another machine', () => {
    const token = 'any'
    const construct = (options: object) => () => new Forecourt(options as never)
    expect(construct({})).toThrow(/needs .*baseUrl.*appSecret.*operatorKey.*token/)
    expect(construct({ baseUrl, appId: 'a' })).toThrow(/needs/)
    for (const wrong of [undefined, 'localhost:8080', 'http://', 'ftp://example.com']) {
      expect(construct({ baseUrl: wrong, token })).toThrow(/baseUrl must be an address/)
    }
    for (const more of ['https://user:secret@example.com', 'https://example.com?x=1', 'https://example.com/#x']) {
      expect(construct({ baseUrl: more, token })).toThrow(/^baseUrl must not hold .+https:\/\/example\.com is/)
    }
    for (const open of ['http://forecourt.example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1:8080']) {
      expect(construct({ baseUrl: open, token })).toThrow(/plain text/)
      expect(construct({ baseUrl: open, token, allowHttp: true })).not.toThrow()
    }
    for (const own of ['http://localhost:8080', 'http://[::1]:8080', 'http://127.0.0.2/', 'https://example.com']) {
      expect(construct({ baseUrl: own, token })).not.toThrow()
    }
  })

  test.each(atScale([302, 307], [301, 302, 303, 307, 308]))(
    'follows no redirect, %i, which would take its secrets along',
    async (status) => {
      const other = standIn(() => Response.json({ code: 0 }))
      const place = standIn(() => new Response(null, { status, headers: { location: other.url } }))
      const forecourt = new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'a secret', retries: 0 })
      const error = await errorOf(forecourt.pageSites())
      expect(error).toMatchObject({ name: 'notForecourt', code: 0, status, operation: 'issueToken' })
      expect(error.message).toContain(other.url)
      const byToken = new Forecourt({ baseUrl: place.url, token: 'any', retries: 0 })
      await errorOf(byToken.createImport({ kind: 'sites', file: 'a' }))
      expect(other.requests).toEqual([])
      await Promise.all([other.stop(), place.stop()])
    },
  )

  test('reads the last row of a file also without a line feed behind it', async () => {
    for (const [text, rows] of [
      ['{"a":1}\n{"a":2}', [{ a: 1 }, { a: 2 }]],
      ['{"a":1}\n', [{ a: 1 }]],
      ['', []],
    ] as const) {
      const found: unknown[] = []
      for await (const row of new FileAnswer(new Response(text)).rows()) found.push(row)
      expect(found).toEqual([...rows])
    }
  })

  test('ends at once when it is aborted, between two tries too', async () => {
    const place = standIn(() => refused(503, { 'retry-after': '60' }))
    const abort = new AbortController()
    const call = new Forecourt({ baseUrl: place.url, token: 'any' }).pageSites({}, { signal: abort.signal })
    while (place.requests.length === 0) await Bun.sleep(10)
    abort.abort(new Error('enough'))
    expect(call).rejects.toThrow('enough')
    await call.catch(() => {})
    expect(place.requests).toHaveLength(1)
    await place.stop()
  })

  test('refuses an update of what has changed since, by If-Match', async () => {
    const { appId, forecourt } = await newSdk()
    const { data, etag } = await forecourt.saveSite.raw(newSite(appId))
    const { id } = data
    const ifMatch = String(etag)
    expect(ifMatch).toMatch(/^"/)
    await forecourt.updateSite({ id, contacts: 'Li Lei' }, { ifMatch })
    expect((await errorOf(forecourt.updateSite({ id, contacts: 'Han Mei' }, { ifMatch }))).name).toBe(
      'preconditionFailed',
    )
  })

  describe('from its bundle', () => {
    const folder = mkdtempSync(join(tmpdir(), 'forecourt-sdk-'))
    const file = join(folder, 'sdk.mjs')
    beforeAll(async () => {
      // The SDK runs in browsers, so it must not import anything of Node or Bun.
      const entrypoints = [join(projectFolder, 'sdk', 'src', 'index.ts')]
      const built = await Bun.build({ entrypoints, target: 'browser', packages: 'external' })
      const text = await (built.outputs[0] as Blob).text()
      expect(text).not.toMatch(/^import /m)
      await Bun.write(file, text)
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    test.each(['node', process.execPath])('works on %s', async (runtime) => {
      const { appId, appSecret } = await newApplication(client)
      const program = `
        import { Forecourt } from ${JSON.stringify(file)}
        const forecourt = new Forecourt(${JSON.stringify({ baseUrl, appId, appSecret })})
        await forecourt.createDevice(${JSON.stringify(deviceBody(appId))})
        const types = []
        for await (const { type } of forecourt.pageEvents.all()) types.push(type)
        const again = await forecourt.getDevice({ deviceNo: 'none' }).catch(({ name, code }) => ({ name, code }))
        const closed = new Forecourt({ baseUrl: 'http://127.0.0.1:3', token: 'any', retries: 0 })
        const { message } = await closed.pageSites().catch((error) => error)
        console.log(JSON.stringify({ types, again, message }))`
      const path = join(folder, `program-${newSerial()}.mjs`)
      await Bun.write(path, program)
      const { stdout, stderr } = spawnSync(runtime, [path], { encoding: 'utf8' })
      expect(stderr).toBe('')
      const { code } = refusals.deviceNotFound
      const types = expect.arrayContaining(['thirdPartyConfig.saved', 'device.bound'])
      const message = expect.stringMatching(/^pageSites: no answer: .*(ECONNREFUSED|bad port|ConnectionRefused)/)
      expect(JSON.parse(stdout)).toEqual({ types, again: { name: 'deviceNotFound', code }, message })
    })
  })
})

describe('pageEvents.stream', () => {
  type Followed = { id: number; type: string }

  /** Follows events until it is stopped, and keeps them. */
  function follow(forecourt: Forecourt, query: object = {}) {
    const events: Followed[] = []
    const abort = new AbortController()
    const ended = (async () => {
      for await (const event of forecourt.pageEvents.stream(query, { signal: abort.signal })) events.push(event)
    })()
    ended.catch(() => {})
    return { events, abort, ended }
  }

  test.concurrent('yields what the feed lists, and throws the reason when it is aborted', async () => {
    const { appId, forecourt } = await newSdk()
    await forecourt.saveSite({ ...newSite(appId), siteName: 'a\u2028b' })
    const { events, abort, ended } = follow(forecourt, { afterId: 0, type: 'site.*' })
    expect(await becomesTrue(() => events.length === 1)).toBe(true)
    await forecourt.saveSite(newSite(appId))
    expect(await becomesTrue(() => events.length === 2)).toBe(true)
    const { list } = await forecourt.pageEvents({ type: 'site.*' })
    expect(events as unknown).toEqual(list)
    abort.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
  })

  test.concurrent('begins with the events from now on, and leaves its place when the loop is left', async () => {
    const { appId, forecourt } = await newSdk()
    // More often than an application has places.
    for (let times = 0; times < 21; times++) {
      let isOver = false
      const saving = (async () => {
        // Again, where the stream begins later than the first site.
        while (!isOver) {
          await Bun.sleep(20)
          if (!isOver) await forecourt.saveSite(newSite(appId))
        }
      })()
      for await (const event of forecourt.pageEvents.stream()) {
        expect(event.type).toBe('site.created')
        break
      }
      isOver = true
      await saving
    }
  })

  test.concurrent('goes on from the last id when its token is revoked, with a new one', async () => {
    const { appId, appSecret, forecourt } = await newSdk()
    const tokens: string[] = []
    const watched = new Forecourt({
      baseUrl,
      appId,
      appSecret,
      fetch: (url, init) => {
        const sent = new Headers(init.headers).get('authorization')
        if (sent !== null && url.includes('/event/stream')) tokens.push(sent.replace('Bearer ', ''))
        return fetch(url, init)
      },
    })
    const { events, abort } = follow(watched, { afterId: 0 })
    expect(await becomesTrue(() => events.length === 1)).toBe(true)
    const revoked = { token: tokens[0] ?? '', client_id: appId, client_secret: appSecret }
    await client.call('revokeToken', revoked)
    await Bun.sleep(1_200)
    await forecourt.saveSite(newSite(appId))
    expect(await becomesTrue(() => events.length === 2, 5_000)).toBe(true)
    abort.abort()
    expect(new Set(tokens).size).toBe(2)
    expect(events.map(({ id }) => id)).toEqual((await forecourt.pageEvents({})).list.map(({ id }) => id))
  })

  test.concurrent('outlives its token again and again', async () => {
    const { appId, appSecret } = await newApplication(client, { tokenLifetimeSeconds: 1 })
    const { events, abort } = follow(new Forecourt({ baseUrl, appId, appSecret }), { type: 'site.*', afterId: 0 })
    for (let count = 1; count <= 6; count++) {
      await client.operate('saveSite', siteBody(appId))
      await Bun.sleep(600)
    }
    expect(await becomesTrue(() => events.length === 6, 5_000)).toBe(true)
    abort.abort()
  })

  test.concurrent('connects again after a broken connection and a refusal that passes, and misses nothing', async () => {
    const { appId, appSecret, forecourt } = await newSdk()
    let streams = 0
    const server = standIn(async (request) => {
      if (!request.url.includes('/event/stream')) return undefined
      streams++
      if (streams === 2) return refused(503, { 'retry-after': '0', 'x-request-id': 'x' })
      const { pathname, search } = new URL(request.url)
      const { body, headers } = await fetch(baseUrl + pathname + search, { headers: request.headers })
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      // Its first connection breaks after a while; a short time to come again keeps the test short.
      const pieces = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value } = await reader.read()
          if (value === undefined) return controller.close()
          controller.enqueue(
            Buffer.from(
              Buffer.from(value)
                .toString()
                .replace(/retry: \d+/, 'retry: 50'),
            ),
          )
        },
      })
      if (streams === 1) setTimeout(() => void reader.cancel(), 500)
      return new Response(pieces, { headers })
    })
    const { events, abort } = follow(new Forecourt({ baseUrl: server.url, appId, appSecret }), { afterId: 0 })
    for (let count = 0; count < 20; count++) {
      await forecourt.saveSite(newSite(appId))
      await Bun.sleep(50)
    }
    const { list } = await forecourt.pageEvents({ pageSize: 100 })
    expect(await becomesTrue(() => events.length >= list.length, 10_000)).toBe(true)
    abort.abort()
    server.stop()
    expect(events.map(({ id }) => id)).toEqual(list.map(({ id }) => id))
    expect(streams).toBeGreaterThanOrEqual(3)
  })

  test('connects again after `retry`, then ever later, up to 30 s, never all at the same time', () => {
    const pauses = () => {
      const reconnects = new Reconnects()
      reconnects.heed('2000')
      return Array.from({ length: 8 }, () => reconnects.next())
    }
    const all = Array.from({ length: 20 }, pauses)
    for (const [first = 0, ...others] of all) {
      expect(first).toBeWithin(2_000, 2_501)
      for (const [index, pauseMs] of others.entries()) {
        const most = Math.min(30_000, 2_000 * 2 ** (index + 1))
        expect(pauseMs).toBeWithin(most * 0.75, most + 1)
      }
    }
    expect(new Set(all.map(([, second]) => second)).size).toBe(20)
  })

  test.concurrent('throws what no retry can change', async () => {
    const { appId, forecourt } = await newSdk()
    const { ended } = follow(forecourt)
    await Bun.sleep(300)
    await client.operate('freezeApplication', { appId, reason: 'test' })
    expect((await errorOf(ended)).name).toBe('applicationFrozen')
    expect((await errorOf(follow(forecourt).ended)).code).toBe(10005)
    const wrong = follow((await newSdk()).forecourt, { deviceNo: 'a b' })
    expect((await errorOf(wrong.ended)).errors.map(({ field }) => field)).toEqual(['deviceNo'])
  })
})
