import { Descriptions, Form, Input } from 'antd'
import { useState } from 'react'
import { changePassword, passwordLengths } from '../../../src/people/operators/contract.ts'
import { pageSessions, type SessionRecord } from '../../../src/people/sessions/contract.ts'
import { useWrite } from '../api.ts'
import { defineTexts } from '../language/index.ts'
import { SessionsTable } from '../people/sessions-table.tsx'
import { useTexts as usePeopleTexts } from '../people/texts.ts'
import { useSession } from '../session.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RecordForm } from '../ui/record-form.tsx'
import { useCommon } from '../ui/texts.ts'

const useTexts = defineTexts(
  {
    title: 'Your account',
    password: 'Change your password',
    old: 'The password until now',
    next: 'New password',
    change: 'Change it',
    changed: 'Changed. Your other sessions have ended.',
    isKey: 'You are signed in by an operator key, which has no password.',
    sessions: 'Sessions',
  },
  {
    title: '我的账号',
    password: '修改密码',
    old: '当前密码',
    next: '新密码',
    change: '修改',
    changed: '已修改，其他会话已结束。',
    isKey: '您使用运营密钥登录，没有密码。',
    sessions: '会话',
  },
)

export function Page() {
  const t = useTexts()
  return (
    <PageFrame title={t('title')} operation={pageSessions}>
      <PasswordCard />
      <Sessions />
    </PageFrame>
  )
}

function PasswordCard() {
  const t = useTexts()
  const common = useCommon()
  const { operatorId } = useSession()
  const [changes, setChanges] = useState(0)
  const change = useWrite(changePassword)
  const needed = { required: true, message: common('required') }
  return (
    <section className="card" style={{ maxWidth: 480 }}>
      <h2>{t('password')}</h2>
      {operatorId === null ? (
        <p className="faint">{t('isKey')}</p>
      ) : (
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
      )}
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
