import type { Deadline } from '../runtime/deadlines.ts'
import { limits } from '../vocabulary/limits.ts'
import type { Operation } from '../vocabulary/operation.ts'
import { invalidRequest, type Reason, type Refusal, unavailable } from '../vocabulary/refusals.ts'
import { type FileOwner, uploads } from './file-places.ts'
import type { Owner } from './in-flight.ts'
import { jsonFault, parseJson } from './json.ts'
import { bodyTooLarge, type HttpRequest } from './message.ts'
import { notUtf8, undecodable } from './validate.ts'

// Parameters are ignored: JSON is UTF-8 (RFC 8259 §8.1), whatever `charset` says, and other bytes are refused.
const jsonMediaType = /^application\/json\s*(;.*)?$/i
const formMediaType = /^application\/x-www-form-urlencoded\s*(;.*)?$/i

export interface RequestTimeout extends Deadline {
  late: () => Refusal
  place?: Owner | undefined
}

/** If there are too many bodies, refuses the one read for longest: an honest body comes with its head or soon after. */
class BodyBudget {
  private readonly readers = new Map<RequestTimeout, number>()
  private taken = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  enter(reader: RequestTimeout, size: number): void {
    this.readers.set(reader, size)
    this.taken += size
    if (this.taken <= this.most) return
    for (const [oldest] of this.readers) {
      if (this.taken <= this.most || oldest === reader) return
      this.evict(oldest)
    }
  }

  evictOf(owner: Owner): boolean {
    for (const [reader] of this.readers) {
      if (reader.place !== owner) continue
      this.evict(reader)
      return true
    }
    return false
  }

  private evict(reader: RequestTimeout): void {
    this.leave(reader)
    reader.late = evicted
    reader.expire()
  }

  leave(reader: RequestTimeout): void {
    this.taken -= this.readers.get(reader) ?? 0
    this.readers.delete(reader)
  }
}

/** The body is larger than ordinary ones, or may be. */
export function isLarge(request: HttpRequest, { maxBodyBytes = 0 }: Operation): boolean {
  if (maxBodyBytes <= limits.bodyBytes) return false
  const announced = request.header('content-length')
  return announced === null || Number(announced) > limits.bodyBytes
}

export class BodyReader {
  /** For callers without a token, whom nothing rate-limits. */
  private readonly ofAnyone = new BodyBudget(256)
  private readonly ofCallers: BodyBudget
  private readonly large = new BodyBudget(128 * 1024 * 1024)

  /** A fifth of the requests under way is kept free of those that only wait for their bodies. */
  constructor(maxInFlight: number) {
    this.ofCallers = new BodyBudget(Math.ceil(maxInFlight * 0.8))
  }

  /** Returns whether a body of the owner was refused to make room. */
  evictOf(owner: Owner): boolean {
    return this.ofCallers.evictOf(owner)
  }

  /** Throws 10001 if it is too large or breaks off; the timeout ends a slow one. */
  read(request: HttpRequest, operation: Operation, timeout: RequestTimeout): Uint8Array | Promise<Uint8Array> {
    const limit = operation.maxBodyBytes ?? limits.bodyBytes
    const announced = request.header('content-length')
    const size = announced === null ? limit : Number(announced)
    // Two equal lengths arrive as one text with a comma, which is no number and would pass every limit.
    if (Number.isNaN(size)) throw lengthTwice()
    if (size > limit) throw tooLarge(limit)
    const arrived = request.arrivedBody()
    if (arrived === undefined) return this.receive(request, operation, timeout, size, limit)
    if (arrived.byteLength > limit) throw tooLarge(limit)
    return arrived
  }

  private async receive(
    request: HttpRequest,
    operation: Operation,
    timeout: RequestTimeout,
    size: number,
    limit: number,
  ): Promise<Uint8Array> {
    const room = operation.callers.length === 0 ? this.ofAnyone : this.ofCallers
    room.enter(timeout, 1)
    if (size > limits.bodyBytes) this.large.enter(timeout, size)
    try {
      return await request.body(limit)
    } catch (error) {
      throw bodyTooLarge.is(error) ? tooLarge(limit) : brokenOff()
    } finally {
      room.leave(timeout)
      if (size > limits.bodyBytes) this.large.leave(timeout)
    }
  }
}

/** After a total wait of `patienceMs`, `leastBytes` must arrive in each `everyMs` of waiting. */
export interface Pace {
  patienceMs: number
  everyMs: number
  leastBytes: number
}
const filePace: Pace = { patienceMs: 60_000, everyMs: 30_000, leastBytes: 64 * 1024 }
const drainedMs = 2_000

function placeOf(owner: FileOwner): () => void {
  try {
    return uploads.take(owner)
  } catch (error) {
    throw closing(error as Refusal)
  }
}

interface FileListener {
  piece(bytes: Uint8Array): void
  end(): Promise<void>
}

export class FileBody {
  readonly mediaType: string
  readonly charset: string | null
  size = 0
  private readonly pieces: AsyncIterator<Uint8Array>
  private readonly limit: number
  private readonly timeout: RequestTimeout
  private readonly hears: FileListener
  private giveUp: ((refusal: Refusal) => void) | undefined
  private givenUp: Refusal | undefined
  private isOver = false
  private readonly leavePlace: () => void
  private readonly pace: Pace
  /** The total wait, and where it and the size were when the speed was last checked. */
  private waitedMs = 0
  private lookedAt = { waitedMs: 0, size: 0 }

  /** Throws 413 and 415; 50003 for too many files, and 10007 if these are the application's own. */
  constructor(
    request: HttpRequest,
    operation: Operation,
    timeout: RequestTimeout,
    hears: FileListener,
    owner: FileOwner,
    pace = filePace,
  ) {
    this.pace = pace
    const [mediaType, charset] = fileTypeOf(request, operation)
    this.mediaType = mediaType
    this.charset = charset
    this.limit = operation.maxBodyBytes ?? limits.bodyBytes
    const announced = Number(request.header('content-length') ?? 0)
    if (Number.isNaN(announced)) throw lengthTwice()
    if (announced > this.limit) throw closing(tooLarge(this.limit))
    this.leavePlace = placeOf(owner)
    this.pieces = request.stream()[Symbol.asyncIterator]()
    this.timeout = timeout
    this.hears = hears
    const { expire } = timeout
    timeout.expire = () => {
      expire()
      this.end(timeout.late())
    }
  }

  /** The reader that waits for the next piece gets this refusal. */
  end(refusal: Refusal): void {
    this.givenUp ??= refusal
    this.giveUp?.(this.givenUp)
  }

  /** Throws 10001 if the file is too large, breaks off or is too slow. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = await this.next()
      if (piece === undefined) return this.hears.end()
      this.hears.piece(piece)
      yield piece
    }
  }

  private async next(): Promise<Uint8Array | undefined> {
    const { timeout } = this
    timeout.at = performance.now() + limits.fileIdleMs
    timeout.late = bodyTooSlow
    const askedAt = performance.now()
    const { done, value } = await this.arrival()
    this.waitedMs += performance.now() - askedAt
    // The time for writing the piece does not count against its sender.
    timeout.at = performance.now() + limits.fileIdleMs
    timeout.late = unavailable
    if (done) {
      this.isOver = true
      return undefined
    }
    this.size += value.byteLength
    if (this.size > this.limit) throw tooLarge(this.limit)
    this.requireSpeed()
    return value
  }

  /** Counts only the time in which pieces are waited for. */
  private requireSpeed(): void {
    const { waitedMs, size, lookedAt } = this
    const { patienceMs, everyMs, leastBytes } = this.pace
    if (waitedMs > patienceMs && waitedMs - lookedAt.waitedMs < everyMs) return
    if (waitedMs > patienceMs && size - lookedAt.size < leastBytes) throw bodyTooSlow()
    this.lookedAt = { waitedMs, size }
  }

  /** Each piece is raced alone: a race with one promise for the whole file would keep every piece in memory. */
  private arrival(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      if (this.givenUp !== undefined) return reject(this.givenUp)
      this.giveUp = reject
      this.pieces.next().then(resolve, () => {
        this.isOver = true
        reject(brokenOff())
      })
    })
  }

  /** Drains a bounded rest. */
  async close(): Promise<void> {
    this.leavePlace()
    const until = performance.now() + drainedMs
    const most = this.size + limits.fileDrainedBytes
    try {
      while (!this.isOver && this.size < most && performance.now() < until) await this.next()
    } catch {
      // The file is refused anyway.
    }
    if (!this.isOver) void this.pieces.return?.()?.catch(() => {})
  }

  /** A part of the body may be left in its connection. */
  get isLeft(): boolean {
    return !this.isOver
  }
}

/** Throws 415. */
function fileTypeOf(request: HttpRequest, { takes = [] }: Operation): [string, string | null] {
  requireUncompressed(request)
  const [, type = '', parameters = ''] = /^\s*([^;\s]+)\s*(;.*)?$/.exec(request.header('content-type') ?? '') ?? []
  const mediaType = takes.find((taken) => taken === type.toLowerCase())
  if (mediaType === undefined) {
    const reason = { en: `must be ${takes.join(' or ')}`, zh: `必须是 ${takes.join(' 或 ')}` }
    throw invalidRequest([{ field: 'Content-Type', reason }], 415)
  }
  const [, charset = null] = /;\s*charset="?([\w.:-]+)"?\s*(?:;|$)/i.exec(parameters) ?? []
  return [mediaType, charset]
}

/** Throws 415 for a body that is neither JSON nor an accepted form. */
export function requireMediaType(request: HttpRequest, operation: Operation): 'form' | 'json' {
  requireUncompressed(request)
  const contentType = request.header('content-type')
  if (contentType === 'application/json') return 'json'
  if (operation.takesForm === true && contentType !== null && formMediaType.test(contentType)) return 'form'
  if (contentType !== null && jsonMediaType.test(contentType)) return 'json'
  const form = operation.takesForm ? ' or application/x-www-form-urlencoded' : ''
  const reason = { en: `must be application/json${form}, in UTF-8`, zh: `必须是 application/json${form}（UTF-8）` }
  throw invalidRequest([{ field: 'Content-Type', reason }], 415)
}

function requireUncompressed(request: HttpRequest): void {
  const encoding = request.header('content-encoding')
  if (encoding === null || encoding === 'identity') return
  const reason = { en: 'must be omitted: compressed bodies aren’t supported', zh: '不支持压缩的请求体' }
  throw invalidRequest([{ field: 'Content-Encoding', reason }], 415)
}

export function readJson(bytes: Uint8Array): unknown | Promise<unknown> {
  try {
    const value = parseJson(withoutMark(bytes))
    return value instanceof Promise ? value.catch(toRefusal) : value
  } catch (error) {
    return toRefusal(error)
  }
}

function toRefusal(error: unknown): never {
  throw jsonFault.is(error) ? bodyFault(error.detail) : error
}

/** A byte-order mark, as .NET and editors write it, is no part of the text (RFC 8259 §8.1). */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

const formDecoder = new TextDecoder('utf-8', { fatal: true })

/** Throws 10001, also for bytes that are not UTF-8: a parser would put replacements into them. */
export function readForm(bytes: Uint8Array): Record<string, string> {
  const form: Record<string, string> = {}
  const text = textOfForm(bytes)
  const [undecoded] = undecodable(text)
  if (undecoded !== undefined) throw invalidRequest([{ field: undecoded, reason: notUtf8 }])
  for (const [member, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(form, member)) {
      throw invalidRequest([{ field: member, reason: { en: 'appears twice', zh: '重复给出' } }])
    }
    Object.defineProperty(form, member, { value, enumerable: true })
  }
  return form
}

function textOfForm(bytes: Uint8Array): string {
  try {
    return formDecoder.decode(bytes)
  } catch {
    throw bodyFault({ en: 'must be UTF-8', zh: '必须是 UTF-8 编码' })
  }
}

function bodyFault(reason: Reason, status?: number): Refusal {
  return invalidRequest([{ field: 'body', reason }], status)
}

function brokenOff(): Refusal {
  return bodyFault({ en: 'was incomplete', zh: '传输中断' })
}

export function bodyTooSlow(): Refusal {
  return closing(bodyFault({ en: 'didn’t arrive in time', zh: '未在规定时间内到达' }, 408))
}

function evicted(): Refusal {
  return closing(unavailable())
}

/** So that the rest of the body need not be read. */
function closing(refusal: Refusal): Refusal {
  refusal.headers.connection = 'close'
  return refusal
}

function lengthTwice(): Refusal {
  return closing(invalidRequest([{ field: 'Content-Length', reason: { en: 'appears twice', zh: '重复给出' } }]))
}

function tooLarge(limit: number): Refusal {
  return bodyFault({ en: `is larger than ${limit} bytes`, zh: `超过 ${limit} 字节` }, 413)
}
