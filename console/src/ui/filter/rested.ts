import { useEffect, useState, useSyncExternalStore } from 'react'
import { isComposing, whenComposing } from '../../browser/composing.ts'

/** Whether a word is being composed. */
export const useIsComposing = (): boolean => useSyncExternalStore(whenComposing, isComposing)

/** A typed text, once it has not changed for a moment and is no unfinished word. */
export function useRested(text: string, restMs: number): string {
  const [rested, setRested] = useState(text)
  const isUnfinished = useIsComposing()
  useEffect(() => {
    if (isUnfinished) return
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text, isUnfinished, restMs])
  return rested
}
