import { useState } from 'react'
import {
  type ApplicationRecord,
  endPreviousApplicationSecret,
  getApplication,
} from '../../../src/applications/contract.ts'
import { useMay, useReadTagged, useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button } from '../ui/page/button.tsx'
import { useTexts } from './texts.ts'

/** Until when the secret before the last rotation works, with a button that ends it. */
export function OldSecret({ application, until }: { application: ApplicationRecord; until: string }) {
  const t = useTexts()
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      {t('oldSecretUntil', { until })}{' '}
      {may(endPreviousApplicationSecret) && (
        <Button size="small" onClick={() => setAsking(true)}>
          {t('endOldSecret')}
        </Button>
      )}
      {isAsking && <EndOldSecret application={application} onClose={() => setAsking(false)} />}
    </>
  )
}

/** Ends the secret that the dialog names: if the application was rotated meanwhile, the service refuses. */
function EndOldSecret({ application, onClose }: { application: ApplicationRecord; onClose: () => void }) {
  const t = useTexts()
  const { appId, appName: name } = application
  const { data: read } = useReadTagged(getApplication, { appId })
  const end = useWrite(endPreviousApplicationSecret)
  const shown = read?.data ?? application

  async function run(): Promise<void> {
    await end.mutateAsync({ input: { appId }, headers: read?.etag ? { 'if-match': read.etag } : {} })
    showSuccess(t('oldSecretEnded', { name }))
  }

  return (
    <Confirm
      isOpen
      title={t('endOldSecretTitle', { name })}
      verb={t('endOldSecret')}
      isDangerous
      isComplete={read !== undefined}
      run={run}
      onClose={onClose}
    >
      {shown.overlapUntil === null ? (
        <p>{t('oldSecretOver')}</p>
      ) : (
        <>
          <p>{t('endOldSecretText')}</p>
          <p>{t('endOldSecretKept', { until: shown.overlapUntil })}</p>
        </>
      )}
    </Confirm>
  )
}
