import { App, Button, Form, Input } from 'antd'
import { useState } from 'react'
import { changePassword } from '../../../src/operators/contract.ts'
import { deleteSession, pageSessions, type SessionRecord } from '../../../src/sessions/contract.ts'
import { useWrite } from '../api.ts'
import { defineTexts } from '../language/index.ts'
import { useSession } from '../session.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { type Column, Records } from '../ui/records.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'
import { State } from '../ui/status.tsx'
import { useCommon } from '../ui/texts.ts'

const useTexts = defineTexts(
  'account',
  {
    title: 'Your account',
    password: 'Change your password',
    old: 'The password until now',
    next: 'New password',
    tooShort: 'At least 12 characters.',
    change: 'Change it',
    changed: 'Changed. Your other sessions have ended.',
    isKey: 'You are signed in by an operator key, which has no password.',
    sessions: 'Sessions',
    who: 'Who',
    browser: 'Browser',
    began: 'Began',
    seen: 'Last used',
    ends: 'Ends',
    thisOne: 'This one',
    end: 'End',
    endTitle: 'End this session?',
  },
  {
    title: '我的账号',
    password: '修改密码',
    old: '当前密码',
    next: '新密码',
    tooShort: '至少 12 个字符。',
    change: '修改',
    changed: '已修改，其他会话已结束。',
    isKey: '您使用运营密钥登录，没有密码。',
    sessions: '会话',
    who: '用户',
    browser: '浏览器',
    began: '开始时间',
    seen: '最近使用',
    ends: '到期时间',
    thisOne: '当前会话',
    end: '结束',
    endTitle: '结束此会话？',
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
          <RefusalAlert error={change.error} />
          <Form.Item name="password" label={t('old')} rules={[needed]}>
            <Input.Password autoComplete="current-password" />
          </Form.Item>
          <Form.Item name="newPassword" label={t('next')} rules={[needed, { min: 12, message: t('tooShort') }]}>
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
  const common = useCommon()
  const { id: own } = useSession()
  const end = useWrite(deleteSession)
  const [chosen, setChosen] = useState<SessionRecord>()
  const columns: Column<SessionRecord>[] = [
    { key: 'name', title: t('who'), dataIndex: 'name', isFixed: true },
    { key: 'userAgent', title: t('browser'), dataIndex: 'userAgent', ellipsis: true, width: 320 },
    { key: 'createTime', title: t('began'), dataIndex: 'createTime', className: 'number' },
    { key: 'seenTime', title: t('seen'), dataIndex: 'seenTime', className: 'number' },
    { key: 'expireTime', title: t('ends'), dataIndex: 'expireTime', className: 'number', isExtra: true },
    {
      key: 'actions',
      title: common('actions'),
      isFixed: true,
      render: (_, session) =>
        session.id === own ? (
          <State tone="good">{t('thisOne')}</State>
        ) : (
          <Button size="small" danger onClick={() => setChosen(session)}>
            {t('end')}
          </Button>
        ),
    },
  ]
  return (
    <section className="card">
      <h2>{t('sessions')}</h2>
      <Records name="sessions" operation={pageSessions} input={{}} columns={columns} rowKey={({ id }) => id ?? 0} />
      <Confirm
        isOpen={chosen !== undefined}
        title={t('endTitle')}
        verb={t('end')}
        isDangerous
        run={() => end.mutateAsync({ input: { id: chosen?.id ?? null } })}
        onClose={() => setChosen(undefined)}
      />
    </section>
  )
}
