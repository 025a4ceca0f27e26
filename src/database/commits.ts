import type { Statements } from './open.ts'

// Tells, within a process, which applications' logs have new events, once they can be read: a process that writes events
// is the first that can act on them, and the write path pays nothing for it.

type Listener = (appIds: Iterable<string>) => void

/** Of transactions that are not committed yet: the applications whose logs they have written. */
const written = new WeakMap<object, Set<string>>()
const listeners = new Set<Listener>()

/** Hears of every commit of this process that wrote events. Returns what ends that. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notes that a statement wrote events: told at once, or with the commit of the transaction that it belongs to. */
export function noteEvents(sql: Statements, appIds: Iterable<string>): void {
  const waiting = written.get(sql)
  if (waiting === undefined) tell(appIds)
  else for (const appId of appIds) waiting.add(appId)
}

/** Collects what a transaction notes. Returns what tells it, for after the commit. */
export function collectEvents(tx: Statements): () => void {
  const waiting = new Set<string>()
  written.set(tx, waiting)
  return () => {
    if (waiting.size > 0) tell(waiting)
  }
}

function tell(appIds: Iterable<string>): void {
  for (const listener of listeners) listener(appIds)
}
