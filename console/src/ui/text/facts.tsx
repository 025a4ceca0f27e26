import { Descriptions } from 'antd'
import type { ReactNode } from 'react'
import { useCommon } from '../../language/index.ts'

/** A list of names and values; a dash for a missing value. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const t = useCommon()
  const isKnown = (value: ReactNode) => value !== null && value !== undefined && value !== '' && value !== false
  return (
    <Descriptions
      size="small"
      column={1}
      colon={false}
      styles={{ label: { width: 132, flex: 'none' }, content: { overflowWrap: 'anywhere' } }}
      items={Object.entries(facts).map(([label, value]) => ({
        key: label,
        label,
        children: isKnown(value) ? value : <span className="faint">{t('unknown')}</span>,
      }))}
    />
  )
}
