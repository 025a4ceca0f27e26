import type { BlockList } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import type { Drain } from './drain.ts'
import { forwardedScheme, type Listener, splitTarget, trustedHeader, urlOf } from './listener.ts'
import { type HttpAnswer, type HttpRequest, isStreamed, type Streamed } from './message.ts'
import { collect } from './pieces.ts'

export function listenOnBun(
  host: string,
  port: number,
  drain: Drain,
  isShared: boolean,
  proxies: BlockList | undefined,
): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    // Outside of development Bun would share a port that another process listens on, and answer some of its requests.
    reusePort: isShared,
    // Bun would refuse larger bodies itself, without the envelope; the handler counts and refuses them first.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: limits.readerIdleSeconds,
    development: false,
    error: (error) => toResponse(drain.fault(error)),
    fetch: (request, server) =>
      drain.answer(new BunRequest(request, server, proxies), (answer) => {
        // While a reader reads nothing, Bun ignores an error of the stream; but it closes idle connections within four
        // seconds.
        answer.cut?.addEventListener('abort', () => server.timeout(request, 1))
        return toResponse(answer)
      }),
  })
  return {
    url: urlOf(host, server.port ?? port),
    async stop() {
      await drain.begin()
      void server.stop()
      await drain.end()
      await server.stop(true)
    },
  }
}

function toResponse(answer: HttpAnswer): Response {
  const { body } = answer
  const response = new Response(isStreamed(body) ? toReadable(body, answer.cut) : body, answer)
  for (const cookie of answer.cookies ?? []) response.headers.append('set-cookie', cookie)
  return response
}

function toReadable(pieces: Streamed, cut: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      start(controller) {
        cut?.addEventListener('abort', () => {
          controller.error(undefined)
          void iterator.return?.()
        })
      },
      async pull(controller) {
        try {
          const { done, value } = await iterator.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch {
          // Called without the error, which Bun would print; it is in the log already.
          controller.error(undefined)
        }
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

class BunRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  private readonly request: Request
  private readonly server: Bun.Server<unknown>
  private readonly proxies: BlockList | undefined

  constructor(request: Request, server: Bun.Server<unknown>, proxies: BlockList | undefined) {
    const target = splitTarget(request.url)
    this.proxies = proxies
    this.request = request
    this.server = server
    this.method = request.method
    this.path = target.path
    this.query = target.query
  }

  header(name: string): string | null {
    const value = this.request.headers.get(name)
    return value !== null && name === forwardedScheme ? trustedHeader(value, this.peerAddress(), this.proxies) : value
  }

  peerAddress(): string {
    return this.server.requestIP(this.request)?.address ?? ''
  }

  onHangUp(listener: () => void): void {
    this.request.signal.addEventListener('abort', listener, { once: true })
  }

  isGone(): boolean {
    return this.request.signal.aborted
  }

  body(limitBytes: number): Promise<Uint8Array> {
    // With a valid length the runtime reads the body in one step; without one, every piece is counted.
    if (this.request.headers.get('content-length') !== null) {
      return (this.request as unknown as { bytes(): Promise<Uint8Array> }).bytes()
    }
    return collect(this.stream(), limitBytes)
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    if (this.request.body !== null) yield* this.request.body as unknown as AsyncIterable<Uint8Array>
  }
}
