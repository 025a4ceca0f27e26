import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import type { Logger } from 'pino'
import { UserError } from '../runtime/user-error.ts'
import { limits } from '../vocabulary/limits.ts'
import { refusals } from '../vocabulary/refusals.ts'
import { boundConnections } from './idle-connections.ts'
import {
  BodyTooLarge,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  isStreamed,
  type Streamed,
} from './message.ts'
import { collect, Pieces } from './pieces.ts'
import { isTrusted, plainAddress } from './source-address.ts'

// The one file that knows the runtime.

export interface Listener {
  /** The address it answers at, for example http://127.0.0.1:8080. */
  url: string
  /** Stops accepting connections, answers everything that was accepted, then closes what is left. */
  stop(): Promise<void>
}

/** A port that cannot be had: one clear sentence. */

/**
 * To stop listening closes kept-alive connections at once, also those on which a request is just arriving. So clients
 * are first told to close them themselves.
 */
const farewellMs = 400
/** After the last answer, clients get this long to read `connection: close` before their connection is cut. */
const lastWordsMs = 50
const drainMs = 5_500

export interface ListenOptions {
  log: Logger
  /** Whose `X-Forwarded-Proto` is heard. Anybody else could write it, and nothing is to be believed of it. */
  trustedProxies?: BlockList | undefined
  /** Other processes of this service listen there as well. */
  isShared?: boolean
}

/** Listens on Bun, or on Node where there is no Bun. */
export function listen(host: string, port: number, handler: HttpHandler, options: ListenOptions): Promise<Listener> {
  const { log, isShared = false, trustedProxies } = options
  const drain = new Drain(handler, log)
  // On Node the socket is the parent's, and node:cluster shares it.
  return explained(host, port, () =>
    typeof Bun === 'undefined'
      ? listenOnNode(host, port, drain, trustedProxies)
      : listenOnBun(host, port, drain, isShared, trustedProxies),
  )
}

/**
 * The port for processes that will share it: a free one for 0. Refuses one that is taken, which they would otherwise
 * share with whoever has it.
 */
export function findPort(host: string, port: number): Promise<number> {
  return explained(host, port, async () => {
    if (typeof Bun !== 'undefined') {
      const probe = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() })
      const found = probe.port ?? port
      await probe.stop(true)
      return found
    }
    const probe = createServer()
    await startListening(probe, host, port)
    const found = portOf(probe)
    await new Promise((resolve) => probe.close(resolve))
    return found
  })
}

/** The address at which a port is asked. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function explained<Result>(host: string, port: number, attempt: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EADDRINUSE') throw new UserError(`Port ${port} on ${host} is taken by another program.`)
    if (code === 'EACCES') throw new UserError(`Port ${port} on ${host} may not be opened by this user.`)
    throw new UserError(`Forecourt cannot listen on ${host}:${port} (${code ?? (error as Error).message}).`)
  }
}

/** Counts requests under way, answers whatever a handler throws, and closes connections once the service stops. */
class Drain {
  private inFlight = 0
  private stopping = false
  private readonly handler: HttpHandler
  private readonly log: Logger

  constructor(handler: HttpHandler, log: Logger) {
    this.handler = handler
    this.log = log
  }

  /** Answers a request in the runtime's own form. Never rejects. */
  answer<Form>(request: HttpRequest, toForm: (answer: HttpAnswer) => Form): Promise<Form> {
    this.inFlight++
    return this.handle(request).then(
      (answer) => this.finish(request, answer, toForm),
      (error: unknown) => this.finish(request, this.fault(error), toForm),
    )
  }

  /** What is told of a fault that nobody expected: one fixed sentence. The log has the rest. */
  fault(error: unknown): HttpAnswer {
    const requestId = randomUUID()
    this.log.error({ requestId, err: error }, 'internal fault')
    return {
      status: 500,
      headers: { ...json, 'cache-control': 'no-store', 'x-request-id': requestId },
      body: faultBody,
    }
  }

  private handle(request: HttpRequest): Promise<HttpAnswer> {
    try {
      return this.handler(request)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  private finish<Form>(request: HttpRequest, answer: HttpAnswer, toForm: (answer: HttpAnswer) => Form): Form {
    this.inFlight--
    try {
      return toForm(this.complete(request, answer))
    } catch (error) {
      return toForm(this.complete(request, this.fault(error)))
    }
  }

  /** Adds what every answer says. */
  private complete(request: HttpRequest, answer: HttpAnswer): HttpAnswer {
    const { headers } = answer
    if (isStreamed(answer.body)) answer.body = this.counted(request, answer.body)
    headers['x-content-type-options'] = 'nosniff'
    if (headers['content-type'] === 'application/json') headers['content-security-policy'] ??= nothingLoaded
    if (request.header(forwardedScheme) === 'https') headers['strict-transport-security'] = oneYear
    if (this.stopping) headers.connection = 'close'
    return answer
  }

  /** What is still being sent is under way. */
  private async *counted(request: HttpRequest, pieces: Streamed): AsyncGenerator<Uint8Array> {
    this.inFlight++
    let isTaken = true
    request.onHangUp(() => {
      isTaken = false
    })
    try {
      yield* pieces
    } catch (error) {
      if (isTaken) this.log.warn({ err: error }, 'an answer broke off')
      throw error
    } finally {
      this.inFlight--
    }
  }

  /** From now on every answer closes its connection. Resolves when busy clients have had such an answer. */
  async begin(): Promise<void> {
    this.stopping = true
    await new Promise((resolve) => setTimeout(resolve, farewellMs))
  }

  /** Resolves when nothing has been under way for a moment. */
  async end(): Promise<void> {
    const deadline = performance.now() + drainMs
    for (let quiet = 0; quiet < 3 && performance.now() < deadline; ) {
      await new Promise((resolve) => setTimeout(resolve, lastWordsMs))
      quiet = this.inFlight === 0 ? quiet + 1 : 0
    }
  }
}

const forwardedScheme = 'x-forwarded-proto'

/** What a proxy says of the scheme; nothing where the peer is none that is trusted. */
function heard(value: string, peer: string, proxies: BlockList | undefined): string | null {
  return proxies !== undefined && isTrusted(plainAddress(peer), proxies) ? value : null
}

/** Splits a request's target: a path, or, as proxies may send it and as Bun shows it, a whole URL. */
function splitTarget(target: string): { path: string; query: string } {
  const from = target.startsWith('/') ? 0 : Math.max(0, target.indexOf('/', target.indexOf('://') + 3))
  const mark = target.indexOf('?', from)
  return mark === -1
    ? { path: target.slice(from), query: '' }
    : { path: target.slice(from, mark), query: target.slice(mark + 1) }
}

function listenOnBun(
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
        // While a reader takes nothing, Bun ignores an error of the stream. Idle connections it closes, within four seconds.
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
          // Bun would print an error that it is given; it is in the log.
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
    return value !== null && name === forwardedScheme ? heard(value, this.peerAddress(), this.proxies) : value
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
    return collect(this.stream(), limitBytes)
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    if (this.request.body !== null) yield* this.request.body as unknown as AsyncIterable<Uint8Array>
  }
}

const json = { 'content-type': 'application/json' }
const oneYear = 'max-age=31536000'
/** A browser that is led to an answer of the API loads nothing for it and shows it in no frame. */
const nothingLoaded = "default-src 'none'; frame-ancestors 'none'"
const { code, en } = refusals.internalFault
const faultBody = JSON.stringify({ code, msg: en, data: null })

/** What Node cannot parse, or waits for in vain, never becomes a request, so it gets its envelope here. */
function malformed(status: string, reason: string): string {
  const { code, en } = refusals.invalidRequest
  const body = JSON.stringify({ code, msg: en, data: { errors: [{ field: 'request', reason }] } })
  return [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-security-policy: ${nothingLoaded}`,
    `x-request-id: ${randomUUID()}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

const nodeOptions = {
  keepAliveTimeout: 60_000,
  // A body's time is the handler's business, which answers in the envelope; a head's is not.
  requestTimeout: 0,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  // As Bun does: what must be given once is then seen to be given twice.
  joinDuplicateHeaders: true,
}

async function listenOnNode(
  host: string,
  port: number,
  drain: Drain,
  proxies: BlockList | undefined,
): Promise<Listener> {
  const server = createServer(nodeOptions, (incoming, outgoing) => {
    const request = new NodeRequest(incoming, outgoing, proxies)
    void drain.answer(request, (answer) => {
      if (outgoing.headersSent) return
      sendAnswer(incoming, outgoing, answer)
      request.giveUpBody()
    })
  })
  boundConnections(server, mostConnections())
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    socket.end(
      isLate
        ? malformed('408 Request Timeout', 'did not arrive in time')
        : malformed('400 Bad Request', 'is not well-formed HTTP'),
    )
  })
  await startListening(server, host, port)
  return {
    url: urlOf(host, portOf(server)),
    async stop() {
      await drain.begin()
      server.close()
      await drain.end()
      server.closeAllConnections()
    },
  }
}

function sendAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: HttpAnswer): void {
  const { body, headers } = answer
  // A body that was not read (refused before, or too large) would be taken for the next request's head.
  if (!incoming.complete) headers.connection = 'close'
  // Of a 304 it would be the length of what is not sent.
  if (answer.status !== 304 && !isStreamed(body)) headers['content-length'] = String(Buffer.byteLength(body))
  if (answer.cookies !== undefined) outgoing.setHeader('set-cookie', answer.cookies)
  outgoing.writeHead(answer.status, headers)
  if (incoming.method === 'HEAD') outgoing.end()
  else if (isStreamed(body)) {
    answer.cut?.addEventListener('abort', () => outgoing.destroy())
    void send(outgoing, body)
  } else outgoing.end(body)
}

/** Sends what is made meanwhile. Never rejects: where it breaks off, so does the connection. */
async function send(outgoing: ServerResponse, pieces: Streamed): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (outgoing.destroyed) return
      if (!outgoing.write(piece)) await roomIn(outgoing)
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

/** Resolves when more can be sent, or nobody takes it any more. */
function roomIn(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => outgoing.destroy(), limits.readerIdleSeconds * 1000)
    const go = () => {
      clearTimeout(late)
      outgoing.off('drain', go)
      outgoing.off('close', go)
      resolve()
    }
    outgoing.once('drain', go)
    outgoing.once('close', go)
  })
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  private readonly incoming: IncomingMessage
  private readonly outgoing: ServerResponse
  private readonly proxies: BlockList | undefined
  private rejectBody: ((error: Error) => void) | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, proxies: BlockList | undefined) {
    this.proxies = proxies
    const target = splitTarget(incoming.url ?? '/')
    this.incoming = incoming
    this.outgoing = outgoing
    this.method = incoming.method ?? 'GET'
    this.path = target.path
    this.query = target.query
  }

  header(name: string): string | null {
    const value = this.incoming.headers[name]
    if (value === undefined) return null
    const text = Array.isArray(value) ? value.join(', ') : value
    return name === forwardedScheme ? heard(text, this.peerAddress(), this.proxies) : text
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
      let kept = new Pieces()
      this.rejectBody = (error) => {
        this.incoming.pause()
        kept = new Pieces()
        reject(error)
      }
      this.incoming.on('data', (piece: Buffer) => {
        if (kept.size + piece.byteLength <= limitBytes) kept.add(piece)
        else this.rejectBody?.(new BodyTooLarge())
      })
      this.incoming.once('end', () => resolve(kept.whole))
      this.incoming.once('error', reject)
    })
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    // What is left of a body that is given up belongs to the connection, which is not destroyed under its answer.
    yield* this.incoming.iterator({ destroyOnReturn: false })
  }

  /** After the answer Node tells nothing more of a body, neither its end nor that it broke off. */
  giveUpBody(): void {
    if (!this.incoming.complete) this.rejectBody?.(new Error('the body was answered before its end'))
  }
}

/** Without a limit Node would have no file left for anything else. */
function mostConnections(): number {
  let allowed = ''
  try {
    allowed = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not Linux: the number below is all there is.
  }
  const files = Number(/^Max open files\s+(\d+)/m.exec(allowed)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(64, Math.min(16_384, files - limits.openFilesKept))
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
