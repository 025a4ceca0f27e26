import { useSyncExternalStore } from 'react'
import type { Signal } from './signal.ts'

/** The value of a signal, for a component that must render again when it changes. */
export const useSignal = <Value>({ listen, get }: Signal<Value>): Value => useSyncExternalStore(listen, get)

/** Whether a media query fits. */
export function useMedia(media: MediaQueryList): boolean {
  return useSyncExternalStore(
    (tell) => {
      media.addEventListener('change', tell)
      return () => media.removeEventListener('change', tell)
    },
    () => media.matches,
  )
}
