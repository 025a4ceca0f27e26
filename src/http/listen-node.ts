import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { BlockList, Socket } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import type { Drain } from './drain.ts'
import { boundConnections, mostConnections } from './idle-connections.ts'
import { forwardedScheme, type Listener, splitTarget, trustedScheme, urlOf } from './listener.ts'
import { lateHead, longHead, type Malformed, malformed } from './malformed.ts'
import {
  bodyTooLarge,
  comesInPieces,
  type HttpAnswer,
  type HttpRequest,
  isLive,
  type Live,
  type Streamed,
} from './message.ts'
import { Pieces } from './pieces.ts'

const nodeOptions = {
  keepAliveTimeout: limits.idleConnectionSeconds * 1000,
  // Node adds this to the time that it tells clients.
  keepAliveTimeoutBuffer: 0,
  // The handler limits the time of a body, and responds with the envelope; Node limits only that of a head.
  requestTimeout: 0,
  headersTimeout: limits.headSeconds * 1000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: limits.headBytes,
  // The handler refuses a request without a host, with the envelope.
  requireHostHeader: false,
  // As on Bun: a repeated header must be visible.
  joinDuplicateHeaders: true,
}

export async function listenOnNode(
  host: string,
  port: number,
  drain: Drain,
  proxies: BlockList | undefined,
): Promise<Listener> {
  const exchanges = new Exchanges()
  const respond = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    exchanges.add(incoming, outgoing)
    const request = new NodeRequest(incoming, outgoing, proxies)
    void drain.answer(request, (answer) => {
      if (outgoing.headersSent) return
      // It would end the connection before the answers to the requests that came behind.
      if (exchanges.isFollowed(incoming)) delete answer.headers.connection
      sendAnswer(incoming, outgoing, answer)
      request.giveUpBody()
    })
  }
  const server: Server & { httpAllowHalfOpen?: boolean } = createServer(nodeOptions, respond)
  // A client that closes its half still waits for its response.
  server.httpAllowHalfOpen = true
  boundConnections(server, mostConnections())
  // Node would answer these without the envelope; the handler refuses them.
  server.on('checkExpectation', respond)
  server.on('connect', (incoming, socket) => {
    const outgoing = new ServerResponse(incoming)
    outgoing.shouldKeepAlive = false
    outgoing.assignSocket(socket as Socket)
    outgoing.once('finish', () => socket.end())
    respond(incoming, outgoing)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isBehindLast = error.code === 'HPE_CLOSED_CONNECTION'
    exchanges.afterAnswers(socket as Socket, () => {
      if (socket.writable) socket.end(isBehindLast ? undefined : malformed(faultOf(error.code)))
    })
  })
  await startListening(server, host, port)
  return {
    url: urlOf(host, portOf(server)),
    async stop() {
      await drain.begin()
      server.close()
      await drain.end()
      for (const outgoing of streaming) cutOff(outgoing)
      server.closeAllConnections()
    },
  }
}

class Exchanges {
  private readonly open = new WeakMap<Socket, Set<{ incoming: IncomingMessage; outgoing: ServerResponse }>>()

  add(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    let of = this.open.get(socket)
    if (of === undefined) {
      of = new Set()
      this.open.set(socket, of)
    }
    const exchange = { incoming, outgoing }
    of.add(exchange)
    outgoing.once('close', () => of.delete(exchange))
  }

  /** Whether another request has come on its connection. */
  isFollowed(incoming: IncomingMessage): boolean {
    return [...(this.open.get(incoming.socket) ?? [])].at(-1)?.incoming !== incoming
  }

  /** An answer to what came behind whole requests must not take the place of theirs. */
  afterAnswers(socket: Socket, then: () => void): void {
    const last = [...(this.open.get(socket) ?? [])].findLast(({ incoming }) => incoming.complete)
    if (last === undefined) then()
    else last.outgoing.once('close', then)
  }
}

function faultOf(code: string | undefined): Malformed {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return lateHead
  return code === 'HPE_HEADER_OVERFLOW' ? longHead : {}
}

function sendAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: HttpAnswer): void {
  const { body, headers } = answer
  // A body that was not read would be taken for the head of the next request.
  if (!incoming.complete) headers.connection = 'close'
  // For a 304 this would be the length of a body that is not sent.
  if (answer.status !== 304 && !comesInPieces(body)) headers['content-length'] = String(Buffer.byteLength(body))
  if (answer.cookies !== undefined) outgoing.setHeader('set-cookie', answer.cookies)
  outgoing.writeHead(answer.status, headers)
  if (incoming.method === 'HEAD') outgoing.end()
  else if (comesInPieces(body)) {
    answer.cut?.addEventListener('abort', () => cutOff(outgoing))
    streaming.add(outgoing)
    outgoing.once('close', () => streaming.delete(outgoing))
    if (isLive(body)) sendLive(outgoing, body)
    else void send(outgoing, body)
  } else outgoing.end(body)
}

/** Never rejects: an error closes the connection. */
async function send(outgoing: ServerResponse, pieces: Streamed): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (outgoing.destroyed) return
      if (!outgoing.write(piece)) await roomIn(outgoing)
    }
    outgoing.end()
  } catch {
    cutOff(outgoing)
  }
}

function sendLive(outgoing: ServerResponse, live: Live): void {
  outgoing.setTimeout(limits.readerIdleSeconds * 1000)
  const take = (piece: Uint8Array | null) => {
    if (outgoing.destroyed) return
    if (piece === null) outgoing.end()
    else outgoing.write(piece, () => live.pull(take))
  }
  live.pull(take)
}

const streaming = new Set<ServerResponse>()

/** Without chunks, the end of the connection would be the end of the response: a reset cannot be taken for it. */
function cutOff(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy()
  outgoing.destroy()
}

function roomIn(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => cutOff(outgoing), limits.readerIdleSeconds * 1000)
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
  readonly version: string
  private readonly incoming: IncomingMessage
  private readonly outgoing: ServerResponse
  private readonly proxies: BlockList | undefined
  private rejectBody: ((error: Error) => void) | undefined
  /** Since when the client, which has closed its half, has taken nothing more. */
  private ended: { since: number; sent: number } | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, proxies: BlockList | undefined) {
    this.proxies = proxies
    const target = splitTarget(incoming.url ?? '/')
    this.incoming = incoming
    this.outgoing = outgoing
    this.method = incoming.method ?? 'GET'
    this.version = incoming.httpVersion
    this.path = target.path
    this.query = target.query
  }

  header(name: string): string | null {
    const value = this.incoming.headers[name]
    if (value === undefined) return null
    const text = Array.isArray(value) ? value.join(', ') : value
    return name === forwardedScheme ? trustedScheme(text, this.peerAddress(), this.proxies) : text
  }

  peerAddress(): string {
    return this.incoming.socket.remoteAddress ?? ''
  }

  onHangUp(listener: () => void): void {
    let isTold = false
    const tell = () => {
      if (!isTold && !this.outgoing.writableFinished) listener()
      isTold = true
    }
    this.outgoing.once('close', tell)
    // A client that closed its half may be gone, or wait: nothing tells which before something is sent.
    const { socket } = this.incoming
    const look = (sent: number) => {
      setTimeout(() => {
        if (this.outgoing.closed || this.outgoing.writableFinished) return
        if (socket.bytesWritten === sent) tell()
        else look(socket.bytesWritten)
      }, limits.halfClosedMs)
    }
    if (socket.readableEnded) look(socket.bytesWritten)
    else {
      const begin = () => look(socket.bytesWritten)
      socket.once('end', begin)
      this.outgoing.once('close', () => socket.off('end', begin))
    }
  }

  isGone(): boolean {
    const { outgoing, incoming } = this
    if (outgoing.destroyed) return !outgoing.writableFinished
    const { socket } = incoming
    if (!socket.readableEnded) return false
    const now = performance.now()
    if (this.ended?.sent !== socket.bytesWritten) this.ended = { since: now, sent: socket.bytesWritten }
    return now - this.ended.since > limits.halfClosedMs
  }

  arrivedBody(): undefined {}

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
        else this.rejectBody?.(bodyTooLarge(limitBytes))
      })
      this.incoming.once('end', () => resolve(kept.whole))
      this.incoming.once('error', reject)
    })
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    // An abandoned body belongs to the connection, which must not be destroyed before its response.
    yield* this.incoming.iterator({ destroyOnReturn: false })
  }

  /** After the response Node reports nothing more of the body, neither its end nor an abort. */
  giveUpBody(): void {
    if (!this.incoming.complete) this.rejectBody?.(new Error('the body was answered before its end'))
  }
}

export function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
