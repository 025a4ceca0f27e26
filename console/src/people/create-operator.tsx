import { Form, Input, Radio } from 'antd'
import type { Static } from 'typebox'
import { createOperator, passwordLengths } from '../../../src/people/operators/contract.ts'
import { everyRole, type Role } from '../../../src/vocabulary/roles.ts'
import { useWrite } from '../api/api.ts'
import { FormDrawer } from '../ui/form/form-drawer.tsx'
import { RecordForm } from '../ui/form/record-form.tsx'
import { ApplicationsPicker } from './applications.tsx'
import { useFrame } from './frame.tsx'
import { NameField } from './name-field.tsx'
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

/** Creates an account, by default with a link by which the person sets their own password. */
export function CreateOperator({ isOpen, onClose, onCreated }: CreateOperatorProps) {
  const t = useTexts()
  return (
    <FormDrawer isOpen={isOpen} onClose={onClose} title={t('newOperator')}>
      <CreateForm onCreated={onCreated} onClose={onClose} />
    </FormDrawer>
  )
}

function CreateForm({ onCreated, onClose }: Pick<CreateOperatorProps, 'onCreated' | 'onClose'>) {
  const t = useTexts()
  const [form] = Form.useForm<Entered>()
  const chosenRole = Form.useWatch('role', form)
  const entry = Form.useWatch('entry', form)
  const create = useWrite(createOperator)
  return (
    <RecordForm
      {...useFrame()}
      form={form}
      valuesOf={(): Entered => ({ name: '', role: 'operator', appIds: [], entry: 'link', password: '' })}
      send={({ values: { name, role, ...entered }, headers }) => {
        const password = entered.entry === 'password' ? entered.password : null
        const appIds = role === 'developer' ? entered.appIds : null
        return create.mutateAsync({ input: { name, role, appIds, password }, headers })
      }}
      successMessage={({ name }) => t('created', { name })}
      onSaved={onCreated}
      back={onClose}
    >
      <NameField isOfAccount />
      <Form.Item name="role" label={t('role')}>
        <RoleChoice roles={everyRole} words={(each) => t(`words_${each}`)} />
      </Form.Item>
      {chosenRole === 'developer' && (
        <Form.Item name="appIds" label={t('applications')} extra={t('applicationsHint')}>
          <ApplicationsPicker />
        </Form.Item>
      )}
      <Form.Item name="entry" label={t('entry')}>
        <Radio.Group className="stacked">
          {(['link', 'password'] as const).map((value) => (
            <Radio key={value} value={value} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }}>
              <div>{t(value === 'link' ? 'entryLink' : 'entryPassword')}</div>
              <div className="faint small">{t(value === 'link' ? 'entryLinkWords' : 'entryPasswordWords')}</div>
            </Radio>
          ))}
        </Radio.Group>
      </Form.Item>
      {entry === 'password' && (
        <Form.Item
          name="password"
          label={t('password')}
          rules={[
            { required: true, message: t('required') },
            { ...passwordLengths, message: t('passwordLength', passwordLengths) },
          ]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
      )}
    </RecordForm>
  )
}
