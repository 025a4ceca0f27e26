import { App, Button, Descriptions, Drawer, Form } from 'antd'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type ApplicationRecord, getApplication, updateApplication } from '../../../src/applications/contract.ts'
import { useReadTagged, useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { useMay } from '../session.tsx'
import { Loading } from '../ui/loading.tsx'
import { RefusalResult } from '../ui/refusal.tsx'
import { Copyable } from '../ui/secret.tsx'
import { OnlineState } from '../ui/status.tsx'
import { useCommon } from '../ui/texts.ts'
import { ApplicationFields, type ApplicationValues, useFieldNames } from './fields.tsx'
import { markFaults, SaveRefusal, takeNewer } from './form.tsx'
import { FrozenState } from './list.tsx'
import { durationWords, useTexts } from './texts.ts'

export function OverviewTab({ application }: { application: ApplicationRecord }) {
  const t = useTexts()
  const common = useCommon()
  const may = useMay()
  const [isEditing, setEditing] = useState(false)
  const { appId, appName, status, frozenReason, onlineStatus, tokenLifetimeSeconds, rateLimitPerSecond, createTime } =
    application
  const items = [
    ['appName', t('appName'), appName],
    ['appId', t('appId'), <Hinted key="appId" text={<Copyable text={appId} />} hint={t('appIdHint')} />],
    ['onlineStatus', t('onlineStatus'), <OnlineState key="onlineStatus" status={onlineStatus} />],
    ['status', t('status'), <FrozenState key="status" application={application} />],
    ...(status === 2 ? [['frozenReason', t('frozenReason'), frozenReason]] : []),
    [
      'tokenLifetimeSeconds',
      t('tokenLifetime'),
      `${tokenLifetimeSeconds.toLocaleString()} s (${durationWords(t, tokenLifetimeSeconds)})`,
    ],
    [
      'rateLimitPerSecond',
      t('rateLimit'),
      rateLimitPerSecond === null ? t('noLimit') : t('perSecond', { rate: rateLimitPerSecond.toLocaleString() }),
    ],
    ['createTime', common('createTime'), createTime],
  ] as [string, string, ReactNode][]
  return (
    <section className="card">
      <div className="page-head">
        <h2 style={{ margin: 0 }}>{t('tab_overview')}</h2>
        <span className="spacer" />
        {may(updateApplication) && <Button onClick={() => setEditing(true)}>{common('edit')}</Button>}
      </div>
      <Descriptions
        bordered
        size="small"
        column={{ xs: 1, md: 2 }}
        styles={{ label: { whiteSpace: 'nowrap' } }}
        items={items.map(([key, label, children]) => ({ key, label, children: children ?? common('unknown') }))}
      />
      <p style={{ margin: '12px 0 0' }}>
        <Link to={paths.refusals({ appId })}>{common('refusals')}</Link>
      </p>
      <Drawer
        open={isEditing}
        onClose={() => setEditing(false)}
        mask={{ closable: false }}
        title={t('editTitle', { name: appName })}
        size={640}
        destroyOnHidden
      >
        <Editor appId={appId} onClose={() => setEditing(false)} />
      </Drawer>
    </section>
  )
}

function Hinted({ text, hint }: { text: ReactNode; hint: string }) {
  return (
    <>
      {text} <span className="faint">{hint}</span>
    </>
  )
}

function Editor({ appId, onClose }: { appId: string; onClose: () => void }) {
  const { data, error, refetch } = useReadTagged(getApplication, { appId })
  if (data === undefined) return error === null ? <Loading /> : <RefusalResult error={error} />
  const readNewer = async () => (await refetch()).data?.data
  return <EditForm application={data.data} etag={data.etag} readNewer={readNewer} onClose={onClose} />
}

interface EditFormProps {
  application: ApplicationRecord
  etag: string | null
  readNewer: () => Promise<ApplicationRecord | undefined>
  onClose: () => void
}

const valuesOf = ({ appName, tokenLifetimeSeconds, rateLimitPerSecond }: ApplicationRecord): ApplicationValues => ({
  appName,
  tokenLifetimeSeconds,
  rateLimitPerSecond,
})

function EditForm({ application, etag, readNewer, onClose }: EditFormProps) {
  const common = useCommon()
  const { message } = App.useApp()
  const [form] = Form.useForm<ApplicationValues>()
  const fieldNames = useFieldNames()
  const [opened, setOpened] = useState(application)
  const update = useWrite(updateApplication)

  async function run(values: ApplicationValues): Promise<void> {
    try {
      const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag }
      await update.mutateAsync({ input: { appId: application.appId, ...values }, headers })
      void message.success(common('saved'))
      onClose()
    } catch (error) {
      markFaults(form, error)
    }
  }

  function take(newer: ApplicationRecord): void {
    takeNewer(form, { ...valuesOf(newer) })
    setOpened(newer)
    update.reset()
  }

  return (
    <Form<ApplicationValues>
      form={form}
      layout="vertical"
      scrollToFirstError={{ focus: true, block: 'center' }}
      initialValues={valuesOf(application)}
      onFinish={(values) => void run(values)}
    >
      <ApplicationFields />
      <SaveRefusal
        error={update.error}
        fieldNames={fieldNames}
        opened={opened}
        readNewer={readNewer}
        keepMine={form.submit}
        takeTheirs={take}
      />
      <div style={{ display: 'flex', gap: 8 }}>
        <Button type="primary" htmlType="submit" loading={update.isPending}>
          {common('save')}
        </Button>
        <Button onClick={onClose}>{common('cancel')}</Button>
      </div>
    </Form>
  )
}
