import { Form, Radio } from 'antd'
import { useState } from 'react'
import {
  type ApplicationRecord,
  freezeApplication,
  rotateApplicationSecret,
  takeApplicationOffline,
  takeApplicationOnline,
  unfreezeApplication,
} from '../../../src/applications/contract.ts'
import { useMay, useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button } from '../ui/page/button.tsx'
import { SecretOnce } from '../ui/text/secret.tsx'
import { type Texts, useTexts } from './texts.ts'

type Action = 'goOnline' | 'goOffline' | 'freeze' | 'unfreeze' | 'rotate'

const changes = {
  goOnline: { isDangerous: false, done: 'isOnline' },
  goOffline: { isDangerous: true, done: 'isOffline' },
  freeze: { isDangerous: true, done: 'isFrozen' },
  unfreeze: { isDangerous: false, done: 'isUnfrozen' },
} as const

/** The choices of how long the old secret stays valid: not at all, an hour, a day, a week. */
const overlaps = [0, 3600, 86_400, 604_800] as const

/** The actions on a whole application. Each explains its effect before it runs. */
export function Actions({ application }: { application: ApplicationRecord }) {
  const t = useTexts()
  const offered = useOffered(application)
  const runs = useRuns(application.appId)
  const [chosen, setChosen] = useState<Action>()
  const [secret, setSecret] = useState<string>()
  const name = application.appName

  async function run(reason: string, overlapSeconds: number): Promise<void> {
    if (chosen === 'rotate') {
      setSecret((await runs.rotate(overlapSeconds)).appSecret ?? undefined)
    } else if (chosen !== undefined) {
      await runs[chosen](reason)
      showSuccess(t(changes[chosen].done, { name }))
    }
  }

  return (
    <>
      {offered.map((action) => (
        <Button key={action} onClick={() => setChosen(action)}>
          {t(action)}
        </Button>
      ))}
      <Question action={chosen} application={application} t={t} run={run} onClose={() => setChosen(undefined)} />
      <SecretOnce
        title={t('newSecretTitle', { name })}
        secrets={secret === undefined ? undefined : { [t('appSecret')]: secret }}
        onClose={() => setSecret(undefined)}
      />
    </>
  )
}

/** The actions that the application's state and the user's role allow. */
function useOffered({ onlineStatus, status }: ApplicationRecord): Action[] {
  const may = useMay()
  const offered: Action[] = []
  if (may(takeApplicationOffline)) offered.push(onlineStatus === 1 ? 'goOffline' : 'goOnline')
  if (may(freezeApplication)) offered.push(status === 1 ? 'freeze' : 'unfreeze')
  if (may(rotateApplicationSecret)) offered.push('rotate')
  return offered
}

function useRuns(appId: string) {
  const online = useWrite(takeApplicationOnline)
  const offline = useWrite(takeApplicationOffline)
  const freeze = useWrite(freezeApplication)
  const unfreeze = useWrite(unfreezeApplication)
  const rotate = useWrite(rotateApplicationSecret)
  const input = { appId }
  return {
    goOnline: () => online.mutateAsync({ input }),
    goOffline: () => offline.mutateAsync({ input }),
    freeze: (reason: string) => freeze.mutateAsync({ input: { appId, reason } }),
    unfreeze: () => unfreeze.mutateAsync({ input }),
    rotate: (overlapSeconds: number) => rotate.mutateAsync({ input: { appId, overlapSeconds } }),
  }
}

interface QuestionProps {
  action: Action | undefined
  application: ApplicationRecord
  t: Texts
  run: (reason: string, overlapSeconds: number) => Promise<void>
  onClose: () => void
}

function Question({ action, application, t, run, onClose }: QuestionProps) {
  const { appName: name, overlapUntil: until } = application
  // Keeps the content of the dialog while the dialog closes.
  const [last, setLast] = useState<Action>('rotate')
  const [overlapSeconds, setOverlapSeconds] = useState(0)
  if (action !== undefined && action !== last) setLast(action)
  const shown = action ?? last

  function close(): void {
    setOverlapSeconds(0)
    onClose()
  }

  return (
    <Confirm
      isOpen={action !== undefined}
      title={t(`${shown}Title`, { name })}
      verb={t(shown)}
      isDangerous={shown === 'rotate' || changes[shown].isDangerous}
      wantsReason={shown === 'freeze'}
      {...(shown === 'rotate' ? { typed: name } : {})}
      run={(reason) => run(reason, overlapSeconds)}
      onClose={close}
    >
      <p>{t(`${shown}Text`)}</p>
      {shown === 'rotate' && until !== null && <p>{t('rotateEndsOlder', { until })}</p>}
      {shown === 'rotate' && (
        <Form.Item label={t('overlap')} extra={t(overlapSeconds === 0 ? 'overlapNone' : 'overlapSome')}>
          <Radio.Group
            value={overlapSeconds}
            onChange={(event) => setOverlapSeconds(event.target.value)}
            options={overlaps.map((seconds) => ({ value: seconds, label: t(`overlap_${seconds}`) }))}
          />
        </Form.Item>
      )}
    </Confirm>
  )
}
