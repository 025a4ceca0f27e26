import { DeleteOutlined } from '@ant-design/icons'
import { Form } from 'antd'
import { useState } from 'react'
import { deleteView, saveView, type ViewRecord } from '../../../src/people/views/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { Dialog, DialogButtons } from '../ui/dialog/dialog.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { LimitedInput } from '../ui/form/limited.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { useTexts } from './texts.ts'

interface SaveViewProps {
  /** The saved views of the list. */
  views: readonly ViewRecord[]
  view: Pick<ViewRecord, 'page' | 'query' | 'columns'>
  onClose: () => void
}

/** Asks for a name, and saves the list under it as it is shown now. */
export function SaveView({ views, view, onClose }: SaveViewProps) {
  const t = useTexts()
  const { mutateAsync, error, isPending } = useWrite(saveView)
  const [name, setName] = useState('')
  const isReady = name.trim() !== ''
  async function save(): Promise<void> {
    if (!isReady || isPending) return
    await mutateAsync({ input: { ...view, name: name.trim() } })
    showSuccess(t('saved'))
    onClose()
  }
  return (
    <Dialog
      title={t('saveTitle')}
      onClose={onClose}
      footer={
        <DialogButtons verb={t('save')} isReady={isReady} isRunning={isPending} form="save-view" onClose={onClose} />
      }
    >
      <p>{t('what')}</p>
      <RefusalAlert error={error} fieldNames={{ name: t('name') }} />
      <Form name="save-view" layout="vertical" onFinish={() => void save().catch(() => {})}>
        <TextItem
          label={t('name')}
          extra={views.some((known) => known.name === name.trim()) ? t('replaces') : undefined}
          most={lengths.name}
          autoFocus
          value={name}
          onChange={setName}
        />
      </Form>
    </Dialog>
  )
}

/** Renames and deletes the views of a list. */
export function ManageViews({ views, onClose }: { views: readonly ViewRecord[]; onClose: () => void }) {
  const t = useTexts()
  return (
    <Dialog title={t('manageTitle')} onClose={onClose}>
      <ul className="plain-list stacked">
        {views.map((view) => (
          <ManagedView key={view.id} view={view} />
        ))}
      </ul>
      {views.length === 0 && <p>{t('none')}</p>}
    </Dialog>
  )
}

function ManagedView({ view }: { view: ViewRecord }) {
  const t = useTexts()
  const saving = useWrite(saveView)
  const deleting = useWrite(deleteView)
  const [name, setName] = useState(view.name)
  const [isAsking, setAsking] = useState(false)
  const isChanged = name.trim() !== '' && name.trim() !== view.name
  async function rename(): Promise<void> {
    if (!isChanged) return
    const { id, page, query, columns } = view
    await saving.mutateAsync({ input: { id, page, query, columns, name: name.trim() } })
    showSuccess(t('saved'))
  }
  return (
    <li>
      <RefusalAlert error={saving.error} fieldNames={{ name: t('name') }} />
      <form
        className="buttons"
        onSubmit={(event) => {
          event.preventDefault()
          void rename().catch(() => {})
        }}
      >
        <LimitedInput
          aria-label={t('rename', { name: view.name })}
          most={lengths.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button htmlType="submit" disabled={!isChanged} loading={saving.isPending}>
          {t('save')}
        </Button>
        <Button
          danger
          icon={<DeleteOutlined />}
          aria-label={t('delete', { name: view.name })}
          onClick={() => setAsking(true)}
        />
      </form>
      <Confirm
        isOpen={isAsking}
        title={t('deleteTitle', { name: view.name })}
        verb={t('deleteVerb')}
        isDangerous
        run={() => deleting.mutateAsync({ input: { id: view.id } })}
        done={t('deleted')}
        onClose={() => setAsking(false)}
      >
        {t('deleteWords')}
      </Confirm>
    </li>
  )
}
