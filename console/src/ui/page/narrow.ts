import { useMedia } from '../../browser/hooks.ts'

// The same width as in the style sheet.
const narrow = matchMedia('(max-width: 640px)')

/** Whether the window is as narrow as a phone's. */
export const useIsNarrow = (): boolean => useMedia(narrow)
