import type { EventRecord } from '../contract.ts'
import { eventBlock } from './blocks.ts'
import type { EventStream } from './event-stream.ts'

export interface Entry {
  id: number
  type: string
  subject: string | null
  block: Uint8Array
  readAt: number
}

/** Limits what a feed keeps for readers that are a little behind. */
const keptEntries = 512
const keptBytes = 256 * 1024
/** Erased events must not stay here for longer. */
const keptMs = 5_000

/** The latest events of one application that this process has read for its streams. */
export class Feed {
  readonly appId: string
  readonly streams = new Set<EventStream>()
  users = 0
  /** The log was read up to this ID. */
  head: number
  /** All events after this ID are kept. */
  start: number
  readonly entries: Entry[] = []
  private bytes = 0

  constructor(appId: string, head: number) {
    this.appId = appId
    this.head = head
    this.start = head
  }

  /** Adds events after the head and passes them to the streams; the log was read up to `through`. */
  add(events: readonly { event: EventRecord; subject: string | null }[], through: number, now: number): void {
    for (const { event, subject } of events) {
      const block = eventBlock(event)
      this.entries.push({ id: event.id, type: event.type, subject, block, readAt: now })
      this.bytes += block.byteLength
      this.head = event.id
    }
    this.head = Math.max(this.head, through)
    for (const stream of this.streams) stream.offer()
    this.trim(now)
  }

  /** Restarts at an earlier head, after the database lost what followed it. */
  restartAt(head: number): void {
    this.entries.length = 0
    this.bytes = 0
    this.head = head
    this.start = head
  }

  /** Forgets old events, which a stream can still read from the log. */
  trim(now: number): void {
    let gone = 0
    for (const { id, block, readAt } of this.entries) {
      const isKept = this.entries.length - gone <= keptEntries && this.bytes <= keptBytes && now - readAt <= keptMs
      if (isKept) break
      this.bytes -= block.byteLength
      this.start = id
      gone++
    }
    if (gone > 0) this.entries.splice(0, gone)
  }

  /** Returns the index of the first kept event after an ID, nearly always at the end. */
  indexAfter(id: number): number {
    let index = this.entries.length
    while (index > 0 && (this.entries[index - 1] as Entry).id > id) index--
    return index
  }
}
