import { stored } from '../browser/storage.ts'

export type Language = 'en' | 'zh'

/** The key under which the chosen language is stored. */
export const languageKey = 'forecourt.language'

/** The chosen language, or the browser's. */
export function firstLanguage(): Language {
  const known = stored(languageKey) ?? navigator.language
  return known.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export function showLanguage(language: Language): void {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}
