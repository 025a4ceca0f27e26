import { useState } from 'react'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { useRead } from '../api/api.ts'
import { useSession } from '../api/session.tsx'
import { Note } from '../ui/page/note.tsx'
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
      <section className="card form-width">
        <h2>{t('password')}</h2>
        <p className="faint">{t('isKey')}</p>
      </section>
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
