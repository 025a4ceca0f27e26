import { Form, Input, Modal, QRCode } from 'antd'
import { useState } from 'react'
import type { Static } from 'typebox'
import { saveTotp, type startTotp } from '../../../src/people/second-factor/contract.ts'
import { useWrite } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Copyable } from '../ui/text/secret.tsx'
import { useTexts } from './texts.ts'

export type Begun = Static<typeof startTotp.data>

interface GeneratorProps {
  /** What the app takes over. */
  begun: Begun
  onSaved: (saved: Static<typeof saveTotp.data>) => void
  onClose: () => void
}

/** Sets a code generator up: its secret as a QR code, which is drawn here, and as text; then a code of it. */
export function Generator({ begun: { secret, otpauthUrl }, onSaved, onClose }: GeneratorProps) {
  const t = useTexts()
  const [form] = Form.useForm<{ code: string }>()
  const [error, setError] = useState<Error>()
  const save = useWrite(saveTotp)

  async function finish(code: string): Promise<void> {
    setError(undefined)
    await save.mutateAsync({ input: { code } }).then(onSaved, setError)
  }

  return (
    <Modal
      open
      title={t('setUpGenerator')}
      okText={t('turnOn')}
      okButtonProps={{ loading: save.isPending }}
      cancelText={t('cancel')}
      onOk={() => form.submit()}
      onCancel={onClose}
      mask={{ closable: false }}
    >
      <RefusalAlert error={error} fieldNames={{ code: t('code') }} />
      <div className="generator">
        <p>{t('scan')}</p>
        <div className="generator-picture">
          <QRCode
            type="svg"
            value={otpauthUrl}
            size={184}
            color="#000"
            bgColor="#fff"
            bordered={false}
            aria-label={t('scanAlt')}
          />
        </div>
        <p>{t('orType')}</p>
        <Copyable text={secret.replace(/.{4}(?=.)/g, '$& ')} />
        <p>{t('thenCode')}</p>
      </div>
      <Form
        name="generator"
        form={form}
        layout="vertical"
        requiredMark={false}
        className="spaced-above"
        onFinish={({ code }) => void finish(plainCode(code))}
        onKeyDown={({ key, target }) => key === 'Enter' && target instanceof HTMLInputElement && form.submit()}
      >
        <Form.Item name="code" label={t('code')} rules={[{ required: true, message: t('required') }]}>
          <Input className="mono" autoComplete="one-time-code" inputMode="numeric" style={{ maxWidth: 200 }} />
        </Form.Item>
      </Form>
    </Modal>
  )
}
