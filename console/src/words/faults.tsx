import { useLanguage } from '../language/index.ts'
import { memberWord } from './sentences.ts'

interface FaultsProps {
  errors: readonly { field: string; reason: string }[] | null
  /** Whether the members are columns of a file, whose names stand beside their words. */
  areColumns?: boolean
}

/** The faulty members of a refusal: what each is called, and the service's reason. */
export function Faults({ errors, areColumns = false }: FaultsProps) {
  const language = useLanguage()
  return (errors ?? []).map(({ field, reason }) => {
    const word = memberWord(field, language)
    return (
      <div key={`${field} ${reason}`}>
        <span title={field}>{word}</span>
        {areColumns && word !== field && <span className="mono faint"> {field}</span>}
        {language === 'zh' ? '：' : ': '}
        {reason}
      </div>
    )
  })
}
