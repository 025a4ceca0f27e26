import { eventWords, platformEventWords } from '../../../src/vocabulary/event-types.ts'
import { type Language, useLanguage } from '../language/index.ts'

const words: Record<string, Record<Language, string>> = {
  ...eventWords,
  ...platformEventWords,
  test: { en: 'Test', zh: '测试' },
}

/** Returns the words of an event type; the type itself if this console does not know it yet. */
export function useTypeWords(): (type: string) => string {
  const language = useLanguage()
  return (type) => (Object.hasOwn(words, type) ? (words[type]?.[language] ?? type) : type)
}
