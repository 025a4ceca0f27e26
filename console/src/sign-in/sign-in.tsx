import { useQueryClient } from '@tanstack/react-query'
import { Button, Form, Input } from 'antd'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { createSession } from '../../../src/people/sessions/contract.ts'
import { asksForCode } from '../account/code.ts'
import { call } from '../api.ts'
import { paths } from '../paths.ts'
import { afterSessionChange } from '../session.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'
import { Segments } from '../ui/segments.tsx'
import { useCommon } from '../ui/texts.ts'
import { Frame } from './frame.tsx'
import { useTexts } from './texts.ts'

interface Entered {
  name?: string
  password?: string
  code?: string
  operatorKey?: string
}

/** Sign-in by account or by operator key. */
export function Page() {
  const t = useTexts()
  const common = useCommon()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { state } = useLocation()
  const [way, setWay] = useState<'account' | 'key'>('account')
  const [error, setError] = useState<Error>()
  const [isRunning, setRunning] = useState(false)
  const [wantsCode, setWantsCode] = useState(false)

  async function signIn({ name, password, code, operatorKey }: Entered): Promise<void> {
    setRunning(true)
    setError(undefined)
    try {
      await call(
        createSession,
        way === 'key' ? { operatorKey: operatorKey?.trim() } : { name: name?.trim(), password, code },
      )
      afterSessionChange(queries)
      await navigate((state as { from?: string } | null)?.from ?? paths.overview(), { replace: true })
    } catch (refusal) {
      setError(refusal as Error)
      if (asksForCode(refusal)) setWantsCode(true)
      setRunning(false)
    }
  }

  const needed = [{ required: true, message: common('required') }]
  return (
    <Frame title={t('title')}>
      <RefusalAlert error={error} />
      <Segments<typeof way>
        label={t('ways')}
        style={{ display: 'grid', marginBottom: 16 }}
        value={way}
        onChange={setWay}
        options={[
          { value: 'account', label: t('account') },
          { value: 'key', label: t('key') },
        ]}
      />
      <Form<Entered> layout="vertical" requiredMark={false} onFinish={(entered) => void signIn(entered)}>
        {way === 'account' ? (
          <>
            <Form.Item name="name" label={t('name')} rules={needed}>
              <Input autoComplete="username" autoFocus />
            </Form.Item>
            <Form.Item name="password" label={t('password')} rules={needed}>
              <Input.Password autoComplete="current-password" />
            </Form.Item>
            {wantsCode && (
              <Form.Item name="code" label={t('code')} rules={needed}>
                <Input autoComplete="one-time-code" autoFocus />
              </Form.Item>
            )}
          </>
        ) : (
          <Form.Item name="operatorKey" label={t('key')} rules={needed}>
            <Input.Password autoComplete="off" autoFocus />
          </Form.Item>
        )}
        <Button type="primary" htmlType="submit" block loading={isRunning}>
          {t('signIn')}
        </Button>
      </Form>
    </Frame>
  )
}
