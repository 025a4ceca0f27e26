import { fill, type Values } from '../../../src/vocabulary/fill.ts'

/** A text in both languages. */
export type Text = readonly [en: string, zh: string]

/** Returns the function that reads texts of one language, with their values put in. */
export function readerOf(texts: Record<string, Text>, language: 'en' | 'zh') {
  const place = language === 'en' ? 0 : 1
  return (key: string, values?: Values): string => {
    const text = texts[key]?.[place] ?? key
    return values === undefined ? text : fill(text, values)
  }
}
