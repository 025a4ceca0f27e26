import { describe, expect, setSystemTime, test } from 'bun:test'
import { Forecourt } from '../../sdk/src/index.ts'
import { version } from '../../src/runtime/version.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { baseUrl, client, errorOf, refused, standIn, success } from './support.ts'

// What the SDK makes of what it is answered, and of no answer: tokens, retries, and what is none of the service.

describe('the SDK', () => {
  test.concurrent('fetches one token for all calls, and another when it ends before its time', async () => {
    const { appId, appSecret } = await newApplication(client)
    await using place = standIn(() => undefined)
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
  })

  test('fetches a token anew in the last tenth of its time, in which a request might arrive too late', async () => {
    const token = { accessToken: 'any', tokenType: 'Bearer', expiresIn: 100 }
    await using place = standIn((request) => success(request.url.endsWith('/token') ? token : {}))
    const forecourt = new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'any' })
    const issuedAfter = async (seconds: number) => {
      setSystemTime(Date.now() + seconds * 1000)
      await forecourt.getSite({ id: 1 })
      return place.requests.filter(({ path }) => path.endsWith('/token')).length
    }
    try {
      expect([await issuedAfter(0), await issuedAfter(80), await issuedAfter(15)]).toEqual([1, 1, 2])
    } finally {
      setSystemTime()
    }
  })

  test('sends a write that was not answered again, under one key, with one effect', async () => {
    const { appId, token } = await newApplication(client)
    await using place = standIn(async (request, nth) => {
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
  })

  test.concurrent('tries five times, waits as long as it is asked to, and gives up with what it was told', async () => {
    await using place = standIn(() => refused(429, { 'retry-after': '0' }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    expect((await errorOf(forecourt.pageSites())).status).toBe(429)
    expect(place.requests).toHaveLength(5)
    // A proxy may write Retry-After as a date, in whole seconds: of two seconds, at least one is left.
    const waits = [() => '1', () => new Date(Date.now() + 2000).toUTCString()].map(async (retryAfter) => {
      await using slow = standIn((_, nth) =>
        nth === 1 ? refused(503, { 'retry-after': retryAfter() }) : success({ list: [] }),
      )
      const began = performance.now()
      await new Forecourt({ baseUrl: slow.url, token: 'any' }).pageSites()
      expect(performance.now() - began).toBeGreaterThanOrEqual(1000)
    })
    await Promise.all(waits)
  })

  test('tries five times in all to get a token, and does not wait for one after it is aborted', async () => {
    await using place = standIn(() => refused(503, { 'retry-after': '0' }))
    const forecourt = new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'any' })
    expect((await errorOf(forecourt.pageSites())).status).toBe(503)
    expect(place.requests).toHaveLength(5)
    await using silent = standIn(() => new Promise(() => {}))
    const abort = new AbortController()
    const options = { baseUrl: silent.url, appId: 'any', appSecret: 'any' }
    const call = new Forecourt(options).pageSites({}, { signal: abort.signal }).catch((error: Error) => error.message)
    while (silent.requests.length === 0) await Bun.sleep(10)
    abort.abort(new Error('enough'))
    expect(await call).toBe('enough')
  })

  test('tells a service that is not there from a refusal', async () => {
    await using place = standIn(() => undefined)
    await place.stop()
    const error = await errorOf(new Forecourt({ baseUrl: place.url, token: 'any', retries: 0 }).pageSites())
    expect(error).toMatchObject({ name: 'noAnswer', code: 0, status: 0, requestId: null })
    expect(error.message).toMatch(/^pageSites: no answer: /)
    expect(error.cause).toBeInstanceOf(Error)
    await using other = standIn(() => new Response('<html>', { status: 404 }))
    const strange = await errorOf(new Forecourt({ baseUrl: other.url, token: 'any' }).pageSites())
    expect(strange).toMatchObject({ name: 'notForecourt', code: 0, status: 404 })
    expect(other.requests).toHaveLength(1)
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
    await using place = standIn(() => new Response(body, { headers }))
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
  })

  test.each([500, 502, 504])('retries %i as often as its options say', async (status) => {
    await using place = standIn(() => new Response('<html>', { status, headers: { 'retry-after': '0' } }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any', retries: 1 })
    expect((await errorOf(forecourt.createDevice(deviceBody('any')))).status).toBe(status)
    expect(place.requests).toHaveLength(2)
    expect((await errorOf(forecourt.pageSites({}, { retries: 0 }))).status).toBe(status)
    expect(place.requests).toHaveLength(3)
  })

  test('sends a stream once, because it cannot be sent again', async () => {
    await using place = standIn(() => refused(503, { 'retry-after': '0' }))
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    const file = new Blob(['deviceNo\n']).stream() as ReadableStream<Uint8Array>
    expect((await errorOf(forecourt.createImport({ kind: 'devices', file }))).status).toBe(503)
    expect(place.requests).toHaveLength(1)
  })

  test.each(['61', '86400', '9999999999', new Date(Date.now() + 3_600_000).toUTCString()])(
    'throws at once when Retry-After asks for more than a minute: %s',
    async (retryAfter) => {
      await using place = standIn(() => refused(503, { 'retry-after': retryAfter }))
      const error = await errorOf(new Forecourt({ baseUrl: place.url, token: 'any' }).pageSites())
      expect(error.retryAfterSeconds).toBeGreaterThan(60)
      expect(place.requests).toHaveLength(1)
    },
  )

  test('takes a timeout and a fetch, of the client and of a call, and names its version', async () => {
    await using silent = standIn(() => new Promise(() => {}))
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
  })

  test.each(atScale([302, 307], [301, 302, 303, 307, 308]))(
    'follows no redirect, %i, which would take its secrets along',
    async (status) => {
      await using other = standIn(() => Response.json({ code: 0 }))
      await using place = standIn(() => new Response(null, { status, headers: { location: other.url } }))
      const forecourt = new Forecourt({ baseUrl: place.url, appId: 'any', appSecret: 'a secret', retries: 0 })
      const error = await errorOf(forecourt.pageSites())
      expect(error).toMatchObject({ name: 'notForecourt', code: 0, status, operation: 'issueToken' })
      expect(error.message).toContain(other.url)
      const byToken = new Forecourt({ baseUrl: place.url, token: 'any', retries: 0 })
      await errorOf(byToken.createImport({ kind: 'sites', file: 'a' }))
      expect(other.requests).toEqual([])
    },
  )

  test('ends at once when it is aborted, between two tries too', async () => {
    await using place = standIn(() => refused(503, { 'retry-after': '60' }))
    const abort = new AbortController()
    const call = new Forecourt({ baseUrl: place.url, token: 'any' }).pageSites({}, { signal: abort.signal })
    while (place.requests.length === 0) await Bun.sleep(10)
    abort.abort(new Error('enough'))
    expect(call).rejects.toThrow('enough')
    await call.catch(() => {})
    expect(place.requests).toHaveLength(1)
  })
})
