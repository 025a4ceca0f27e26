import type { Caller } from '../../callers/caller.ts'
import { type Rounds, startRounds } from '../../runtime/loop.ts'
import type { Peers } from '../../runtime/peer-processes.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type Reason, Refusal, tooManyRequests, unavailable } from '../../vocabulary/refusals.ts'
import { closedBlock, farewellBlocks } from './blocks.ts'
import { EventStream, type StreamParts } from './event-stream.ts'
import type { Feed } from './feed.ts'
import type { LogReader } from './log-reader.ts'

const beatMs = 500
/** A reader that has lost access has this long to read why. */
const lastWordsMs = 3_500
/** A reader of a stopping process has this long. */
const farewellMs = 800

interface OpenStream extends Omit<StreamParts, 'feed' | 'position' | 'onSent' | 'onClose'> {
  caller: Caller
  appId: string
  /** Null means after the latest event. */
  position: number | null
  language: keyof Reason
  signal: AbortSignal
  watchAccess(onLoss: (refusal: Refusal) => void): () => void
}

export class Streams {
  sent = 0
  private taken = 0
  private readonly open = new Map<EventStream, keyof Reason>()
  private readonly reader: LogReader
  private readonly peers: Peers
  private rounds: Rounds | undefined
  private isStopping = false

  constructor(reader: LogReader, peers: Peers) {
    this.reader = reader
    this.peers = peers
  }

  get count(): number {
    return this.open.size
  }

  /** Opens a stream, which keeps its places until closed. Throws 10007 and 50003. */
  async start(asked: OpenStream): Promise<EventStream> {
    if (this.isStopping) throw unavailable()
    const free = await this.takePlace(asked.caller)
    let feed: Feed | undefined
    try {
      feed = await this.reader.open(asked.appId)
      const position = asked.position ?? (await this.reader.newestId(asked.appId))
      if (this.isStopping || asked.signal.aborted) throw unavailable()
      return this.opened({ ...asked, feed, position }, free)
    } catch (error) {
      if (feed !== undefined) this.reader.close(feed)
      free()
      throw error
    }
  }

  private opened(asked: OpenStream & { feed: Feed; position: number }, free: () => void): EventStream {
    const { feed, language, signal } = asked
    const stream = new EventStream({
      ...asked,
      onSent: (events) => {
        this.sent += events
      },
      onClose: () => {
        endWatch()
        this.open.delete(stream)
        this.reader.close(feed)
        free()
        if (this.open.size === 0) this.rest()
      },
    })
    const endWatch = asked.watchAccess((refusal) => stream.end(closedBlock(refusal, language), lastWordsMs))
    signal.addEventListener('abort', () => stream.close(), { once: true })
    this.open.set(stream, language)
    this.rounds ??= startRounds(() => this.beat(), beatMs)
    return stream
  }

  /** Ends all streams when the process stops. */
  stop(): void {
    this.isStopping = true
    const refusal = new Refusal('unavailable')
    for (const [stream, language] of this.open) stream.end(farewellBlocks(refusal, language), farewellMs)
  }

  private beat(): void {
    const now = performance.now()
    for (const stream of this.open.keys()) stream.beat(now)
  }

  private rest(): void {
    void this.rounds?.stop()
    this.rounds = undefined
  }

  /** Takes a place of the process and one of the caller, over all processes. Returns the function that frees them. */
  private async takePlace(caller: Caller): Promise<() => void> {
    if (this.taken >= limits.streams) throw tooManyRequests()
    this.taken++
    const { owner, most } = ownerOf(caller)
    const key = `streams ${owner}`
    const isFree = await this.peers.claim(key, most).catch(() => false)
    if (!isFree) {
      this.taken--
      throw tooManyRequests()
    }
    return () => {
      this.taken--
      this.peers.release(key)
    }
  }
}

/** Returns whose streams count together: an application's, an operator key's, or a session's. */
function ownerOf(caller: Caller): { owner: string; most: number } {
  if (caller.kind === 'application') return { owner: `application ${caller.appId}`, most: limits.streamsOfOne }
  const { sessionId, operatorKeyId } = caller
  if (sessionId !== null) return { owner: `session ${sessionId}`, most: limits.streamsOfSession }
  return { owner: `key ${operatorKeyId ?? 'of the settings'}`, most: limits.streamsOfOne }
}
