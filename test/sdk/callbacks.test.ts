import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CallbackEvent,
  type CallbackHandlerOptions,
  callbackHandler,
  nodeCallbackHandler,
  verifyCallback,
} from '../../sdk/src/index.ts'

// What the SDK makes of a callback that has arrived.

describe('a callback', () => {
  const secret = `whsec_${Buffer.from('a secret of 24 bytes or so').toString('base64')}`
  const body = JSON.stringify({
    type: 'device.bound',
    timestamp: '2026-01-01T00:00:00Z',
    appId: 'a',
    data: { tag: '东' },
  })
  async function signed(text = body, at = Math.floor(Date.now() / 1000), by = secret) {
    const { Webhook } = await import('standardwebhooks')
    return {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(at),
      'webhook-signature': new Webhook(by).sign('evt_1', new Date(at * 1000), text),
    }
  }

  /** Headers with a valid signature for any id and time, even malformed ones. */
  async function signedAs(id: string, timestamp: string) {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signature = new Bun.CryptoHasher('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
    return { headers }
  }

  test('is answered as its event when a valid secret signed it', async () => {
    const headers = await signed()
    const event = await verifyCallback({ headers, body, secrets: [secret] })
    expect(event).toEqual({ id: 'evt_1', ...JSON.parse(body) })
    if (event.type === 'device.bound') expect((event satisfies CallbackEvent).data.tag).toBe('东')
    const bytes = new TextEncoder().encode(body)
    expect((await verifyCallback({ headers: new Headers(headers), body: bytes, secrets: [secret] })).id).toBe('evt_1')
    const other = `whsec_${Buffer.from('another secret').toString('base64')}`
    const both = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` }
    expect((await verifyCallback({ headers: both, body, secrets: [other, secret] })).id).toBe('evt_1')
  })

  test('is read past secrets that cannot be used, and under the id of its header', async () => {
    const headers = await signed()
    for (const broken of ['', 'whsec_', 'whsec_%%%', undefined as unknown as string]) {
      expect((await verifyCallback({ headers, body, secrets: [broken, secret] })).id).toBe('evt_1')
      const alone = await verifyCallback({ headers, body, secrets: [broken] }).catch((error) => error)
      expect(alone.message).toContain('No secret can be used')
    }
    const named = JSON.stringify({ ...JSON.parse(body), id: 'another' })
    expect((await verifyCallback({ headers: await signed(named), body: named, secrets: [secret] })).id).toBe('evt_1')
  })

  test('is refused when it is changed, old, unsigned, or signed by someone else', async () => {
    const now = Math.floor(Date.now() / 1000)
    const refusedOnes: [string, Parameters<typeof verifyCallback>[0]][] = [
      ['changed', { headers: await signed(), body: body.replace('东', '西'), secrets: [secret] }],
      ['old', { headers: await signed(body, now - 301), body, secrets: [secret] }],
      ['of the future', { headers: await signed(body, now + 302), body, secrets: [secret] }],
      ['of no time', { headers: { ...(await signed()), 'webhook-timestamp': 'x' }, body, secrets: [secret] }],
      ['of a fraction', { ...(await signedAs('evt_1', `${now}.5`)), body, secrets: [secret] }],
      ['of a hexadecimal time', { ...(await signedAs('evt_1', `0x${now.toString(16)}`)), body, secrets: [secret] }],
      ['of an id with a point', { ...(await signedAs('evt.1', String(now))), body, secrets: [secret] }],
      ['unsigned', { headers: { ...(await signed()), 'webhook-signature': '' }, body, secrets: [secret] }],
      ['no base64', { headers: { ...(await signed()), 'webhook-signature': 'v1,%' }, body, secrets: [secret] }],
      ['without a header', { headers: { 'webhook-id': 'evt_1' }, body, secrets: [secret] }],
      ['of nobody', { headers: await signed(), body, secrets: [] }],
      ['of an empty secret', { headers: await signed(), body, secrets: ['whsec_'] }],
    ]
    for (const [what, callback] of refusedOnes) {
      expect(await verifyCallback(callback).catch((error) => error), what).toBeInstanceOf(Error)
    }
  })

  describe.each(['fetch', 'node:http'])('that a handler for %s receives', (kind) => {
    /** Serves a handler while `run` sends to it. */
    async function withHandler(options: CallbackHandlerOptions, run: (url: string) => Promise<void>) {
      if (kind === 'fetch') {
        const server = Bun.serve({ port: 0, fetch: callbackHandler(options) })
        await run(server.url.href).finally(() => server.stop(true))
        return
      }
      const server = createServer(nodeCallbackHandler(options)).listen(0)
      await new Promise((resolve) => server.once('listening', resolve))
      await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).finally(() => server.close())
    }

    const post = async (url: string, text: string, headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', headers, body: text })).status

    test('is answered once its event has been handled, and 401 when it is not genuine', async () => {
      const events: CallbackEvent[] = []
      const onEvent = async (event: CallbackEvent) => {
        await Bun.sleep(20)
        events.push(event)
      }
      await withHandler({ secrets: async () => [secret], onEvent }, async (url) => {
        expect(await post(url, body, await signed())).toBe(204)
        expect(events).toEqual([{ id: 'evt_1', ...JSON.parse(body) }])
        expect(await post(url, body.replace('东', '西'), await signed())).toBe(401)
        expect(await post(url, body, {})).toBe(401)
        expect(await post(url, '', await signed())).toBe(401)
        expect(events).toHaveLength(1)
      })
    })

    test('is answered 500 when the handling fails, and the error is told', async () => {
      const errors: unknown[] = []
      const failure = new Error('the database is away')
      const onEvent = () => {
        throw failure
      }
      await withHandler({ secrets: [secret], onEvent, onError: (error) => errors.push(error) }, async (url) => {
        expect(await post(url, body, await signed())).toBe(500)
        expect(errors).toEqual([failure])
      })
    })

    test('by another method or with a body of megabytes is refused and not handled', async () => {
      const events: CallbackEvent[] = []
      await withHandler({ secrets: [secret], onEvent: (event) => events.push(event) }, async (url) => {
        const { status, headers } = await fetch(url)
        expect([status, headers.get('allow')]).toEqual([405, 'POST'])
        const large = `${body.slice(0, -1)}${' '.repeat(1024 * 1024)}}`
        expect(await post(url, large, await signed(large))).toBe(413)
        expect(events).toEqual([])
      })
    })
  })
})
