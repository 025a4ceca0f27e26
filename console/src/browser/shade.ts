import { store, stored } from './storage.ts'

export type Shade = 'light' | 'dark' | 'system'

const storageKey = 'forecourt.shade'

export const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

/** The chosen shade; without a choice, the system's. */
export const firstShade = (): Shade => (stored(storageKey) as Shade | null) ?? 'system'

export function storeShade(shade: Shade): void {
  store(storageKey, shade)
}

export const isDarkIn = (shade: Shade): boolean => shade === 'dark' || (shade === 'system' && systemIsDark.matches)

/** The style sheets read it from the document. */
export function applyShade(isDark: boolean): void {
  document.documentElement.dataset.shade = isDark ? 'dark' : 'light'
}
