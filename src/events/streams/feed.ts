import type { EventRecord } from '../contract.ts'
import { eventBlock } from './blocks.ts'
import type { EventStream } from './event-stream.ts'

/** An event in the form in which it is sent, with what filters look at. */
export interface Entry {
  id: number
  type: string
  subject: string | null
  block: Uint8Array
  readAt: number
}

/** The most events, and their bytes, that a feed keeps for readers that are a little behind. */
const keptEntries = 512
const keptBytes = 256 * 1024
/** How long they are kept: what is erased from the log must not stay here. */
const keptMs = 5_000

/** The newest events of one application, as far as this process has read them for its streams. */
export class Feed {
  readonly appId: string
  readonly streams = new Set<EventStream>()
  /** How many streams use it, or are about to. */
  users = 0
  /** The id up to which the log was read. */
  head: number
  /** The kept events are all those after this id. */
  start: number
  readonly entries: Entry[] = []
  private bytes = 0

  constructor(appId: string, head: number) {
    this.appId = appId
    this.head = head
    this.start = head
  }

  /** Takes the events that follow the head, and passes them on to the streams; the log was read up to `through`. */
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

  /** Begins again at a head that is behind: the database has lost what followed it. */
  restartAt(head: number): void {
    this.entries.length = 0
    this.bytes = 0
    this.head = head
    this.start = head
  }

  /** Forgets old events. A stream that still needs them reads them from the log. */
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

  /** The index of the first kept event after an id. Streams are nearly always at the end. */
  indexAfter(id: number): number {
    let index = this.entries.length
    while (index > 0 && (this.entries[index - 1] as Entry).id > id) index--
    return index
  }
}
