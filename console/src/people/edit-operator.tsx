import { Form, Radio } from 'antd'
import { getOperator, type OperatorRecord, updateOperator } from '../../../src/people/operators/contract.ts'
import { everyRole, type Role } from '../../../src/vocabulary/roles.ts'
import { useWrite } from '../api/api.ts'
import { FormDrawer } from '../ui/form/form-drawer.tsx'
import { type Edited, RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { ApplicationsPicker } from './applications.tsx'
import { useFrame } from './frame.tsx'
import { Held, useLeaving } from './hand-over.tsx'
import { NameField } from './name-field.tsx'
import { RoleChoice } from './role.tsx'
import { useTexts } from './texts.ts'

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

interface Entered {
  name: string
  role: Role
  status: 1 | 2
  appIds: string[]
}

function EditForm({ edited, onClose }: { edited: Edited<OperatorRecord>; onClose: () => void }) {
  const t = useTexts()
  const [form] = Form.useForm<Entered>()
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
        return { name, role, status, appIds } as Entered
      }}
      send={({ values: { appIds, ...members }, headers }) => {
        const memberships = members.role === 'developer' && { appIds }
        const input = { id: edited.data.id, ...members, ...memberships, ...leaving.input }
        return update.mutateAsync({ input, headers })
      }}
      onSaved={onClose}
      back={onClose}
    >
      <NameField isOfAccount />
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
