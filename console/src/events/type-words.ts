import { eventWords, platformEventWords } from '../../../src/vocabulary/event-types.ts'
import { type Language, useLanguage } from '../language/index.ts'

const words: Record<string, Record<Language, string>> = {
  ...eventWords,
  ...platformEventWords,
  test: { en: 'Test', zh: '测试' },
}

/** The words of a type of event; a type that this console does not know yet by its own name. */
export function useTypeWords(): (type: string) => string {
  const language = useLanguage()
  return (type) => (Object.hasOwn(words, type) ? (words[type]?.[language] ?? type) : type)
}
