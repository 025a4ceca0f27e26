import { useSyncExternalStore } from 'react'

// A saved view that is applied changes the address and the choice of columns together; the page begins anew with both.

let applied = 0
const listeners = new Set<() => void>()

export function noteApplied(): void {
  applied++
  for (const listener of listeners) listener()
}

/** How many views have been applied: a key of the page. */
export function useAppliedViews(): number {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => applied,
  )
}
