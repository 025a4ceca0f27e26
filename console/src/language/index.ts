import i18next from 'i18next'
import { initReactI18next, useTranslation } from 'react-i18next'

export type Language = 'en' | 'zh'

const storageKey = 'forecourt.language'

function firstLanguage(): Language {
  const chosen = localStorage.getItem(storageKey) ?? navigator.language
  return chosen.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

void i18next.use(initReactI18next).init({
  lng: firstLanguage(),
  fallbackLng: 'en',
  keySeparator: false,
  nsSeparator: false,
  resources: {},
  interpolation: { escapeValue: false },
})
showLanguage()

export function language(): Language {
  return i18next.language === 'zh' ? 'zh' : 'en'
}

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
  void i18next.changeLanguage(chosen).then(showLanguage)
}

function showLanguage(): void {
  document.documentElement.lang = language() === 'zh' ? 'zh-CN' : 'en'
}

type Values = Record<string, string | number>

/**
 * Declares the texts of one part of the console in both languages; a text that one of them lacks is a type error.
 * Answers the hook that reads them. `{{name}}` in a text is replaced by the value of that name.
 */
export function defineTexts<const En extends Record<string, string>>(
  part: string,
  en: En,
  zh: Record<keyof En, string>,
) {
  i18next.addResourceBundle('en', part, en)
  i18next.addResourceBundle('zh', part, zh)
  return function useTexts(): (key: keyof En & string, values?: Values) => string {
    const { t } = useTranslation(part)
    return (key, values) => (t as (key: string, values?: Values) => string)(key, values)
  }
}

/** The current language, for a component that must show itself anew when it changes. */
export function useLanguage(): Language {
  const { i18n } = useTranslation()
  return i18n.language === 'zh' ? 'zh' : 'en'
}
