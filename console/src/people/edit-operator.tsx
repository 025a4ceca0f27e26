import { App, Button, Drawer, Form, Radio } from 'antd'
import { useState } from 'react'
import { everyRole, type Role } from '../../../src/callers/roles.ts'
import { getOperator, type OperatorRecord, updateOperator } from '../../../src/operators/contract.ts'
import { useReadTagged, useWrite } from '../api.ts'
import { Conflict } from '../ui/conflict.tsx'
import { Loading } from '../ui/loading.tsx'
import { RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { ApplicationsPicker } from './applications.tsx'
import { NameField } from './name-field.tsx'
import { Refused, useMarking } from './refused.tsx'
import { RoleChoice } from './role.tsx'
import { useTexts } from './texts.ts'

interface EditOperatorProps {
  /** The account that is edited; the drawer is closed while it is undefined. */
  id: number | undefined
  name: string
  onClose: () => void
}

export function EditOperator({ id, name, onClose }: EditOperatorProps) {
  const t = useTexts()
  return (
    <Drawer
      open={id !== undefined}
      onClose={onClose}
      size="min(520px, 100vw)"
      title={t('editOperator', { name })}
      destroyOnHidden
    >
      {id !== undefined && <Editing id={id} onClose={onClose} />}
    </Drawer>
  )
}

interface Read {
  data: OperatorRecord
  etag: string | null
}

function Editing({ id, onClose }: { id: number; onClose: () => void }) {
  const { data, error, refetch } = useReadTagged(getOperator, { id })
  if (data === undefined) {
    return error === null ? <Loading /> : <RefusalResult error={error} retry={() => void refetch()} />
  }
  return <EditForm read={data} readAnew={async () => (await refetch({ throwOnError: true })).data} onClose={onClose} />
}

interface Entered {
  name: string
  role: Role
  status: 1 | 2
  appIds: string[]
}

const enteredOf = ({ name, role, status, appIds }: OperatorRecord) => ({ name, role, status, appIds }) as Entered

interface EditFormProps {
  read: Read
  readAnew: () => Promise<Read | undefined>
  onClose: () => void
}

function EditForm({ read, readAnew, onClose }: EditFormProps) {
  const t = useTexts()
  const common = useCommon()
  const { message } = App.useApp()
  const [form] = Form.useForm<Entered>()
  const role = Form.useWatch('role', form) ?? read.data.role
  const mark = useMarking(form)
  const update = useWrite(updateOperator)
  // What the form began with; a newer state takes its place only when one chooses it.
  const [base, setBase] = useState(read)
  const [newer, setNewer] = useState<Read>()
  const [isLoading, setLoading] = useState(false)
  const isConflict = update.error?.code === 10009

  async function save(etag: string | null): Promise<void> {
    const entered = form.getFieldsValue(true) as Entered
    const { id } = base.data
    const { name, role, status } = entered
    const input = { id, name, role, status, ...(role === 'developer' ? { appIds: entered.appIds } : {}) }
    try {
      await update.mutateAsync({ input, headers: etag === null ? {} : { 'if-match': etag } })
      void message.success(common('saved'))
      onClose()
    } catch (refusal) {
      mark(refusal)
    }
  }

  async function load(): Promise<void> {
    setLoading(true)
    setNewer(await readAnew().catch(() => undefined))
    setLoading(false)
  }

  function begin(from: Read): void {
    setBase(from)
    setNewer(undefined)
  }

  return (
    <Form<Entered>
      form={form}
      layout="vertical"
      initialValues={enteredOf(base.data)}
      onFinish={() => void save(base.etag)}
      scrollToFirstError={{ focus: true }}
    >
      {isConflict ? (
        <Conflict
          opened={base.data}
          now={newer?.data}
          isLoading={isLoading}
          load={() => void load()}
          keepMine={() => {
            if (newer === undefined) return
            begin(newer)
            void save(newer.etag)
          }}
          takeTheirs={() => {
            if (newer === undefined) return
            begin(newer)
            form.setFieldsValue(enteredOf(newer.data))
            update.reset()
          }}
        />
      ) : (
        <Refused error={update.error} />
      )}
      <NameField />
      <Form.Item name="role" label={t('role')}>
        <RoleChoice roles={everyRole} words={(each) => t(`words_${each}`)} />
      </Form.Item>
      {role === 'developer' && (
        <Form.Item name="appIds" label={t('applications')}>
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
      <Button type="primary" htmlType="submit" loading={update.isPending}>
        {common('save')}
      </Button>
    </Form>
  )
}
