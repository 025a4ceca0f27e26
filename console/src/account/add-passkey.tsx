import { Form } from 'antd'
import type { Static } from 'typebox'
import { savePasskey } from '../../../src/people/second-factor/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useAttempt, useWrite } from '../api/api.ts'
import { Dialog, DialogButtons } from '../ui/dialog/dialog.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { readUserAgent } from '../words/user-agent.ts'
import { makePasskey } from './passkeys.ts'
import { ProofFault } from './proof-fault.tsx'
import { useTexts } from './texts.ts'

interface AddPasskeyProps {
  onSaved: (saved: Static<typeof savePasskey.data>) => void
  onClose: () => void
}

/** Asks for a name, and lets the browser make a passkey. */
export function AddPasskey({ onSaved, onClose }: AddPasskeyProps) {
  const t = useTexts()
  const { attempt, error, isRunning } = useAttempt()
  const save = useWrite(savePasskey)
  const add = (name: string) =>
    attempt(async () => {
      const made = await makePasskey()
      onSaved(await save.mutateAsync({ input: { ...made, name } }))
    })

  return (
    <Dialog
      title={t('addPasskey')}
      onClose={onClose}
      footer={<DialogButtons verb={t('addPasskey')} isRunning={isRunning} form="passkey" onClose={onClose} />}
    >
      <ProofFault error={error} fieldNames={{ name: t('name') }} />
      <Form<{ name: string }>
        name="passkey"
        layout="vertical"
        requiredMark={false}
        initialValues={{ name: readUserAgent(navigator.userAgent) }}
        onFinish={({ name }) => void add(name.trim())}
      >
        <TextItem name="name" label={t('name')} extra={t('passkeyNameHelp')} most={lengths.name} isNeeded autoFocus />
      </Form>
    </Dialog>
  )
}
