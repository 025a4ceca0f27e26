import { useState } from 'react'
import { schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { useMay } from '../api/api.ts'
import { HinderedButton } from '../ui/form/hindered-button.tsx'
import { part } from '../ui/page/part.tsx'
import { grouped } from '../ui/text/number.ts'
import type { Subject } from './other-rules.tsx'
import { useTexts } from './texts.ts'

const OtherRules = part(async () => (await import('./other-rules.tsx')).OtherRules)

interface OtherRulesButtonProps {
  /** The application that the list shows; empty for all. */
  appId: string
  /** The chosen sites; if none are chosen, all sites that the filters match. */
  chosen: readonly { appId: string; id: number }[]
  filters: Record<string, string>
  onDone: () => void
}

/**
 * The button next to the list of sites: other rules from a moment on, for the selection or for all sites that match.
 */
export function OtherRulesButton({ appId, chosen, filters, onDone }: OtherRulesButtonProps) {
  const t = useTexts()
  const may = useMay()
  const [asked, setAsked] = useState<{ appId: string; subject: Subject }>()
  if (!may(schedulePriceChange)) return null
  const owners = new Set(chosen.map((site) => site.appId))
  const owner = chosen.length === 0 ? appId : (chosen[0]?.appId ?? '')
  const why =
    owners.size > 1
      ? t('oneApplication')
      : owner === ''
        ? t('needsApplication')
        : chosen.length > limits.batchRows
          ? t('tooManySites', { most: grouped(limits.batchRows) })
          : undefined
  const subject = chosen.length === 0 ? { filters } : { ids: chosen.map(({ id }) => id) }
  return (
    <>
      <HinderedButton why={why} onClick={() => setAsked({ appId: owner, subject })}>
        {t('otherRulesFrom')}
      </HinderedButton>
      {asked && (
        <OtherRules
          {...asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined)
            onDone()
          }}
        />
      )}
    </>
  )
}
