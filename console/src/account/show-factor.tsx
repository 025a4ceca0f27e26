import { useQueryClient } from '@tanstack/react-query'
import { Form } from 'antd'
import type { SecondFactors } from '../../../src/people/second-factor/contract.ts'
import { confirmSession } from '../../../src/people/sessions/contract.ts'
import { call, readAnew, useAttempt } from '../api/api.ts'
import { Note } from '../ui/page/note.tsx'
import { Card } from '../ui/page/page.tsx'
import { CodeField } from './code-field.tsx'
import { knowsPasskeys, type Shown, showPasskey } from './passkeys.ts'
import { ProofFault } from './proof-fault.tsx'
import { useTexts } from './texts.ts'
import './ways.css'
import { Button } from '../ui/page/button.tsx'

interface ShowFactorProps {
  factors: SecondFactors
  /** Why it is asked for, if not because the session is limited. */
  words?: string
  onShown: () => void
}

/** Asks for the second factor that a session by single sign-on has not shown yet, or that its confirmation needs. */
export function ShowFactor({ factors, words, onShown }: ShowFactorProps) {
  const t = useTexts()
  const queries = useQueryClient()
  const { attempt, error, isRunning } = useAttempt()
  const show = (shown: { code?: string } | Promise<Shown>) =>
    attempt(async () => {
      await call(confirmSession, await shown)
      await readAnew(queries)
      onShown()
    })

  return (
    <Card title={t('factors')} className="form-width">
      <Note type="info" words={words ?? t('limitedShow')} />
      <ProofFault error={error} />
      {factors.passkeys.length > 0 && knowsPasskeys() && (
        <Button className="spaced" disabled={isRunning} onClick={() => void show(showPasskey())}>
          {t('passkey')}
        </Button>
      )}
      <Form<{ code?: string }> layout="vertical" requiredMark={false} onFinish={(entered) => void show(entered)}>
        <CodeField isOfGenerator={factors.totp !== null} />
        <Button type="primary" htmlType="submit" loading={isRunning}>
          {t('show')}
        </Button>
      </Form>
    </Card>
  )
}
