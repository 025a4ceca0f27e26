import { useState } from 'react'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { useRead, useSession } from '../api/api.ts'
import { Note } from '../ui/page/note.tsx'
import { Card } from '../ui/page/page.tsx'
import { SecondFactor } from './factors.tsx'
import { ShowFactor } from './show-factor.tsx'
import { useTexts } from './texts.ts'

interface AccessProps {
  /** Called when a session that was limited has got its factor, and the person has kept the recovery codes. */
  onWhole: () => void
}

/** One's second factors. A key has no account; a session that lacks its factor shows or sets one up first. */
export function Access({ onWhole }: AccessProps) {
  const t = useTexts()
  const { operatorId, isLimited } = useSession()
  // Kept from when this was opened, because the session stops being limited as soon as the first factor is set up.
  const [wasLimited] = useState(isLimited)
  const { data: factors } = useRead(getSecondFactors, {}, { enabled: operatorId !== null })
  // Also kept: a factor that is set up here must not be asked for while its recovery codes are shown for the only time.
  const [hadFactor, setHadFactor] = useState<boolean>()
  if (factors !== undefined && hadFactor === undefined) {
    setHadFactor(factors.totp !== null || factors.passkeys.length > 0)
  }
  const goOn = () => {
    if (wasLimited) onWhole()
  }
  if (operatorId === null) {
    return (
      <Card title={t('password')} className="form-width">
        <p className="faint">{t('isKey')}</p>
      </Card>
    )
  }
  if (isLimited && hadFactor && factors !== undefined) {
    return <ShowFactor factors={factors} onShown={goOn} />
  }
  return (
    <>
      {isLimited && <Note type="info" words={t('limitedSetUp')} />}
      <SecondFactor onFirst={goOn} />
    </>
  )
}
