import { signal } from './signal.ts'
import { store, stored } from './storage.ts'

export type Shade = 'light' | 'dark' | 'system'

const storageKey = 'forecourt.shade'

export const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

/** The chosen shade; without a choice, the system's. */
export const shade = signal((stored(storageKey) as Shade | null) ?? 'system')

export function chooseShade(chosen: Shade): void {
  store(storageKey, chosen)
  shade.set(chosen)
}

export const isDarkIn = (shown: Shade, isSystemDark: boolean): boolean =>
  shown === 'dark' || (shown === 'system' && isSystemDark)

/** The style sheets read it from the document. */
export function applyShade(isDark: boolean): void {
  document.documentElement.dataset.shade = isDark ? 'dark' : 'light'
}
