import { App, Button, Descriptions, Form, Input } from 'antd'
import { changePassword, passwordLengths } from '../../../src/operators/contract.ts'
import { pageSessions, type SessionRecord } from '../../../src/sessions/contract.ts'
import { useWrite } from '../api.ts'
import { defineTexts } from '../language/index.ts'
import { SessionsTable } from '../people/sessions-table.tsx'
import { useTexts as usePeopleTexts } from '../people/texts.ts'
import { useSession } from '../session.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'

const useTexts = defineTexts(
  'account',
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

interface Entered {
  password: string
  newPassword: string
}

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
  const { message } = App.useApp()
  const { operatorId } = useSession()
  const [form] = Form.useForm<Entered>()
  const change = useWrite(changePassword)
  const needed = { required: true, message: common('required') }

  async function run(input: Entered): Promise<void> {
    try {
      await change.mutateAsync({ input })
      form.resetFields()
      void message.success(t('changed'))
    } catch {
      // Shown above the form, which stays as it is.
    }
  }

  return (
    <section className="card" style={{ maxWidth: 480 }}>
      <h2>{t('password')}</h2>
      {operatorId === null ? (
        <p className="faint">{t('isKey')}</p>
      ) : (
        <Form<Entered> form={form} layout="vertical" onFinish={(input) => void run(input)}>
          <RefusalAlert error={change.error} fieldNames={{ newPassword: t('next') }} />
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
          <Button type="primary" htmlType="submit" loading={change.isPending}>
            {t('change')}
          </Button>
        </Form>
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
        // An admin is answered everyone's sessions, unless it is said whose are meant.
        <SessionsTable name="sessions" input={{ operatorId }} isOwn />
      )}
    </section>
  )
}

/** The session that a key is in: no filter of `pageSessions` finds those of a key. */
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
