import type { ReactNode } from 'react'
import { useCommon } from '../../language/index.ts'

interface FactsProps {
  facts: Record<string, ReactNode>
  /** In a frame, with the names beside it. */
  isFramed?: boolean
  /** In two columns, where there is room. */
  isWide?: boolean
}

/** A list of names and values; a dash for a missing value. */
export function Facts({ facts, isFramed = false, isWide = false }: FactsProps) {
  const t = useCommon()
  const isKnown = (value: ReactNode) => value !== null && value !== undefined && value !== '' && value !== false
  return (
    <dl className={`facts ${isFramed ? 'facts-framed' : ''} ${isWide ? 'facts-wide' : ''}`}>
      {Object.entries(facts).map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{isKnown(value) ? value : <span className="faint">{t('unknown')}</span>}</dd>
        </div>
      ))}
    </dl>
  )
}
