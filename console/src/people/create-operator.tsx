import { App, Button, Drawer, Form, Input, Radio } from 'antd'
import type { Static } from 'typebox'
import { everyRole, type Role } from '../../../src/callers/roles.ts'
import { createOperator } from '../../../src/operators/contract.ts'
import { useWrite } from '../api.ts'
import { useCommon } from '../ui/texts.ts'
import { ApplicationsPicker } from './applications.tsx'
import { NameField } from './name-field.tsx'
import { Refused, useMarking } from './refused.tsx'
import { RoleChoice } from './role.tsx'
import { useTexts } from './texts.ts'

interface Entered {
  name: string
  role: Role
  appIds: string[]
  entry: 'link' | 'password'
  password: string
}

interface CreateOperatorProps {
  isOpen: boolean
  onClose: () => void
  onCreated: (made: Static<typeof createOperator.data>) => void
}

/** Makes an account, by default with a link by which the person chooses their own password. */
export function CreateOperator({ isOpen, onClose, onCreated }: CreateOperatorProps) {
  const t = useTexts()
  return (
    <Drawer open={isOpen} onClose={onClose} size="min(520px, 100vw)" title={t('newOperator')} destroyOnHidden>
      <CreateForm onCreated={onCreated} />
    </Drawer>
  )
}

function CreateForm({ onCreated }: Pick<CreateOperatorProps, 'onCreated'>) {
  const t = useTexts()
  const common = useCommon()
  const { message } = App.useApp()
  const [form] = Form.useForm<Entered>()
  const chosenRole = Form.useWatch('role', form)
  const entry = Form.useWatch('entry', form)
  const mark = useMarking(form)
  const create = useWrite(createOperator)

  async function run(entered: Entered): Promise<void> {
    const { name, role } = entered
    const password = entered.entry === 'password' ? entered.password : null
    const appIds = role === 'developer' ? entered.appIds : null
    try {
      const made = await create.mutateAsync({ input: { name, role, appIds, password } })
      void message.success(t('created', { name: made.name }))
      onCreated(made)
    } catch (refusal) {
      mark(refusal)
    }
  }

  return (
    <Form<Entered>
      form={form}
      layout="vertical"
      initialValues={{ role: 'operator', appIds: [], entry: 'link' }}
      onFinish={(entered) => void run(entered)}
      scrollToFirstError={{ focus: true }}
    >
      <Refused error={create.error} />
      <NameField />
      <Form.Item name="role" label={t('role')}>
        <RoleChoice roles={everyRole} words={(each) => t(`words_${each}`)} />
      </Form.Item>
      {chosenRole === 'developer' && (
        <Form.Item name="appIds" label={t('applications')}>
          <ApplicationsPicker />
        </Form.Item>
      )}
      <Form.Item name="entry" label={t('entry')}>
        <Radio.Group style={{ display: 'grid', gap: 8 }}>
          {(['link', 'password'] as const).map((value) => (
            <Radio key={value} value={value} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }}>
              <div>{t(value === 'link' ? 'entryLink' : 'entryPassword')}</div>
              <div className="faint" style={{ fontSize: 13 }}>
                {t(value === 'link' ? 'entryLinkWords' : 'entryPasswordWords')}
              </div>
            </Radio>
          ))}
        </Radio.Group>
      </Form.Item>
      {entry === 'password' && (
        <Form.Item
          name="password"
          label={t('password')}
          rules={[
            { required: true, message: common('required') },
            { min: 12, max: 256, message: t('tooShort') },
          ]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
      )}
      <Button type="primary" htmlType="submit" loading={create.isPending}>
        {common('create')}
      </Button>
    </Form>
  )
}
