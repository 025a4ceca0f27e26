import type { BlockList } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import { answerHead } from './answer-head.ts'
import { Outbox } from './bun-outbox.ts'
import type { ParsedHead, ParseError, Parser, ParserEvents } from './bun-parser.ts'
import { BunRequest, type Carrier } from './bun-request.ts'
import type { Drain } from './drain.ts'
import { lateHead, longHead, type Malformed, malformed, otherVersion } from './malformed.ts'
import { comesInPieces, type HttpAnswer, isLive, type Live, type Streamed } from './message.ts'

export interface Shared {
  drain: Drain
  proxies: BlockList | undefined
  parserOf(events: ParserEvents): Parser
  /** Without a request under way, the longest idle first. */
  idle: Set<Connection>
}

/** Bytes of a body that are kept for a handler that does not ask for them. */
const unreadBytes = 256 * 1024
const continues = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Its requests are answered one after the other, in the order in which they arrived. */
export class Connection implements ParserEvents, Carrier {
  private readonly socket: Bun.Socket<Connection>
  private readonly shared: Shared
  private readonly parser: Parser
  private readonly outbox: Outbox
  private peer: string | undefined
  /** When its last request ended, or when this side was closed. */
  private since = performance.now()
  /** When the head that is arriving began; undefined between heads. */
  private headSince: number | undefined
  private current: BunRequest | undefined
  private waiting: BunRequest[] = []
  private arriving: BunRequest | undefined
  /** Nothing more of the client counts: it has closed its half, or sent what is no HTTP. */
  private isDeaf = false
  private hasEnded = false
  /** The response to what is no HTTP, behind all others. */
  private complaint: string | undefined
  private isPaused = false
  private isClosing = false
  private isGone = false
  private droppedBytes = 0

  constructor(socket: Bun.Socket<Connection>, shared: Shared) {
    this.socket = socket
    this.shared = shared
    this.parser = shared.parserOf(this)
    this.outbox = new Outbox(socket)
    shared.idle.add(this)
  }

  peerAddress(): string {
    this.peer ??= this.socket.remoteAddress ?? ''
    return this.peer
  }

  begin(): void {
    this.headSince = performance.now()
  }

  head(head: ParsedHead): void {
    this.headSince = undefined
    this.arriving = undefined
    if (this.isDeaf) return
    if (!head.version.startsWith('1.')) {
      this.complain(otherVersion)
      return
    }
    const last = this.waiting.at(-1)
    if (last !== undefined && this.waiting.length >= limits.pipelinedRequests) {
      last.keepsAlive = false
      this.isDeaf = true
      return
    }
    this.arriving = new BunRequest(head, this, this.shared.proxies)
    this.waiting.push(this.arriving)
    // What follows is no HTTP. The handler refuses the method.
    if (head.method === 'CONNECT') this.isDeaf = true
  }

  body(bytes: Uint8Array): void {
    this.arriving?.add(bytes)
  }

  end(): void {
    this.arriving?.end()
    this.arriving = undefined
  }

  received(bytes: Uint8Array): void {
    if (this.isClosing) {
      this.droppedBytes += bytes.byteLength
      if (this.droppedBytes > limits.fileDrainedBytes) this.terminate()
      return
    }
    if (!this.isDeaf) this.parse(bytes)
    this.next()
  }

  private parse(bytes: Uint8Array): void {
    const parsed = this.parser.execute(bytes)
    if (parsed === bytes.byteLength) return
    if (typeof parsed !== 'number') this.refuseRest(parsed)
    else if (parsed === 0) this.refuseRest(undefined)
    // The parser stops behind a request to change the protocol, which it does not do.
    else if (!this.isDeaf) this.parse(bytes.subarray(parsed))
  }

  /** The client may still wait for responses. */
  halfClosed(): void {
    this.hasEnded = true
    if (this.isClosing) {
      this.terminate()
      return
    }
    if (this.headSince !== undefined) this.complain({ reason: 'was cut off before its end' })
    this.isDeaf = true
    this.arriving?.breakOff()
    if (this.current === undefined) this.next()
    else this.watchLeaving(this.current)
  }

  closed(): void {
    this.isGone = true
    this.shared.idle.delete(this)
    this.parser.close()
    this.arriving?.breakOff()
    this.current?.hangUp()
    this.waiting = []
    this.outbox.drop()
  }

  drained(): void {
    this.outbox.drained()
  }

  taken(request: BunRequest): void {
    if (request.awaitsContinue && request.unread === 0 && request === this.current) {
      request.awaitsContinue = false
      this.outbox.sendText(continues, continues.length)
    }
    this.regulate()
  }

  /** A part of a head has arrived, and no request is under way. */
  get isInHead(): boolean {
    return this.headSince !== undefined
  }

  /** It only waits until its client closes as well. */
  get isSpare(): boolean {
    return this.isClosing && this.outbox.isEmpty
  }

  /** What still arrives is read: the system would otherwise reset the connection, and the response might be lost. */
  close(): void {
    if (this.isGone || this.isClosing) return
    this.isClosing = true
    this.waiting = []
    this.shared.idle.delete(this)
    const { complaint } = this
    if (complaint !== undefined) this.outbox.sendText(complaint, Buffer.byteLength(complaint))
    void this.outbox.room().then(() => this.shutDown())
    this.regulate()
  }

  terminate(): void {
    if (!this.isGone) this.socket.terminate()
  }

  checkTime(now: number): void {
    const { outbox, headSince, current } = this
    if (!outbox.isEmpty) {
      if (now - outbox.stalledSince > limits.readerIdleSeconds * 1000) this.terminate()
    } else if (this.isClosing) {
      if (now - this.since > limits.lingeringMs) this.terminate()
    } else if (current !== undefined) return
    else if (headSince !== undefined) {
      if (now - headSince > limits.headSeconds * 1000) this.refuseLate()
    } else if (now - this.since > limits.idleConnectionSeconds * 1000) this.close()
  }

  private refuseLate(): void {
    this.complain(lateHead)
    this.next()
  }

  private refuseRest(error: ParseError | undefined): void {
    this.isDeaf = true
    if (this.arriving !== undefined) {
      this.arriving.keepsAlive = false
      this.arriving.breakOff()
    } else if (error?.code === 'HPE_HEADER_OVERFLOW') this.complain(longHead)
    // What comes behind the last request that a client announced is no request.
    else if (error?.code !== 'HPE_CLOSED_CONNECTION') this.complain({})
  }

  private complain(what: Malformed): void {
    this.complaint ??= malformed(what)
    this.isDeaf = true
  }

  private next(): void {
    if (this.current === undefined && !this.isGone && !this.isClosing) {
      const request = this.waiting.shift()
      if (request !== undefined) this.start(request)
      else if (this.isDeaf) this.close()
    }
    this.regulate()
  }

  private start(request: BunRequest): void {
    this.current = request
    this.shared.idle.delete(this)
    if (this.hasEnded) this.watchLeaving(request)
    void this.shared.drain.answer(request, (answer) => this.respond(request, answer))
  }

  /** A client that closed its half may still wait. One that took nothing for a moment counts as gone. */
  private watchLeaving(request: BunRequest): void {
    const { sendings } = this.outbox
    setTimeout(() => {
      if (this.current !== request || this.isGone) return
      if (this.outbox.sendings === sendings) request.hangUp()
      else this.watchLeaving(request)
    }, limits.halfClosedMs)
  }

  private respond(request: BunRequest, answer: HttpAnswer): void {
    if (this.isGone || request !== this.current) return
    const { body } = answer
    const hasBody = request.method !== 'HEAD' && answer.status !== 304
    const isChunked = hasBody && comesInPieces(body) && request.version !== '1.0'
    this.frame(request, answer, isChunked)
    const head = answerHead(answer)
    request.breakOff()
    if (hasBody && comesInPieces(body)) {
      this.outbox.sendText(head, head.length)
      answer.cut?.addEventListener('abort', () => this.terminate())
      if (isLive(body)) this.sendLive(request, body, isChunked)
      else void this.sendPieces(request, body, isChunked)
      return
    }
    if (!hasBody) this.outbox.sendText(head, head.length)
    else if (typeof body === 'string')
      this.outbox.sendText(head + body, head.length + Number(answer.headers['content-length']))
    else this.outbox.send(Buffer.concat([Buffer.from(head), body as Uint8Array]))
    this.finish(request)
  }

  private frame(request: BunRequest, answer: HttpAnswer, isChunked: boolean): void {
    const { body, headers } = answer
    // Without chunks, the end of the connection is the end of the response.
    const isOpen = comesInPieces(body)
    const endsWithConnection = isOpen && !isChunked && request.method !== 'HEAD'
    const isLast = this.isDeaf && this.waiting.length === 0 && this.complaint === undefined
    if (!request.isWhole || endsWithConnection || isLast || headers.connection === 'close') request.keepsAlive = false
    if (!request.keepsAlive) headers.connection = 'close'
    else if (request.version === '1.0') headers.connection = 'keep-alive'
    if (isChunked) headers['transfer-encoding'] = 'chunked'
    // For a 304 this would be the length of a body that is not sent.
    else if (!isOpen && answer.status !== 304) headers['content-length'] = String(Buffer.byteLength(body))
  }

  /** Never rejects: an error closes the connection. */
  private async sendPieces(request: BunRequest, pieces: Streamed, isChunked: boolean): Promise<void> {
    try {
      for await (const piece of pieces) {
        if (this.isGone) return
        if (piece.byteLength > 0) this.outbox.send(isChunked ? chunkOf(piece) : piece)
        if (!this.outbox.isEmpty) await this.outbox.room()
      }
      this.endPieces(request, isChunked)
    } catch {
      this.terminate()
    }
  }

  /** Without promises, because an event is sent to thousands of readers. */
  private sendLive(request: BunRequest, live: Live, isChunked: boolean): void {
    const take = (piece: Uint8Array | null) => {
      if (piece === null) {
        this.endPieces(request, isChunked)
        return
      }
      if (this.isGone) return
      this.outbox.send(isChunked ? chunkOf(piece) : piece)
      if (this.outbox.isEmpty) live.pull(take)
      else void this.outbox.room().then(() => live.pull(take))
    }
    live.pull(take)
  }

  private endPieces(request: BunRequest, isChunked: boolean): void {
    if (isChunked && !this.isGone) this.outbox.sendText('0\r\n\r\n', 5)
    this.finish(request)
  }

  private finish(request: BunRequest): void {
    if (this.outbox.isEmpty) this.finished(request)
    else void this.outbox.room().then(() => this.finished(request))
  }

  private finished(request: BunRequest): void {
    if (this.isGone) return
    this.current = undefined
    this.since = performance.now()
    if (!request.keepsAlive) {
      // The response has said that it is the last.
      this.complaint = undefined
      this.close()
      return
    }
    if (this.waiting.length === 0) this.shared.idle.add(this)
    this.next()
  }

  private shutDown(): void {
    if (this.isGone) return
    this.since = performance.now()
    if (this.hasEnded) this.socket.end()
    else this.socket.shutdown()
  }

  /** Reads no more than is needed. */
  private regulate(): void {
    if (this.isGone) return
    const isFull = this.waiting.length > 0 || (this.arriving?.unread ?? 0) > unreadBytes
    const isPaused = isFull && !this.isClosing
    if (isPaused === this.isPaused) return
    this.isPaused = isPaused
    if (isPaused) this.socket.pause()
    else this.socket.resume()
  }
}

/** Kept, because an event is sent to thousands of readers, one after the other. */
let lastChunk: { piece: Uint8Array; chunk: Uint8Array } | undefined

function chunkOf(piece: Uint8Array): Uint8Array {
  if (lastChunk?.piece !== piece) {
    const framed = [Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, Buffer.from('\r\n')]
    lastChunk = { piece, chunk: Buffer.concat(framed) }
  }
  return lastChunk.chunk
}
