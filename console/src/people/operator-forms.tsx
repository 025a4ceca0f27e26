import { Form, Radio } from 'antd'
import type { Static } from 'typebox'
import {
  createOperator,
  getOperator,
  type OperatorRecord,
  updateOperator,
} from '../../../src/people/operators/contract.ts'
import { everyRole, type Role } from '../../../src/vocabulary/roles.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api/api.ts'
import { PasswordItem } from '../ui/form/password-item.tsx'
import { type Edited, FormDrawer, RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { ApplicationsPicker, RoleChoice, useFrame } from './form-parts.tsx'
import { Held, useLeaving } from './hand-over.tsx'
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
      <TextItem name="name" label={t('name')} extra={t('nameSignsIn')} most={lengths.name} isNeeded />
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
      {entry === 'password' && <PasswordItem name="password" label={t('password')} autoComplete="new-password" />}
    </RecordForm>
  )
}

interface EditOperatorProps {
  /** The account to edit; the drawer is closed while it is undefined. */
  id: number | undefined
  name: string
  onClose: () => void
}

export function EditOperator({ id, name, onClose }: EditOperatorProps) {
  const t = useTexts()
  return (
    <FormDrawer isOpen={id !== undefined} onClose={onClose} title={t('editName', { name })}>
      {id !== undefined && <Editing id={id} onClose={onClose} />}
    </FormDrawer>
  )
}

function Editing({ id, onClose }: { id: number; onClose: () => void }) {
  const { edited, instead } = useEdited(getOperator, { id })
  return edited === undefined ? instead : <EditForm edited={edited} onClose={onClose} />
}

interface EnteredChanges {
  name: string
  role: Role
  status: 1 | 2
  appIds: string[]
}

function EditForm({ edited, onClose }: { edited: Edited<OperatorRecord>; onClose: () => void }) {
  const t = useTexts()
  const [form] = Form.useForm<EnteredChanges>()
  const role = Form.useWatch('role', form) ?? edited.data.role
  const isLeaving = Form.useWatch('status', form) === 2
  const leaving = useLeaving(isLeaving ? edited.data.id : undefined)
  const update = useWrite(updateOperator)
  const isManaged = edited.data.source === 2
  return (
    <RecordForm
      {...useFrame()}
      form={form}
      edited={edited}
      valuesOf={(operator = edited.data) => {
        const { name, role, status, appIds } = operator
        return { name, role, status, appIds } as EnteredChanges
      }}
      send={({ values: { appIds, ...members }, headers }) => {
        const memberships = members.role === 'developer' && { appIds }
        const input = { id: edited.data.id, ...members, ...memberships, ...leaving.input }
        return update.mutateAsync({ input, headers })
      }}
      onSaved={onClose}
      back={onClose}
    >
      <TextItem name="name" label={t('name')} extra={t('nameSignsIn')} most={lengths.name} isNeeded />
      <Form.Item name="role" label={t('role')} extra={isManaged && t('roleBySignOn')}>
        <RoleChoice roles={everyRole} words={(each) => t(`words_${each}`)} isDisabled={isManaged} />
      </Form.Item>
      {role === 'developer' && (
        <Form.Item name="appIds" label={t('applications')} extra={t('applicationsHint')}>
          <ApplicationsPicker />
        </Form.Item>
      )}
      <Form.Item name="status" label={t('status')} extra={t('disableWords')}>
        <Radio.Group
          optionType="button"
          options={[
            { value: 1, label: t('active') },
            { value: 2, label: t('disabled') },
          ]}
        />
      </Form.Item>
      <Held leaving={leaving} />
    </RecordForm>
  )
}
