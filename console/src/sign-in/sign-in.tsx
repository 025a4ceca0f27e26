import { useQueryClient } from '@tanstack/react-query'
import { Form, Input } from 'antd'
import { useDeferredValue, useEffect, useEffectEvent, useState } from 'react'
import { Navigate, useLocation, useNavigate, useSearchParams } from 'react-router'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { createSession, getSession } from '../../../src/people/sessions/contract.ts'
import { getSignOn } from '../../../src/people/sign-on/contract.ts'
import { CameBack } from '../account/came-back.tsx'
import { CodeField } from '../account/code-field.tsx'
import { knowsPasskeys, type Shown, showPasskey, waitForPasskey } from '../account/passkeys.ts'
import { asksForCode, ProofFault } from '../account/proof-fault.tsx'
import { fewCodes, isRecoveryCode } from '../account/recovery.ts'
import { useTexts as useAccountTexts } from '../account/texts.ts'
import { afterSessionChange, call, useAttempt, useRead } from '../api/api.ts'
import { store, stored } from '../browser/storage.ts'
import { paths } from '../paths.ts'
import { showWarning } from '../ui/dialog/feedback.tsx'
import { PasswordItem } from '../ui/form/password-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Segments } from '../ui/page/segments.tsx'
import { Frame } from './frame.tsx'
import { SignOnButton } from './sign-on-button.tsx'
import { useTexts } from './texts.ts'

interface Entered {
  name?: string
  password?: string
  code?: string
  operatorKey?: string
}

/** Sign-in by what the service offers: single sign-on, passkey, password, operator key. */
export function Page() {
  const t = useTexts()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const returnTo = useReturnTo()
  async function goOn(): Promise<void> {
    afterSessionChange(queries)
    await navigate(returnTo, { replace: true })
  }
  if (useIsSignedIn()) return <Navigate to={returnTo} replace />
  return (
    <Frame title={t('signIn')}>
      <CameBack />
      <WaysIn onEntered={goOn} returnTo={returnTo} />
    </Frame>
  )
}

/**
 * Whether a sign-on that failed left a session behind it: of two that were begun in two tabs, one signs its person in and
 * the other one fails.
 */
function useIsSignedIn(): boolean {
  const [search] = useSearchParams()
  const session = useRead(getSession, {}, { enabled: search.get('refusal') === '10061' })
  return session.data !== undefined
}

interface WaysInProps {
  /** Called when a session has begun. */
  onEntered: () => Promise<void>
  /** The page at which a sign-on ends. */
  returnTo: string
  /** Whether a sign-on opens a window of its own, so that this page stays. */
  isInWindow?: boolean
}

/** The ways to sign in. */
export function WaysIn(entry: WaysInProps) {
  const t = useTexts()
  const { data: offer, isPending } = useRead(getSignOn, {}, { keepsPrevious: true })
  // Deferred, the form is drawn in slices, between which the browser responds to the user.
  const isShown = useDeferredValue(!isPending)
  const [way, setWay] = useState<'account' | 'key'>('account')
  if (!isShown) return <Loading />
  return (
    <>
      <Segments<typeof way>
        label={t('ways')}
        style={{ display: 'grid', marginBottom: 16 }}
        value={way}
        onChange={setWay}
        options={[
          { value: 'account', label: t('account') },
          { value: 'key', label: t('operatorKey') },
        ]}
      />
      {way === 'key' ? (
        <ByKey {...entry} />
      ) : (
        <ByAccount
          {...entry}
          signOn={offer?.enabled ? offer.name : undefined}
          hasPasskeys={offer?.passkeys === true && knowsPasskeys()}
          isForAdmins={offer?.passwords === 'admins'}
        />
      )}
    </>
  )
}

/** Begins a session. */
function useEnter({ onEntered }: WaysInProps) {
  const warn = useFewCodesWarning()
  const { attempt, error, setError, isRunning } = useAttempt()
  const enter = (shown: Entered | Shown | Promise<Shown>) =>
    attempt(async () => {
      const input = await shown
      await call(createSession, input)
      if ('code' in input && isRecoveryCode(input.code)) void warn()
      await onEntered()
    })
  return { enter, error, setError, isRunning }
}

/** Warns a person who has just used a recovery code when few codes are left. */
function useFewCodesWarning(): () => Promise<void> {
  const t = useAccountTexts()
  return async () => {
    const { recoveryCodesLeft: count } = (await call(getSecondFactors, {})).data
    if (count <= fewCodes) showWarning(t('fewLeft', { count }))
  }
}

interface ByAccountProps extends WaysInProps {
  /** The name of single sign-on, if there is one. */
  signOn: string | undefined
  hasPasskeys: boolean
  /** Whether only admins sign in by password. */
  isForAdmins: boolean
}

function ByAccount({ signOn, hasPasskeys, isForAdmins, ...entry }: ByAccountProps) {
  const t = useTexts()
  const { returnTo } = entry
  const { enter, error, setError, isRunning } = useEnter(entry)
  const [form] = Form.useForm<Entered>()
  const [wantsCode, setWantsCode] = useState(false)
  usePasskeyOfFields(hasPasskeys && !isRunning, enter)
  const needed = [{ required: true, message: t('required') }]
  const hasOthers = signOn !== undefined || hasPasskeys
  if (asksForCode(error) && !wantsCode) setWantsCode(true)
  const isOnlyAsked = error instanceof ForecourtError && error.code === 10032
  return (
    <>
      <ProofFault error={isOnlyAsked ? undefined : error} />
      {hasOthers && (
        <>
          <div className="ways">
            {signOn !== undefined && (
              <SignOnButton
                name={signOn}
                start={{ purpose: 'signIn', returnTo }}
                onLeave={() => keepReturnTo(returnTo)}
                {...(entry.isInWindow && { onEntered: entry.onEntered })}
                onRefused={setError}
              />
            )}
            {hasPasskeys && (
              <Button block disabled={isRunning} onClick={() => void enter(showPasskey())}>
                {t('passkey')}
              </Button>
            )}
          </div>
          <p className="ways-or">{t(isForAdmins ? 'orPasswordOfAdmins' : 'orPassword')}</p>
        </>
      )}
      {isForAdmins && !hasOthers && <p className="faint">{t('onlyAdmins')}</p>}
      <Form<Entered>
        form={form}
        layout="vertical"
        requiredMark={false}
        onFinish={({ name, password, code }) => void enter({ name: name?.trim() ?? '', password, code })}
      >
        <Form.Item name="name" label={t('name')} rules={needed}>
          <Input autoComplete={hasPasskeys ? 'username webauthn' : 'username'} autoFocus />
        </Form.Item>
        <PasswordItem name="password" label={t('password')} autoComplete="current-password" />
        {wantsCode && <CodeField />}
        <Button type={signOn === undefined ? 'primary' : 'default'} htmlType="submit" block loading={isRunning}>
          {t('signIn')}
        </Button>
      </Form>
    </>
  )
}

/** A passkey's ticket lasts five minutes, so a wait for a passkey begins again before that. */
const waitMs = 240_000

/** When `isAsked`, waits for a passkey that the person picks from the browser's autofill of the name. */
function usePasskeyOfFields(isAsked: boolean, enter: (shown: Shown) => Promise<void>): void {
  const take = useEffectEvent(enter)
  useEffect(() => {
    if (!isAsked) return
    let waiting = new AbortController()
    async function wait(): Promise<void> {
      waiting.abort()
      waiting = new AbortController()
      const shown = await waitForPasskey(waiting.signal).catch(() => undefined)
      if (shown !== undefined) await take(shown)
    }
    void wait()
    const timer = setInterval(() => void wait(), waitMs)
    return () => {
      clearInterval(timer)
      waiting.abort()
    }
  }, [isAsked])
}

function ByKey(entry: WaysInProps) {
  const t = useTexts()
  const { enter, error, isRunning } = useEnter(entry)
  return (
    <>
      <ProofFault error={error} />
      <Form<Entered>
        layout="vertical"
        requiredMark={false}
        onFinish={({ operatorKey }) => void enter({ operatorKey: operatorKey?.trim() ?? '' })}
      >
        <PasswordItem name="operatorKey" label={t('operatorKey')} autoComplete="off" autoFocus />
        <Button type="primary" htmlType="submit" block loading={isRunning}>
          {t('signIn')}
        </Button>
      </Form>
    </>
  )
}

const storageKey = 'forecourt.returnTo'

/** The page that a person wanted before they were asked to sign in, also when a sign-on has come back with a refusal. */
export function useReturnTo(): string {
  const { state } = useLocation()
  const [search] = useSearchParams()
  const wanted = (state as { from?: string } | null)?.from
  const kept = search.has('refusal') ? stored(storageKey, 'sessionStorage') : null
  return wanted ?? kept ?? paths.overview()
}

/** Keeps the wanted page while the browser is at the provider. */
export function keepReturnTo(path: string): void {
  store(storageKey, path, 'sessionStorage')
}
