import { useLanguage } from '../language/index.ts'
import { attemptWords } from './attempt-words.ts'

/** Why an attempt failed, in the user's language, with the code that helps an engineer. */
export function useAttemptWords(): (error: string) => string {
  const language = useLanguage()
  return (error) => attemptWords(error, language)
}
