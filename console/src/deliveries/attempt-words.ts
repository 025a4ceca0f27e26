import { useLanguage } from '../language/index.ts'
import { attemptWords } from './failure-words.ts'

/** Why an attempt failed, in the reader's words, with the code by which an engineer finds more. */
export function useAttemptWords(): (error: string) => string {
  const language = useLanguage()
  return (error) => attemptWords(error, language)
}
