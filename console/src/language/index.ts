import { useSyncExternalStore } from 'react'
import type { Values } from '../../../src/vocabulary/fill.ts'
import { store } from '../browser/storage.ts'
import { firstLanguage, type Language, languageKey, showLanguage } from './first.ts'
import { readerOf } from './reader.ts'

export type { Language }

let chosen = firstLanguage()
const listeners = new Set<() => void>()
showLanguage(chosen)

export function language(): Language {
  return chosen
}

export function chooseLanguage(now: Language): void {
  store(languageKey, now)
  chosen = now
  showLanguage(now)
  for (const listener of listeners) listener()
}

function listen(tell: () => void): () => void {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

/** The current language, for a component that must render again when it changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(listen, language)
}

/**
 * Declares the texts of one part of the console in both languages; a missing text is a type error.
 * Returns the hook that reads them.
 */
export function defineTexts<const En extends Record<string, string>>(en: En, zh: Record<keyof En, string>) {
  const readers = { en: readerOf(en), zh: readerOf(zh) }
  return (): ((key: keyof En & string, values?: Values) => string) => readers[useLanguage()]
}
