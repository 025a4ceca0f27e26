import { afterAll, expect, test } from 'bun:test'
import { createImport } from '../src/bulk/contract.ts'
import { FileBody, type Pace, type RequestTimeout } from '../src/http/body.ts'
import { listen } from '../src/http/listen.ts'
import type { HttpRequest } from '../src/http/message.ts'
import { openLog } from '../src/runtime/log.ts'
import { Refusal, unavailable } from '../src/vocabulary/refusals.ts'

// The lowest speed at which a file may be uploaded, tested with short times.

const pace: Pace = { patienceMs: 400, everyMs: 200, leastBytes: 1000 }
const hears = { piece: () => {}, end: async () => {} }

/** Reads a file and responds with the number of its bytes, or with the status of the refusal that ended the upload. */
async function take(request: HttpRequest) {
  const timeout: RequestTimeout = { at: 0, late: unavailable, expire: () => {} }
  const file = new FileBody(request, createImport, timeout, hears, { actor: 'test', appId: undefined }, pace)
  try {
    for await (const _ of file);
    return { status: 200, headers: {}, body: String(file.size) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { status: error.status, headers: {}, body: String(file.size) }
  } finally {
    void file.close()
  }
}

const listener = await listen('127.0.0.1', 0, take, { log: openLog('silent') })
afterAll(() => listener.stop())

async function send(bytes: number, everyMs: number, pieces: number): Promise<{ status: number; took: number }> {
  const began = performance.now()
  const body = new ReadableStream({
    async start(controller) {
      for (let sent = 0; sent < pieces; sent++) {
        controller.enqueue(new Uint8Array(bytes))
        await Bun.sleep(everyMs)
      }
      controller.close()
    },
  })
  const answer = await fetch(listener.url, { method: 'POST', body, headers: { 'content-type': 'text/csv' } })
  return { status: answer.status, took: performance.now() - began }
}

test('a file that comes slowly at first, or fast enough, is taken', async () => {
  expect((await send(1, 30, 10)).status).toBe(200)
  expect((await send(600, 50, 30)).status).toBe(200)
})

test('one that goes on a byte at a time is given up once its first time is over', async () => {
  const { status, took } = await send(1, 20, 500)
  expect(status).toBe(408)
  expect(took).toBeGreaterThan(pace.patienceMs)
  expect(took).toBeLessThan(9_000)
})
