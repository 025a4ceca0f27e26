import { useSyncExternalStore } from 'react'
import { firstLanguage, type Language, languageKey } from './first.ts'

export type { Language }

let chosen = firstLanguage()
const listeners = new Set<() => void>()
showLanguage()

export function language(): Language {
  return chosen
}

export function chooseLanguage(now: Language): void {
  localStorage.setItem(languageKey, now)
  chosen = now
  showLanguage()
  for (const listener of listeners) listener()
}

function showLanguage(): void {
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en'
}

function listen(tell: () => void): () => void {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

/** The current language, for a component that must render again when it changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(listen, language)
}

type Values = Record<string, string | number>

/**
 * Declares the texts of one part of the console in both languages; a missing text is a type error.
 * Returns the hook that reads them. `{{name}}` in a text is replaced by the value of that name.
 */
export function defineTexts<const En extends Record<string, string>>(en: En, zh: Record<keyof En, string>) {
  const readers = { en: readerOf(en), zh: readerOf(zh) }
  return (): ((key: keyof En & string, values?: Values) => string) => readers[useLanguage()]
}

function readerOf(texts: Record<string, string>) {
  return (key: string, values?: Values): string => {
    const text = texts[key] ?? key
    return values === undefined ? text : text.replace(/{{(\w+)}}/g, (_, name: string) => String(values[name] ?? ''))
  }
}
