import { Alert, Descriptions, Form, Input } from 'antd'
import { useEffect, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { changePassword, passwordLengths } from '../../../src/people/operators/contract.ts'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { pageSessions, type SessionRecord } from '../../../src/people/sessions/contract.ts'
import { getSignOn } from '../../../src/people/sign-on/contract.ts'
import { useRead, useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { SessionsTable } from '../people/sessions-table.tsx'
import { useTexts as usePeopleTexts } from '../people/texts.ts'
import { useSession } from '../session.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RecordForm } from '../ui/record-form.tsx'
import { useCommon } from '../ui/texts.ts'
import { Arrived } from './arrived.tsx'
import { SecondFactor } from './factors.tsx'
import { OwnKeys } from './own-keys.tsx'
import { ShowFactor } from './show-factor.tsx'
import { tellConfirmed } from './sign-on.ts'
import { SignOnLink } from './sign-on-link.tsx'
import { useTexts } from './texts.ts'

/** One's own account: second factors, single sign-on, password, sessions. */
export function Page() {
  const t = useTexts()
  return (
    <PageFrame title={t('title')} operation={pageSessions}>
      <Arrived />
      <Confirmed />
      <Access />
      <Sessions />
    </PageFrame>
  )
}

/** The end of a confirmation by single sign-on, in the window that was opened for it. */
function Confirmed() {
  const t = useTexts()
  const [search] = useSearchParams()
  const isConfirmed = search.has('confirmed')
  useEffect(() => {
    if (isConfirmed) tellConfirmed()
  }, [isConfirmed])
  if (!isConfirmed) return null
  return (
    <Alert type="success" showIcon title={t('confirmed')} description={t('repeatNow')} style={{ marginBottom: 16 }} />
  )
}

/** How one signs in. A key has no account; a session that lacks its second factor shows or sets one up first. */
function Access() {
  const t = useTexts()
  const navigate = useNavigate()
  const { state } = useLocation()
  const { operatorId, isLimited } = useSession()
  // Kept from when the page was opened, because the session stops being limited as soon as the first factor is set up.
  const [wasLimited] = useState(isLimited)
  const { data: factors } = useRead(getSecondFactors, {}, { enabled: operatorId !== null })
  // Also kept: a factor that is set up here must not be asked for while its recovery codes are shown for the only time.
  const [hadFactor, setHadFactor] = useState<boolean>()
  if (factors !== undefined && hadFactor === undefined) {
    setHadFactor(factors.totp !== null || factors.passkeys.length > 0)
  }
  const goOn = () => {
    if (wasLimited) void navigate((state as { from?: string } | null)?.from ?? paths.overview(), { replace: true })
  }
  if (operatorId === null) {
    return (
      <section className="card" style={{ maxWidth: 480 }}>
        <h2>{t('password')}</h2>
        <p className="faint">{t('isKey')}</p>
      </section>
    )
  }
  if (isLimited && hadFactor && factors !== undefined) {
    return <ShowFactor factors={factors} onShown={goOn} />
  }
  return (
    <>
      {isLimited && <Alert type="info" showIcon title={t('limitedSetUp')} style={{ marginBottom: 16 }} />}
      <SecondFactor onFirst={goOn} />
      <SignOnAndPassword />
    </>
  )
}

/** What a whole session changes of how its person comes in. Who has no password here has none to change. */
function SignOnAndPassword() {
  const { source, isLinked, isLimited, hasPassword } = useSession()
  const { data: offer } = useRead(getSignOn, {})
  if (isLimited) return null
  return (
    <>
      {offer?.enabled && <SignOnLink name={offer.name} isLinked={isLinked} isManaged={source === 2} />}
      {hasPassword && <PasswordCard />}
      <OwnKeys />
    </>
  )
}

function PasswordCard() {
  const t = useTexts()
  const common = useCommon()
  const [changes, setChanges] = useState(0)
  const change = useWrite(changePassword)
  const needed = { required: true, message: common('required') }
  return (
    <section className="card" style={{ maxWidth: 480 }}>
      <h2>{t('password')}</h2>
      <RecordForm
        key={changes}
        valuesOf={() => ({ password: '', newPassword: '' })}
        send={({ values }) => change.mutateAsync({ input: values })}
        successMessage={() => t('changed')}
        onSaved={() => setChanges(changes + 1)}
        verb={t('change')}
        fieldNames={{ password: t('old'), newPassword: t('next') }}
      >
        <Form.Item name="password" label={t('old')} rules={[needed]}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Form.Item
          name="newPassword"
          label={t('next')}
          rules={[needed, { ...passwordLengths, message: common('passwordLength', passwordLengths) }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
      </RecordForm>
    </section>
  )
}

function Sessions() {
  const t = useTexts()
  const session = useSession()
  const { operatorId } = session
  return (
    <section className="card">
      <h2>{t('sessions')}</h2>
      {operatorId === null ? (
        <KeySession session={session} />
      ) : (
        // Without `operatorId`, an admin would get everyone's sessions.
        <SessionsTable name="sessions" input={{ operatorId }} isOwn />
      )}
    </section>
  )
}

/** The session of an operator key, from the session itself, because no filter of `pageSessions` finds it. */
function KeySession({ session: { userAgent, address, createTime, seenTime, expireTime } }: { session: SessionRecord }) {
  const t = usePeopleTexts()
  return (
    <Descriptions
      size="small"
      column={1}
      bordered
      items={[
        { key: 'userAgent', label: t('browser'), children: userAgent },
        { key: 'address', label: t('address'), children: <span className="mono">{address}</span> },
        { key: 'createTime', label: t('began'), children: <span className="number">{createTime}</span> },
        { key: 'seenTime', label: t('seen'), children: <span className="number">{seenTime}</span> },
        { key: 'expireTime', label: t('ends'), children: <span className="number">{expireTime}</span> },
      ]}
    />
  )
}
