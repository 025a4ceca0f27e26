import { useSyncExternalStore } from 'react'

// Applying a saved view changes the address and the choice of columns together. The page is then rendered anew.

let applied = 0
const listeners = new Set<() => void>()

export function noteApplied(): void {
  applied++
  for (const listener of listeners) listener()
}

/** How many views have been applied; it is a part of the page's React key. */
export function useAppliedViews(): number {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => applied,
  )
}
