import type { Values } from '../../../src/vocabulary/fill.ts'
import { useSignal } from '../browser/hooks.ts'
import { signal } from '../browser/signal.ts'
import { store } from '../browser/storage.ts'
import { common } from './common.ts'
import { firstLanguage, type Language, languageKey, showLanguage } from './first.ts'
import { nouns } from './nouns.ts'
import { readerOf, type Text } from './reader.ts'

export type { Language, Text }

const chosen = signal(firstLanguage())
showLanguage(chosen.get())

export const language = chosen.get

export function chooseLanguage(now: Language): void {
  store(languageKey, now)
  showLanguage(now)
  chosen.set(now)
}

/** The current language, for a component that must render again when it changes. */
export const useLanguage = (): Language => useSignal(chosen)

const shared = { ...nouns, ...common }

/** Reads a text in the chosen language: one that the room declares, or a shared one. */
type Reader<Texts> = (key: (keyof Texts | keyof typeof shared) & string, values?: Values) => string

/**
 * Declares the texts of one part of the console, each in both languages; a missing one is a type error. Returns the hook
 * that reads them, and the words that rooms share. If a room has a text of its own with the name of a shared one, it
 * reads its own.
 */
export function defineTexts<const Texts extends Record<string, Text>>(texts: Texts): () => Reader<Texts> {
  const all = { ...shared, ...texts }
  const readers = { en: readerOf(all, 'en'), zh: readerOf(all, 'zh') }
  return () => readers[useLanguage()]
}

/** Reads the shared words alone. */
export const useCommon = defineTexts({})
