import { Form, Input, QRCode } from 'antd'
import type { Static } from 'typebox'
import { saveTotp, type startTotp } from '../../../src/people/second-factor/contract.ts'
import { useWrite } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { Dialog, DialogButtons } from '../ui/dialog/dialog.tsx'
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
  const save = useWrite(saveTotp)
  const finish = (code: string) => save.mutate({ input: { code } }, { onSuccess: onSaved })

  return (
    <Dialog
      title={t('setUpGenerator')}
      onClose={onClose}
      closesOutside={false}
      footer={<DialogButtons verb={t('turnOn')} isRunning={save.isPending} form="generator" onClose={onClose} />}
    >
      <RefusalAlert error={save.error} fieldNames={{ code: t('code') }} />
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
      <Form<{ code: string }>
        name="generator"
        layout="vertical"
        requiredMark={false}
        className="spaced-above"
        onFinish={({ code }) => finish(plainCode(code))}
      >
        <Form.Item name="code" label={t('code')} rules={[{ required: true, message: t('required') }]}>
          <Input className="mono" autoComplete="one-time-code" inputMode="numeric" style={{ maxWidth: 200 }} />
        </Form.Item>
      </Form>
    </Dialog>
  )
}
