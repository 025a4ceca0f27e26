import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import { refusals } from '../vocabulary/refusals.ts'
import { type Drain, nothingLoaded } from './drain.ts'
import { boundConnections } from './idle-connections.ts'
import { forwardedScheme, type Listener, splitTarget, trustedHeader, urlOf } from './listener.ts'
import { BodyTooLarge, type HttpAnswer, type HttpRequest, isStreamed, type Streamed } from './message.ts'
import { Pieces } from './pieces.ts'

/**
 * The response to a request that Node cannot parse, or whose head does not arrive in time. It never reaches a handler.
 */
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
  // The handler limits the time of a body, and responds with the envelope; Node limits only the time of a head.
  requestTimeout: 0,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  // As on Bun: if a header that is allowed once is sent twice, this shows it.
  joinDuplicateHeaders: true,
}

export async function listenOnNode(
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
  // A body that was not read (because it was refused or too large) would be read as the head of the next request.
  if (!incoming.complete) headers.connection = 'close'
  // For a 304 this would be the length of a body that is not sent.
  if (answer.status !== 304 && !isStreamed(body)) headers['content-length'] = String(Buffer.byteLength(body))
  if (answer.cookies !== undefined) outgoing.setHeader('set-cookie', answer.cookies)
  outgoing.writeHead(answer.status, headers)
  if (incoming.method === 'HEAD') outgoing.end()
  else if (isStreamed(body)) {
    answer.cut?.addEventListener('abort', () => outgoing.destroy())
    void send(outgoing, body)
  } else outgoing.end(body)
}

/** Sends the pieces as they are made. Never rejects: an error closes the connection. */
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

/** Resolves when more can be sent, or the client has gone. */
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
    return name === forwardedScheme ? trustedHeader(text, this.peerAddress(), this.proxies) : text
  }

  peerAddress(): string {
    return this.incoming.socket.remoteAddress ?? ''
  }

  onHangUp(listener: () => void): void {
    this.outgoing.once('close', () => {
      if (!this.outgoing.writableFinished) listener()
    })
  }

  isGone(): boolean {
    return this.outgoing.destroyed && !this.outgoing.writableFinished
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
    // The rest of an abandoned body belongs to the connection, which must not be destroyed before its response.
    yield* this.incoming.iterator({ destroyOnReturn: false })
  }

  /** After the answer Node reports nothing more of the body, neither its end nor an abort. */
  giveUpBody(): void {
    if (!this.incoming.complete) this.rejectBody?.(new Error('the body was answered before its end'))
  }
}

/** Bounded by the process's limit of open files, of which some must stay free. */
function mostConnections(): number {
  let allowed = ''
  try {
    allowed = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Only Linux has that file; elsewhere the number below must do.
  }
  const files = Number(/^Max open files\s+(\d+)/m.exec(allowed)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(64, Math.min(16_384, files - limits.openFilesKept))
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
