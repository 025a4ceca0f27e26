import { Form, Input } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { confirmSession } from '../../../src/people/sessions/contract.ts'
import { getSignOn } from '../../../src/people/sign-on/contract.ts'
import { call, useAttempt, useRead, useSession } from '../api/api.ts'
import { PasswordItem } from '../ui/form/password-item.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { CodeField } from './code-field.tsx'
import { knowsPasskeys, type Shown, showPasskey } from './passkeys.ts'
import { asksForCode, ProofFault } from './proof-fault.tsx'
import { signOnInWindow } from './sign-on.ts'
import { useTexts } from './texts.ts'
import './ways.css'
import { Dialog, DialogButtons } from '../ui/dialog/dialog.tsx'
import { Button } from '../ui/page/button.tsx'

interface Entered {
  password?: string
  code?: string
  operatorKey?: string
}

/** Asks for the proof that an operation needs (10035). `onEnd` is called with whether it was given. */
export function ProofDialog({ onEnd }: { onEnd: (isGiven: boolean) => void }) {
  const t = useTexts()
  const [wantsCode, setWantsCode] = useState(false)
  const { attempt, error, setError, isRunning } = useAttempt()
  const ways = useWays()
  if (!wantsCode && asksForCode(error)) setWantsCode(true)
  const confirm = (shown: Entered | Promise<Shown>) =>
    attempt(async () => {
      await call(confirmSession, await shown)
      onEnd(true)
    })

  return (
    <Dialog
      title={t('proofTitle')}
      onClose={() => onEnd(false)}
      footer={
        <DialogButtons
          verb={t('confirm')}
          isReady={ways?.hasSecret === true}
          isRunning={isRunning}
          form="proof"
          onClose={() => onEnd(false)}
        />
      }
    >
      <p>{t('proofWords')}</p>
      <ProofFault error={error} />
      {ways === undefined ? (
        <Loading />
      ) : (
        <>
          {(ways.signOn !== undefined || ways.hasPasskeys) && (
            <>
              <div className="ways">
                {ways.signOn !== undefined && (
                  <BySignOn name={ways.signOn} onConfirmed={() => onEnd(true)} onRefused={setError} />
                )}
                {ways.hasPasskeys && (
                  <Button block disabled={isRunning} onClick={() => void confirm(showPasskey())}>
                    {t('passkey')}
                  </Button>
                )}
              </div>
              {ways.hasSecret && <p className="ways-or">{t('orPassword')}</p>}
            </>
          )}
          {ways.hasSecret && (
            <Form<Entered>
              // The form's name keeps the ids of these fields apart from the ids of the page below.
              name="proof"
              layout="vertical"
              requiredMark={false}
              onFinish={(entered) => void confirm(entered)}
            >
              <SecretField isKey={ways.isKey} />
              {(wantsCode || ways.asksCode) && <CodeField isOfGenerator={ways.hasGenerator} />}
            </Form>
          )}
        </>
      )}
    </Dialog>
  )
}

function SecretField({ isKey }: { isKey: boolean }) {
  const t = useTexts()
  return isKey ? (
    <Form.Item
      name="operatorKey"
      label={t('operatorKey')}
      rules={[{ required: true, message: t('required') }]}
      normalize={(key: string) => key.trim()}
    >
      <Input.Password autoComplete="off" autoFocus />
    </Form.Item>
  ) : (
    <PasswordItem name="password" label={t('proofPassword')} autoComplete="current-password" autoFocus />
  )
}

interface Ways {
  /** Whether the session is that of an operator key, which is its only proof. */
  isKey: boolean
  /** Whether there is a password, or a key, to type. */
  hasSecret: boolean
  /** The name of single sign-on; undefined for a session that a password began, and an account that is not linked. */
  signOn: string | undefined
  hasPasskeys: boolean
  /** Whether a code is needed in addition to the password: of the generator, or a recovery code. */
  asksCode: boolean
  hasGenerator: boolean
}

/** How the person of this session can prove who they are; undefined while it is read. */
function useWays(): Ways | undefined {
  const { operatorId, method, isLinked, hasPassword } = useSession()
  const isKey = operatorId === null
  const offer = useRead(getSignOn, {}, { enabled: !isKey })
  const factors = useRead(getSecondFactors, {}, { enabled: !isKey })
  if (isKey)
    return { isKey, hasSecret: true, signOn: undefined, hasPasskeys: false, asksCode: false, hasGenerator: false }
  if (offer.isPending || factors.isPending) return undefined
  const hasGenerator = (factors.data?.totp ?? null) !== null
  const isOfPasskeys = (factors.data?.passkeys.length ?? 0) > 0
  return {
    isKey,
    hasSecret: hasPassword,
    // A session that a password began is proved by the password.
    signOn: offer.data?.enabled && isLinked && !method?.startsWith('password') ? offer.data.name : undefined,
    hasPasskeys: isOfPasskeys && knowsPasskeys(),
    asksCode: hasGenerator || isOfPasskeys,
    hasGenerator,
  }
}

interface BySignOnProps {
  name: string
  onConfirmed: () => void
  onRefused: (refusal: Error | undefined) => void
}

/** Confirms at the provider, in a window of its own. */
function BySignOn({ name, onConfirmed, onRefused }: BySignOnProps) {
  const t = useTexts()
  const [isWaiting, setWaiting] = useState(false)
  const stop = useRef(() => {})
  useEffect(() => () => stop.current(), [])
  async function go(): Promise<void> {
    stop.current()
    onRefused(undefined)
    const waiting = signOnInWindow('confirm', onConfirmed)
    stop.current = waiting.stop
    try {
      await waiting.begun
      setWaiting(true)
    } catch (refusal) {
      onRefused(refusal as Error)
    }
  }
  return (
    <>
      <Button type="primary" block onClick={() => void go()}>
        {name}
      </Button>
      {isWaiting && <output className="ways-waiting faint">{t('waiting', { name })}</output>}
    </>
  )
}
