import { useState } from 'react'
import type { OperatorRecord } from '../../../src/people/operators/contract.ts'
import { unlinkSignOn } from '../../../src/people/sign-on/contract.ts'
import { useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button } from '../ui/page/button.tsx'
import { Card } from '../ui/page/page.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { addressOfSignOn } from './sign-on.ts'
import { useTexts } from './texts.ts'

interface SignOnLinkProps {
  /** What single sign-on is called. */
  name: string
  isLinked: boolean
  /** Whether the provider made the account. */
  isManaged: boolean
}

/** The link of one's own account to the provider. */
export function SignOnLink({ name, isLinked: wasLinked, isManaged }: SignOnLinkProps) {
  const t = useTexts()
  const unlink = useWrite(unlinkSignOn)
  const [unlinked, setUnlinked] = useState<OperatorRecord>()
  const [isLeaving, setLeaving] = useState(false)
  const [error, setError] = useState<Error>()
  const isLinked = unlinked?.isLinked ?? wasLinked

  async function link(): Promise<void> {
    setLeaving(true)
    setError(undefined)
    try {
      location.assign(await addressOfSignOn({ purpose: 'link', returnTo: paths.account() }))
    } catch (refusal) {
      setError(refusal as Error)
      setLeaving(false)
    }
  }

  const words = isManaged ? t('managed', { name }) : isLinked ? t('linked', { name }) : t('linkWords', { name })
  return (
    <Card title={t('signOn')}>
      <RefusalAlert error={error} />
      <p>{words}</p>
      {!isManaged && (
        <div className="buttons">
          {isLinked ? (
            <ConfirmButton
              title={t('unlinkTitle', { name })}
              verb={t('unlink')}
              isDangerous
              run={async () => {
                setUnlinked(await unlink.mutateAsync({ input: {} }))
                showSuccess(t('unlinked', { name }))
              }}
            >
              <p>{t('unlinkWords', { name })}</p>
            </ConfirmButton>
          ) : (
            <Button loading={isLeaving} onClick={() => void link()}>
              {t('link', { name })}
            </Button>
          )}
        </div>
      )}
    </Card>
  )
}
