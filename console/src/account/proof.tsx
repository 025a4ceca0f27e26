import { Form, Input, Modal } from 'antd'
import { useState } from 'react'
import { confirmSession } from '../../../src/people/sessions/contract.ts'
import { call } from '../api.ts'
import { defineTexts } from '../language/index.ts'
import { useSession } from '../session.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { asksForCode } from './code.ts'

const useTexts = defineTexts(
  {
    title: 'Is it you?',
    words: 'This act asks for a fresh proof of who you are. It is done right after it.',
    password: 'Password',
    code: 'Code of your code generator, or a recovery code',
    key: 'Operator key',
    confirm: 'Confirm',
  },
  {
    title: '请确认身份',
    words: '此操作需要重新验证您的身份，验证后立即执行。',
    password: '密码',
    code: '验证码或恢复码',
    key: '运营密钥',
    confirm: '确认',
  },
)

interface Entered {
  password?: string
  code?: string
  operatorKey?: string
}

/** Asks for the proof that an act wants (10035). `onEnd` tells whether it was given. */
export function ProofDialog({ onEnd }: { onEnd: (isGiven: boolean) => void }) {
  const t = useTexts()
  const common = useCommon()
  const session = useSession()
  const [form] = Form.useForm<Entered>()
  const [error, setError] = useState<Error>()
  const [wantsCode, setWantsCode] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const needed = [{ required: true, message: common('required') }]

  async function confirm({ password, code, operatorKey }: Entered): Promise<void> {
    setRunning(true)
    setError(undefined)
    try {
      await call(
        confirmSession,
        session.operatorId === null ? { operatorKey: operatorKey?.trim() } : { password, code },
      )
      onEnd(true)
    } catch (refusal) {
      setError(refusal as Error)
      if (asksForCode(refusal)) setWantsCode(true)
      setRunning(false)
    }
  }

  return (
    <Modal
      open
      zIndex={1100}
      title={t('title')}
      okText={t('confirm')}
      okButtonProps={{ loading: isRunning }}
      cancelText={common('cancel')}
      onOk={() => form.submit()}
      onCancel={() => onEnd(false)}
    >
      <p>{t('words')}</p>
      <RefusalAlert error={error} />
      <Form<Entered>
        form={form}
        layout="vertical"
        requiredMark={false}
        onFinish={(entered) => void confirm(entered)}
        // Enter in a field sends it as the button does.
        onKeyDown={({ key, target }) => key === 'Enter' && target instanceof HTMLInputElement && form.submit()}
      >
        {session.operatorId === null ? (
          <Form.Item name="operatorKey" label={t('key')} rules={needed}>
            <Input.Password autoComplete="off" autoFocus />
          </Form.Item>
        ) : (
          <Form.Item name="password" label={t('password')} rules={needed}>
            <Input.Password autoComplete="current-password" autoFocus />
          </Form.Item>
        )}
        {wantsCode && (
          <Form.Item name="code" label={t('code')} rules={needed}>
            <Input autoComplete="one-time-code" inputMode="text" autoFocus />
          </Form.Item>
        )}
      </Form>
    </Modal>
  )
}
