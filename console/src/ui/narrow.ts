import { useSyncExternalStore } from 'react'

// As the style sheet has it.
const narrow = matchMedia('(max-width: 640px)')

/** Whether the window is a phone's, or as narrow as one. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (tell) => {
      narrow.addEventListener('change', tell)
      return () => narrow.removeEventListener('change', tell)
    },
    () => narrow.matches,
  )
}
