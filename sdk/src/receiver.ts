import type { CallbackEvent } from './api.ts'
import { verifyCallback } from './callback.ts'

export interface CallbackHandlerOptions {
  /** All valid `callbackSecret`s: two during a rotation. A function is asked at each callback. */
  secrets: readonly string[] | (() => readonly string[] | Promise<readonly string[]>)
  /**
   * Called for each genuine callback; it is answered when this has ended. If it throws, the answer is 500, and the service
   * sends the event again. An event may come more than once, with the same `id`: store what it did before you return.
   */
  onEvent(event: CallbackEvent & { id: string }): unknown
  /** Called when `onEvent` or `secrets` has thrown; by default the error is written to the console. */
  onError?(error: unknown): void
}

/** A request of `node:http`, and of frameworks on it, whose body nobody has read. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  headers: Record<string, string | string[] | undefined>
}

interface NodeResponse {
  writeHead(status: number, headers?: Record<string, string>): unknown
  end(): unknown
}

/** Events are much smaller. */
const mostBytes = 1024 * 1024

interface Received {
  method: string | undefined
  headers: Headers | NodeRequest['headers']
  body: AsyncIterable<Uint8Array> | null
}

/**
 * Makes a handler of callbacks for servers that speak `fetch`: Bun, Deno, Hono, Next.js and others. It answers 204 when
 * `onEvent` has ended, 500 when that has thrown, 401 to a callback that is not genuine, 413 and 405.
 */
export function callbackHandler(options: CallbackHandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, headers, body } = request
    const status = await receive({ method, headers, body: body && piecesOf(body) }, options)
    return new Response(null, { status, headers: headersOf(status) })
  }
}

/** The same for `node:http` and Express. Register it before any middleware that reads bodies. */
export function nodeCallbackHandler(
  options: CallbackHandlerOptions,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const { method, headers } = request
    const status = await receive({ method, headers, body: request }, options)
    response.writeHead(status, headersOf(status))
    response.end()
  }
}

const headersOf = (status: number): Record<string, string> => (status === 405 ? { allow: 'POST' } : {})

// biome-ignore lint/suspicious/noConsole: a program that says nothing about its errors wants to see them.
const writeError = (error: unknown) => console.error(error)

/** Returns the status of the answer. */
async function receive({ method, headers, body }: Received, options: CallbackHandlerOptions): Promise<number> {
  if (method !== 'POST') return 405
  const length = headers instanceof Headers ? headers.get('content-length') : headers['content-length']
  if (Number(length) > mostBytes) return 413
  try {
    const read = await readBody(body)
    if (read === undefined) return 413
    const { secrets } = options
    const valid = typeof secrets === 'function' ? await secrets() : secrets
    const event = await verifyCallback({ headers, body: read, secrets: valid }).catch(() => undefined)
    if (event === undefined) return 401
    await options.onEvent(event)
    return 204
  } catch (error) {
    const { onError = writeError } = options
    onError(error)
    return 500
  }
}

/** Reads a body of at most `mostBytes`; undefined for a larger one, of which the rest is not read. */
async function readBody(body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.byteLength
    if (size > mostBytes) return undefined
    pieces.push(piece)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.byteLength
  }
  return all
}

/** Browsers and older runtimes cannot iterate over a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
