import type { Live } from '../../http/message.ts'
import type { EventRecord } from '../contract.ts'
import { eventBlock, heartbeatBlocks, openingBlocks } from './blocks.ts'
import type { Entry, Feed } from './feed.ts'

/** Null fields don't narrow the stream. */
export interface StreamFilter {
  types: ReadonlySet<string> | null
  subject: string | null
}

export interface StreamParts {
  feed: Feed
  filter: StreamFilter
  position: number
  /** Reads up to `rows` events that pass the filter, after one ID and up to another. */
  readBehind(afterId: number, throughId: number, rows: number): Promise<EventRecord[]>
  onSent(events: number): void
  /** Called once, when the stream has ended. */
  onClose(): void
}

/** A reader that is behind gets at most this many events from the log at once. */
const mostBehindRows = 40
/** Limits the blocks sent together, and so what a slow reader holds in memory. */
const pieceBytes = 32 * 1024
const heartbeatMs = 15_000
const readAgainMs = 500

/** In the place of the last piece, when that was passed on. */
const sent = new Uint8Array()

/** One reader's events, pulled by its connection, so that nothing is kept for a slow reader. */
export class EventStream implements Live {
  /** Events up to this ID were passed on or left out. */
  position: number
  /** Closes the connection of a reader that takes nothing. */
  readonly cut = new AbortController()
  private readonly parts: StreamParts
  private lastAt = performance.now()
  private hasBegun = false
  private isReading = false
  /** How many events the next read of the log asks for: those that don’t fit into a piece are read in vain. */
  private behindRows = mostBehindRows
  private isOver = false
  private lastPiece: Uint8Array | undefined
  /** Undefined while the connection sends the previous piece. */
  private pass: ((piece: Uint8Array | null) => void) | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(parts: StreamParts) {
    this.parts = parts
    this.position = parts.position
    parts.feed.streams.add(this)
  }

  pull(take: (piece: Uint8Array | null) => void): void {
    this.pass = take
    if (this.isOver || this.lastPiece === sent) this.close()
    else this.offer()
  }

  offer(): void {
    if (this.pass === undefined) return
    const { lastPiece } = this
    if (lastPiece !== undefined) {
      this.lastPiece = sent
      this.give(lastPiece)
    } else if (!this.hasBegun) {
      this.hasBegun = true
      this.give(openingBlocks(this.position))
    } else if (this.position < this.parts.feed.start) void this.readBehind()
    else {
      const piece = this.takeFromFeed()
      if (piece !== undefined) this.give(piece)
    }
  }

  /** Shows proxies and the reader, after a pause, that the stream is open and how far it is. */
  beat(now: number): void {
    if (this.pass !== undefined && now - this.lastAt >= heartbeatMs) this.give(heartbeatBlocks(this.position))
  }

  /** Ends the stream with a last piece, or without it if the reader is too slow. */
  end(lastPiece: Uint8Array, withinMs: number): void {
    if (this.isOver || this.lastPiece !== undefined) return
    this.lastPiece = lastPiece
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.cut.abort(), withinMs)
    this.offer()
  }

  close(): void {
    const { pass } = this
    this.pass = undefined
    if (!this.isOver) {
      this.isOver = true
      clearTimeout(this.timer)
      this.parts.feed.streams.delete(this)
      this.parts.onClose()
    }
    pass?.(null)
  }

  private give(piece: Uint8Array): void {
    const { pass } = this
    this.pass = undefined
    this.lastAt = performance.now()
    pass?.(piece)
  }

  private takeFromFeed(): Uint8Array | undefined {
    const { feed } = this.parts
    // A position ahead of the log waits.
    if (this.position >= feed.head) return undefined
    const { entries } = feed
    let index = feed.indexAfter(this.position)
    const newest = entries.at(-1)
    // Nearly always one event is new.
    if (newest !== undefined && index === entries.length - 1) {
      this.position = feed.head
      if (!this.isWanted(newest)) return undefined
      this.parts.onSent(1)
      return newest.block
    }
    const piece = new Piece()
    for (; index < entries.length; index++) {
      const entry = entries[index] as Entry
      if (this.isWanted(entry) && !piece.add(entry.block)) return this.count(piece)
      this.position = entry.id
    }
    this.position = feed.head
    return this.count(piece)
  }

  private isWanted({ type, subject }: Entry): boolean {
    const { filter } = this.parts
    return (filter.types === null || filter.types.has(type)) && (filter.subject === null || filter.subject === subject)
  }

  private async readBehind(): Promise<void> {
    if (this.isReading) return
    this.isReading = true
    const through = this.parts.feed.head
    try {
      const events = await this.parts.readBehind(this.position, through, this.behindRows)
      this.isReading = false
      // The stream may have ended meanwhile.
      if (this.pass !== undefined && this.lastPiece === undefined) this.takeFromLog(events, through)
      else this.offer()
    } catch {
      // A lost access is reported by the watch; an unavailable database comes back.
      this.isReading = false
      if (this.isOver || this.lastPiece !== undefined) return
      clearTimeout(this.timer)
      this.timer = setTimeout(() => this.offer(), readAgainMs * (1 + Math.random()))
    }
  }

  private takeFromLog(events: readonly EventRecord[], through: number): void {
    const piece = new Piece()
    for (const event of events) {
      if (!piece.add(eventBlock(event))) break
      this.position = event.id
    }
    const fits = piece.count === events.length
    if (fits && events.length < this.behindRows) this.position = Math.max(this.position, through)
    this.behindRows = fits ? Math.min(2 * this.behindRows, mostBehindRows) : piece.count + 1
    const bytes = this.count(piece)
    if (bytes === undefined) this.offer()
    else this.give(bytes)
  }

  private count(piece: Piece): Uint8Array | undefined {
    if (piece.count > 0) this.parts.onSent(piece.count)
    return piece.bytes
  }
}

/** Blocks sent together. A single one isn't copied, because all readers share it. */
class Piece {
  count = 0
  private readonly blocks: Uint8Array[] = []
  private size = 0

  /** Returns false if the block must wait for the next piece. */
  add(block: Uint8Array): boolean {
    if (this.count > 0 && this.size + block.byteLength > pieceBytes) return false
    this.blocks.push(block)
    this.size += block.byteLength
    this.count++
    return true
  }

  get bytes(): Uint8Array | undefined {
    return this.count > 1 ? Buffer.concat(this.blocks) : this.blocks[0]
  }
}
