import { Form, Modal } from 'antd'
import { useState } from 'react'
import type { Static } from 'typebox'
import { savePasskey } from '../../../src/people/second-factor/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api/api.ts'
import { LimitedInput } from '../ui/form/limited.tsx'
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
  const [form] = Form.useForm<{ name: string }>()
  const [error, setError] = useState<Error>()
  const [isRunning, setRunning] = useState(false)
  const save = useWrite(savePasskey)

  async function add(name: string): Promise<void> {
    setError(undefined)
    setRunning(true)
    try {
      const made = await makePasskey()
      onSaved(await save.mutateAsync({ input: { ...made, name } }))
    } catch (refusal) {
      setError(refusal as Error)
      setRunning(false)
    }
  }

  return (
    <Modal
      open
      title={t('addPasskey')}
      okText={t('addPasskey')}
      okButtonProps={{ loading: isRunning }}
      cancelText={t('cancel')}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      <ProofFault error={error} fieldNames={{ name: t('name') }} />
      <Form
        name="passkey"
        form={form}
        layout="vertical"
        requiredMark={false}
        initialValues={{ name: readUserAgent(navigator.userAgent) }}
        onFinish={({ name }) => void add(name.trim())}
        onKeyDown={({ key, target }) => key === 'Enter' && target instanceof HTMLInputElement && form.submit()}
      >
        <Form.Item
          name="name"
          label={t('name')}
          extra={t('passkeyNameHelp')}
          rules={[{ required: true, whitespace: true, message: t('required') }]}
        >
          <LimitedInput most={lengths.name} autoFocus autoComplete="off" />
        </Form.Item>
      </Form>
    </Modal>
  )
}
