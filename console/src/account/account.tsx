import { useEffect, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import {
  changePassword,
  type OperatorKeyRecord,
  type OperatorRecord,
  pageOwnOperatorKeys,
} from '../../../src/people/operators/contract.ts'
import { pageSessions, type SessionRecord } from '../../../src/people/sessions/contract.ts'
import { getSignOn, unlinkSignOn } from '../../../src/people/sign-on/contract.ts'
import { useRead, useSession, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { SessionsTable } from '../people/sessions-table.tsx'
import { useTexts as usePeopleTexts } from '../people/texts.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { PasswordItem } from '../ui/form/password-item.tsx'
import { RecordForm } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { State } from '../ui/text/status.tsx'
import { Access } from './access.tsx'
import { Arrived } from './arrived.tsx'
import { addressOfSignOn, tellConfirmed } from './sign-on.ts'
import { useTexts } from './texts.ts'

/** One's own account: second factors, single sign-on, password, sessions. */
export function Page() {
  return (
    <PageFrame operation={pageSessions}>
      <Arrived />
      <Confirmed />
      <WaysIn />
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
    <Note type="success" words={t('confirmed')}>
      {t('repeatNow')}
    </Note>
  )
}

/** How one signs in. A session that lacks its second factor shows or sets one up first, and then returns. */
function WaysIn() {
  const navigate = useNavigate()
  const { state } = useLocation()
  const from = (state as { from?: string } | null)?.from
  return (
    <>
      <Access onWhole={() => void navigate(from ?? paths.overview(), { replace: true })} />
      <SignOnAndPassword />
    </>
  )
}

/** What a whole session changes of how its person comes in. Who has no password here has none to change. */
function SignOnAndPassword() {
  const { operatorId, source, isLinked, isLimited, hasPassword } = useSession()
  const { data: offer } = useRead(getSignOn, {}, { enabled: operatorId !== null })
  if (operatorId === null || isLimited) return null
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
  const [changes, setChanges] = useState(0)
  const change = useWrite(changePassword)
  return (
    <Card title={t('password')} className="form-width">
      <RecordForm
        key={changes}
        valuesOf={() => ({ password: '', newPassword: '' })}
        send={({ values }) => change.mutateAsync({ input: values })}
        successMessage={() => t('changed')}
        onSaved={() => setChanges(changes + 1)}
        verb={t('change')}
        fieldNames={{ password: t('old'), newPassword: t('newPassword') }}
      >
        <PasswordItem name="password" label={t('old')} autoComplete="current-password" />
        <PasswordItem name="newPassword" label={t('newPassword')} autoComplete="new-password" />
      </RecordForm>
    </Card>
  )
}

function Sessions() {
  const t = useTexts()
  const session = useSession()
  const { operatorId } = session
  return (
    <Card title={t('sessions')}>
      {operatorId === null ? (
        <KeySession session={session} />
      ) : (
        // Without `operatorId`, an admin would get everyone's sessions.
        <SessionsTable name="sessions" input={{ operatorId }} isOwn />
      )}
    </Card>
  )
}

/** The session of an operator key, from the session itself, because no filter of `pageSessions` finds it. */
function KeySession({ session: { userAgent, address, createTime, seenTime, expireTime } }: { session: SessionRecord }) {
  const t = usePeopleTexts()
  return (
    <Facts
      isFramed
      facts={{
        [t('browser')]: userAgent,
        [t('ipAddress')]: <span className="mono">{address}</span>,
        [t('began')]: <span className="number">{createTime}</span>,
        [t('lastUse')]: <span className="number">{seenTime}</span>,
        [t('expireTime')]: <span className="number">{expireTime}</span>,
      }}
    />
  )
}

/** The operator keys that one's account owns. Keys are handed over to accounts of every role, and only admins list all. */
function OwnKeys() {
  const t = useTexts()
  const people = usePeopleTexts()
  const { data } = useRead(pageOwnOperatorKeys, { pageSize: 100 })
  if (data === undefined || data.total === 0) return null
  return (
    <Card title={t('ownKeys')}>
      <p className="faint">{t('ownKeysWords')}</p>
      <Rows<OperatorKeyRecord>
        label={t('ownKeys')}
        rowKey={({ id }) => id}
        rows={data.list}
        empty={null}
        columns={[
          { key: 'name', title: people('name'), most: 200 },
          { key: 'role', title: people('role'), render: ({ role }) => people(`role_${role}` as 'role_admin') },
          {
            key: 'status',
            title: people('status'),
            render: ({ status }) => (
              <State tone={status === 1 ? 'good' : 'idle'}>{people(status === 1 ? 'keyWorks' : 'keyRests')}</State>
            ),
          },
          { key: 'expireTime', title: people('expireTime'), className: 'number' },
          { key: 'lastUseTime', title: people('lastUse'), className: 'number', none: people('never') },
        ]}
      />
    </Card>
  )
}

interface SignOnLinkProps {
  /** What single sign-on is called. */
  name: string
  isLinked: boolean
  /** Whether the provider made the account. */
  isManaged: boolean
}

/** The link of one's own account to the provider. */
function SignOnLink({ name, isLinked: wasLinked, isManaged }: SignOnLinkProps) {
  const t = useTexts()
  const unlink = useWrite(unlinkSignOn)
  const [unlinked, setUnlinked] = useState<OperatorRecord>()
  const [isLeaving, setLeaving] = useState(false)
  const [error, setError] = useState<Error>()
  const isLinked = unlinked?.isLinked ?? wasLinked

  async function link(): Promise<void> {
    setLeaving(true)
    setError(undefined)
    try {
      location.assign(await addressOfSignOn({ purpose: 'link', returnTo: paths.account() }))
    } catch (refusal) {
      setError(refusal as Error)
      setLeaving(false)
    }
  }

  const words = isManaged ? t('managed', { name }) : isLinked ? t('linked', { name }) : t('linkWords', { name })
  return (
    <Card title={t('signOn')}>
      <RefusalAlert error={error} />
      <p>{words}</p>
      {!isManaged && (
        <div className="buttons">
          {isLinked ? (
            <ConfirmButton
              title={t('unlinkTitle', { name })}
              verb={t('unlink')}
              isDangerous
              run={async () => {
                setUnlinked(await unlink.mutateAsync({ input: {} }))
                showSuccess(t('unlinked', { name }))
              }}
            >
              <p>{t('unlinkWords', { name })}</p>
            </ConfirmButton>
          ) : (
            <Button loading={isLeaving} onClick={() => void link()}>
              {t('link', { name })}
            </Button>
          )}
        </div>
      )}
    </Card>
  )
}
