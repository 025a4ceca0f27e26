import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { refusals } from '../refusals.ts'
import { BodyTooLarge, type HttpAnswer, type HttpHandler, type HttpRequest } from './message.ts'

// The one file that knows the runtime.

export interface Listener {
  /** The address it answers at, for example http://127.0.0.1:8080. */
  url: string
  /** Stops accepting connections, answers everything that was accepted, then closes what is left. */
  stop(): Promise<void>
}

/** A port that cannot be had: one clear sentence. */
export class ListenError extends Error {}

/**
 * To stop listening closes kept-alive connections at once, also those on which a request is just arriving. So clients
 * are first told to close them themselves.
 */
const farewellMs = 400
/** After the last answer, clients get this long to read `connection: close` before their connection is cut. */
const lastWordsMs = 50
const drainMs = 5_500

/** Listens on Bun, or on Node where there is no Bun. */
export async function listen(host: string, port: number, handler: HttpHandler): Promise<Listener> {
  const drain = new Drain(handler)
  try {
    return typeof Bun === 'undefined' ? await listenOnNode(host, port, drain) : listenOnBun(host, port, drain)
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EADDRINUSE') throw new ListenError(`Port ${port} on ${host} is taken by another program.`)
    if (code === 'EACCES') throw new ListenError(`Port ${port} on ${host} may not be opened by this user.`)
    throw new ListenError(`Forecourt cannot listen on ${host}:${port} (${code ?? (error as Error).message}).`)
  }
}

/** Counts requests under way, and marks answers with `connection: close` once the service stops. */
class Drain {
  private inFlight = 0
  private stopping = false
  private readonly handler: HttpHandler

  constructor(handler: HttpHandler) {
    this.handler = handler
  }

  /** Answers a request in the runtime's own form. */
  answer<Form>(request: HttpRequest, toForm: (answer: HttpAnswer) => Form): Promise<Form> {
    this.inFlight++
    return this.handler(request).then((answer) => {
      this.inFlight--
      if (this.stopping) answer.headers.connection = 'close'
      return toForm(answer)
    })
  }

  /** From now on every answer closes its connection. Resolves when busy clients have had such an answer. */
  async begin(): Promise<void> {
    this.stopping = true
    await new Promise((resolve) => setTimeout(resolve, farewellMs))
  }

  /** Resolves when nothing has been under way for a moment. */
  async finish(): Promise<void> {
    const deadline = performance.now() + drainMs
    for (let quiet = 0; quiet < 3 && performance.now() < deadline; ) {
      await new Promise((resolve) => setTimeout(resolve, lastWordsMs))
      quiet = this.inFlight === 0 ? quiet + 1 : 0
    }
  }
}

/** Splits a request's target: a path, or, as proxies may send it and as Bun shows it, a whole URL. */
function splitTarget(target: string): { path: string; query: string } {
  const from = target.startsWith('/') ? 0 : Math.max(0, target.indexOf('/', target.indexOf('://') + 3))
  const mark = target.indexOf('?', from)
  return mark === -1
    ? { path: target.slice(from), query: '' }
    : { path: target.slice(from, mark), query: target.slice(mark + 1) }
}

function listenOnBun(host: string, port: number, drain: Drain): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    // Bun would refuse larger bodies itself, without the envelope; the handler counts and refuses them first.
    maxRequestBodySize: 1024 * 1024 * 1024,
    idleTimeout: 60,
    fetch: (request, server) => drain.answer(new BunRequest(request, server), toResponse),
  })
  return {
    url: `http://${hostInUrl(host)}:${server.port}`,
    async stop() {
      await drain.begin()
      void server.stop()
      await drain.finish()
      await server.stop(true)
    },
  }
}

function toResponse(answer: HttpAnswer): Response {
  const response = new Response(answer.body, answer)
  for (const cookie of answer.cookies ?? []) response.headers.append('set-cookie', cookie)
  return response
}

class BunRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  private readonly request: Request
  private readonly server: Bun.Server<unknown>

  constructor(request: Request, server: Bun.Server<unknown>) {
    const target = splitTarget(request.url)
    this.request = request
    this.server = server
    this.method = request.method
    this.path = target.path
    this.query = target.query
  }

  header(name: string): string | null {
    return this.request.headers.get(name)
  }

  peerAddress(): string {
    return this.server.requestIP(this.request)?.address ?? ''
  }

  onHangUp(listener: () => void): void {
    this.request.signal.addEventListener('abort', listener, { once: true })
  }

  body(limitBytes: number): Promise<Uint8Array> {
    // With a length that was checked, the runtime reads the body at once; without one, every piece is counted.
    if (this.request.headers.get('content-length') !== null) {
      return (this.request as unknown as { bytes(): Promise<Uint8Array> }).bytes()
    }
    if (this.request.body === null) return Promise.resolve(new Uint8Array())
    return collect(this.request.body as unknown as AsyncIterable<Uint8Array>, limitBytes)
  }
}

async function collect(pieces: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.byteLength
    if (size > limitBytes) throw new BodyTooLarge()
    kept.push(piece)
  }
  return kept.length === 1 && kept[0] !== undefined ? kept[0] : Buffer.concat(kept)
}

/** What Node cannot parse never becomes a request, so it gets its envelope here. */
const malformedBody = JSON.stringify({
  code: refusals.invalidRequest.code,
  msg: refusals.invalidRequest.en,
  data: { errors: [{ field: 'request', reason: 'is not well-formed HTTP' }] },
})
const malformedRequest = [
  'HTTP/1.1 400 Bad Request',
  'content-type: application/json',
  `content-length: ${Buffer.byteLength(malformedBody)}`,
  'connection: close',
  '',
  malformedBody,
].join('\r\n')

async function listenOnNode(host: string, port: number, drain: Drain): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (incoming, outgoing) => {
    void drain.answer(new NodeRequest(incoming, outgoing), (answer) => {
      // A body that was not read (refused before, or too large) would be taken for the next request's head.
      if (!incoming.complete) answer.headers.connection = 'close'
      answer.headers['content-length'] = String(Buffer.byteLength(answer.body))
      if (answer.cookies !== undefined) outgoing.setHeader('set-cookie', answer.cookies)
      outgoing.writeHead(answer.status, answer.headers)
      outgoing.end(incoming.method === 'HEAD' ? undefined : answer.body)
    })
  })
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(malformedRequest)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    url: `http://${hostInUrl(host)}:${portOf(server)}`,
    async stop() {
      await drain.begin()
      server.close()
      await drain.finish()
      server.closeAllConnections()
    },
  }
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  private readonly incoming: IncomingMessage
  private readonly outgoing: ServerResponse

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    const target = splitTarget(incoming.url ?? '/')
    this.incoming = incoming
    this.outgoing = outgoing
    this.method = incoming.method ?? 'GET'
    this.path = target.path
    this.query = target.query
  }

  header(name: string): string | null {
    const value = this.incoming.headers[name]
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
  }

  peerAddress(): string {
    return this.incoming.socket.remoteAddress ?? ''
  }

  onHangUp(listener: () => void): void {
    this.outgoing.once('close', () => {
      if (!this.outgoing.writableFinished) listener()
    })
  }

  body(limitBytes: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const kept: Buffer[] = []
      let size = 0
      this.incoming.on('data', (piece: Buffer) => {
        size += piece.byteLength
        if (size <= limitBytes) kept.push(piece)
        else {
          this.incoming.pause()
          reject(new BodyTooLarge())
        }
      })
      this.incoming.once('end', () =>
        resolve(kept.length === 1 && kept[0] !== undefined ? kept[0] : Buffer.concat(kept)),
      )
      this.incoming.once('error', reject)
    })
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
