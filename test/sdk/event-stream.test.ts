import { describe, expect, test } from 'bun:test'
import { blocksOf, Reconnects } from '../../sdk/src/event-stream.ts'
import { FileAnswer } from '../../sdk/src/file.ts'
import { Forecourt } from '../../sdk/src/index.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { baseUrl, client, errorOf, newSdk, newSite, refused, standIn } from './support.ts'

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

  test('reads blocks and characters that arrive in pieces', async () => {
    const bytes = new TextEncoder().encode('id: 7\ndata: {"siteName":"东门"}\n\n')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const blocks = await Array.fromAsync(blocksOf(new FileAnswer(new Response(body))))
    expect(blocks).toEqual([{ id: '7', data: '{"siteName":"东门"}' }])
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
