import type { Statements } from './open.ts'

// Reports, within a process, which applications have new events: the process that writes an event can deliver it first.

type Listener = (appIds: Iterable<string>) => void

const written = new WeakMap<object, Set<string>>()
const listeners = new Set<Listener>()

/** Calls the listener after each commit of this process that wrote events. Returns the function that removes it. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Reports new events: immediately, or after the commit if the statement belongs to a transaction. */
export function noteEvents(sql: Statements, appIds: Iterable<string>): void {
  const waiting = written.get(sql)
  if (waiting === undefined) tell(appIds)
  else for (const appId of appIds) waiting.add(appId)
}

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
