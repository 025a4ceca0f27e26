import { useSyncExternalStore } from 'react'

// The same width as in the style sheet.
const narrow = matchMedia('(max-width: 640px)')

/** Whether the window is as narrow as a phone's. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (tell) => {
      narrow.addEventListener('change', tell)
      return () => narrow.removeEventListener('change', tell)
    },
    () => narrow.matches,
  )
}
