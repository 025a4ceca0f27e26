/** A value that others can follow. */
export interface Signal<Value> {
  get: () => Value
  set: (value: Value) => void
  /** Calls a function after each change. Returns what ends that. */
  listen: (tell: () => void) => () => void
}

export function signal<Value>(value: Value): Signal<Value> {
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(now) {
      if (now === value) return
      value = now
      for (const tell of listeners) tell()
    },
    listen(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
  }
}
