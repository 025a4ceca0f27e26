import type { Client } from './client.ts'
import type { TestApplication } from './records.ts'
import { sleep } from './waits.ts'

/** A block of a stream: its fields, and its comments. */
interface Block {
  id?: string
  event?: string
  data?: string
  retry?: string
  comment?: string
  /** When it arrived, by `performance.now()`. */
  at: number
}

const path = '/api/event/v1/event/stream'

interface ReaderOptions {
  token?: string
  headers?: Record<string, string>
  query?: Record<string, string | number>
  /** Options of the runtime’s `fetch`. */
  init?: object
}

/** Reads a stream of events as the standard of server-sent events defines it, and keeps its blocks. */
export class EventReader {
  readonly blocks: Block[] = []
  readonly response: Response
  /** Resolves when the stream has ended; rejects when it was cut off. */
  readonly ended: Promise<void>
  isOver = false
  private readonly abort: AbortController
  private waiters: (() => void)[] = []

  private constructor(response: Response, abort: AbortController) {
    this.response = response
    this.abort = abort
    this.ended = this.read()
    this.ended.catch(() => {})
  }

  /** Opens a stream, whatever its status is. */
  static async open(url: string, { token, headers = {}, query = {}, init = {} }: ReaderOptions): Promise<EventReader> {
    const abort = new AbortController()
    const asked = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
    )
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}${path}?${asked}`, {
      ...init,
      headers: { ...authorization, ...headers },
      signal: abort.signal,
    })
    return new EventReader(response, abort)
  }

  get events(): Block[] {
    return this.blocks.filter(({ event }) => event !== undefined && event !== 'closed')
  }

  get ids(): number[] {
    return this.events.map(({ id }) => Number(id))
  }

  /** The position of the last block that has one. */
  get lastId(): string | undefined {
    return this.blocks.findLast(({ id }) => id !== undefined)?.id
  }

  get closed(): { code: number; msg: string } | undefined {
    const data = this.blocks.find(({ event }) => event === 'closed')?.data
    return data === undefined ? undefined : JSON.parse(data)
  }

  /** Resolves when the condition holds. Throws when the stream ends, or the time is over, before. */
  async until(isMet: () => boolean, withinMs = 20_000): Promise<void> {
    const deadline = performance.now() + withinMs
    while (!isMet()) {
      const leftMs = deadline - performance.now()
      if (this.isOver || leftMs <= 0) {
        throw new Error(`the stream ${this.isOver ? 'ended' : 'has'} with ${JSON.stringify(this.blocks.slice(-5))}`)
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  untilEvents(count: number, withinMs?: number): Promise<void> {
    return this.until(() => this.events.length >= count, withinMs)
  }

  close(): void {
    this.abort.abort()
  }

  private async read(): Promise<void> {
    try {
      const decoder = new TextDecoder()
      let rest = ''
      for await (const piece of this.response.body ?? []) {
        const texts = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
        rest = texts.pop() ?? ''
        for (const text of texts) this.blocks.push({ ...fieldsOf(text), at: performance.now() })
        this.wake()
      }
      if (rest !== '' && this.response.status === 200) throw new Error(`a block without its end: ${rest}`)
    } finally {
      this.isOver = true
      this.wake()
    }
  }

  private wake(): void {
    const { waiters } = this
    this.waiters = []
    for (const wake of waiters) wake()
  }
}

/** Follows the events as a program does that is told only where the service is: over any number of connections. */
export class Follower {
  isOver = false
  readonly done: Promise<void>
  private readonly taken: number[] = []
  private reader: EventReader | undefined

  constructor(urlOf: () => string, { token }: TestApplication, mostPauseMs = 300) {
    this.done = (async () => {
      while (!this.isOver) {
        const headers = { 'last-event-id': String(this.ids.at(-1) ?? 0) }
        const reader = await EventReader.open(urlOf(), { token, headers }).catch(() => undefined)
        if (reader !== undefined) {
          this.reader = reader
          while (!reader.isOver && !this.isOver) await reader.until(() => false, 100).catch(() => {})
          reader.close()
          await reader.ended.catch(() => {})
          this.reader = undefined
          this.taken.push(...reader.ids)
        }
        await sleep(Math.random() * mostPauseMs)
      }
    })()
  }

  get ids(): number[] {
    return [...this.taken, ...(this.reader?.ids ?? [])]
  }
}

/** The IDs that the feed lists, from the first. */
export async function listed(client: Client, { token }: TestApplication): Promise<number[]> {
  const ids: number[] = []
  for (;;) {
    const { list } = (await client.call('pageEvents', { afterId: ids.at(-1) ?? 0, pageSize: 100 }, { token })).data
    ids.push(...list.map(({ id }) => id))
    if (list.length < 100) return ids
  }
}

function fieldsOf(text: string): Omit<Block, 'at'> {
  const lines = text.split('\n').map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? []
    return [name === '' ? 'comment' : name, value]
  })
  return Object.fromEntries(lines)
}
