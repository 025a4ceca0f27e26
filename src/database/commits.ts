import type { Statements } from './open.ts'

// Reports, within a process, which applications have new events that can be read. The process that writes an event is
// the first that can deliver it, and the write path pays nothing for the report.

type Listener = (appIds: Iterable<string>) => void

/** The applications whose events a transaction has written, until it commits. */
const written = new WeakMap<object, Set<string>>()
const listeners = new Set<Listener>()

/** Calls the listener after every commit of this process that wrote events. Returns the function that removes it. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Reports that a statement wrote events: at once, or after the commit of the transaction that it belongs to. */
export function noteEvents(sql: Statements, appIds: Iterable<string>): void {
  const waiting = written.get(sql)
  if (waiting === undefined) tell(appIds)
  else for (const appId of appIds) waiting.add(appId)
}

/** Collects what the transaction's statements report. Returns the function that passes it on after the commit. */
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
