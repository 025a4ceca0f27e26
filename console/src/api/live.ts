import { useEffect, useRef, useSyncExternalStore } from 'react'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { blocksOf, Reconnects } from '../../../sdk/src/event-stream.ts'
import { exchange } from '../../../sdk/src/exchange.ts'
import type { FileAnswer } from '../../../sdk/src/file.ts'
import { streamEvents } from '../../../src/events/contract.ts'

// The tab's stream of events: at most one, for the application of the page that is shown. An event says only that
// something has changed: the page then reads its data again. Without a stream, pages poll.

/** A hidden tab keeps its stream for this long. */
const hiddenMs = 30_000
/** The page reads its data at most this often. */
const readEveryMs = 1_000
/** Events that come within this time are answered by one read. */
const gatherMs = 100
/** How long to wait after a page has gone: the next one is often about the same application. */
const settleMs = 200
/** When to try again after a refusal that a retry may not change, such as too many streams. */
const refusedMs = 30_000

interface Reader {
  appId: string
  read: () => void
}

interface Stream {
  appId: string
  abort: AbortController
  isOpen: boolean
}

const readers = new Set<Reader>()
const watchers = new Set<() => void>()
let stream: Stream | undefined
let isAway = false
let settling: ReturnType<typeof setTimeout> | undefined
let leaving: ReturnType<typeof setTimeout> | undefined
let reading: ReturnType<typeof setTimeout> | undefined
let readAt = Number.NEGATIVE_INFINITY

/**
 * Calls `read` when something of the application may have changed, at most once a second. Returns whether the tab has a
 * stream of the application: if not, the caller polls.
 */
export function useLive(appId: string, read: () => void): boolean {
  const latest = useRef(read)
  useEffect(() => {
    latest.current = read
  })
  useEffect(() => {
    if (appId === '') return
    const reader = { appId, read: () => latest.current() }
    readers.add(reader)
    settleSoon()
    return () => {
      readers.delete(reader)
      settleSoon()
    }
  }, [appId])
  return useSyncExternalStore(watch, () => stream?.isOpen === true && stream.appId === appId)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

function tell(): void {
  for (const watcher of watchers) watcher()
}

function settleSoon(): void {
  if (settling !== undefined) return
  settling = setTimeout(() => {
    settling = undefined
    settle()
  }, settleMs)
}

/** Opens and closes the stream, so that it is that of the page. */
function settle(): void {
  const [first] = readers
  const appId = isAway ? undefined : first?.appId
  if (stream?.appId === appId) return
  stream?.abort.abort()
  stream = undefined
  if (appId !== undefined) {
    stream = { appId, abort: new AbortController(), isOpen: false }
    void follow(stream)
  }
  tell()
}

function heedVisibility(): void {
  clearTimeout(leaving)
  if (document.hidden) {
    leaving = setTimeout(() => {
      isAway = true
      settle()
    }, hiddenMs)
    return
  }
  if (!isAway) return
  isAway = false
  settle()
  readSoon()
}

document.addEventListener('visibilitychange', heedVisibility)
// A tab that was opened in the background is told nothing.
heedVisibility()

/** Reads the stream over any number of connections. */
async function follow(own: Stream): Promise<void> {
  const { signal } = own.abort
  const reconnects = new Reconnects()
  while (!signal.aborted) {
    const isRefused = await followOnce(own, reconnects).then(
      () => false,
      (error: unknown) => error instanceof ForecourtError && error.status >= 400 && error.status < 500,
    )
    own.isOpen = false
    if (signal.aborted) return
    tell()
    const pauseMs = reconnects.next()
    await new Promise((resolve) => setTimeout(resolve, isRefused ? refusedMs : pauseMs))
  }
}

/** Reads the stream until its connection ends. Throws the service’s refusal. */
async function followOnce(own: Stream, reconnects: Reconnects): Promise<void> {
  const { appId, abort } = own
  const operation = { ...streamEvents, answers: ['text/event-stream'] }
  const options = { operation: streamEvents.id, signal: abort.signal }
  const { data } = await exchange('', operation, { appId }, options)
  own.isOpen = true
  tell()
  // What happened before the stream began.
  readSoon()
  for await (const { event, retry } of blocksOf(data as FileAnswer)) {
    reconnects.succeeded()
    if (retry !== undefined) reconnects.heed(retry)
    if (event !== undefined && event !== 'closed') readSoon()
  }
}

function readSoon(): void {
  if (reading !== undefined) return
  const run = () => {
    reading = undefined
    readAt = performance.now()
    for (const { appId, read } of readers) if (appId === stream?.appId) read()
  }
  reading = setTimeout(run, Math.max(gatherMs, readAt + readEveryMs - performance.now()))
}
