import { Alert, App, Button, Form, Skeleton, Tabs } from 'antd'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import {
  createDevice,
  createDevices,
  type DeviceRecord,
  getDevice,
  updateDevice,
} from '../../../src/devices/contract.ts'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { newIdempotencyKey, useReadTagged, useWrite } from '../api.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ApplicationPicker, NoApplication, useApplication } from '../ui/application-picker.tsx'
import { useFilters } from '../ui/filters.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalAlert, RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { DeviceRefusal, Fields, type Meanwhile, markFields, unmarkFields } from './fields.tsx'
import { LinkButton } from './parts.tsx'
import { blankDraft, type Draft, fieldNames, toRegistration } from './rows.ts'
import { Several } from './several.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts(
  'devices-edit',
  {
    newTitle: 'New device',
    editTitle: 'Edit {{deviceNo}}',
    one: 'One device',
    created: '{{name}} is registered.',
    merged:
      'This is how it is now, with what you typed. Where both differ, it is said at the field. Save to keep yours.',
  },
  {
    newTitle: '新建设备',
    editTitle: '编辑 {{deviceNo}}',
    one: '单个新建',
    created: '{{name}} 已注册。',
    merged: '已载入最新内容并保留您的填写，不一致之处在字段下方注明。保存后以您的填写为准。',
  },
)

/** A new device, many new devices, or one that is changed, as the address says. */
export function Page() {
  const { appId = '', deviceNo } = useParams()
  return deviceNo === undefined ? <NewDevices /> : <EditDevice appId={appId} deviceNo={deviceNo} />
}

function NewDevices() {
  const t = useTexts()
  const common = useCommon()
  const devices = useDeviceTexts()
  const [appId, choose] = useApplication()
  const { values, set } = useFilters(['tab'] as const)
  const tab = values.tab === 'several' ? 'several' : 'one'
  return (
    <PageFrame title={t('newTitle')} operation={tab === 'several' ? createDevices : createDevice}>
      <section className="card">
        <Form layout="vertical" component="div">
          <Form.Item label={common('application')} htmlFor="device-application" required style={{ margin: 0 }}>
            <ApplicationPicker id="device-application" value={appId} onChange={choose} />
          </Form.Item>
        </Form>
        <Tabs
          style={{ marginTop: 8 }}
          activeKey={tab}
          onChange={(key) => set({ tab: key === 'several' ? key : '' })}
          items={[
            { key: 'one', label: t('one'), children: appId === '' ? <NoApplication /> : <NewDevice appId={appId} /> },
            {
              key: 'several',
              label: devices('several'),
              children: appId === '' ? <NoApplication /> : <Several appId={appId} />,
            },
          ]}
        />
      </section>
    </PageFrame>
  )
}

function NewDevice({ appId }: { appId: string }) {
  const t = useTexts()
  const common = useCommon()
  const navigate = useNavigate()
  const { message } = App.useApp()
  const [form] = Form.useForm<Draft>()
  const [key, setKey] = useState(newIdempotencyKey)
  const create = useWrite(createDevice)

  async function save(draft: Draft): Promise<void> {
    try {
      const made = await create.mutateAsync({ input: { appId, ...toRegistration(draft) }, headers: key })
      void message.success(t('created', { name: made.deviceName }))
      await navigate(paths.device(made.appId, made.deviceNo))
    } catch (error) {
      const refusal = error as ForecourtError
      if (refusal.code === 10008) setKey(newIdempotencyKey())
      markFields(form, refusal)
    }
  }

  return (
    <Form<Draft>
      form={form}
      name="device"
      layout="vertical"
      style={{ maxWidth: 860 }}
      initialValues={blankDraft}
      onFinish={(draft) => void save(draft)}
      onValuesChange={(changed) => unmarkFields(form, changed)}
      scrollToFirstError={{ focus: true }}
    >
      <DeviceRefusal error={create.error} appId={appId} deviceNo={create.variables?.input.deviceNo ?? ''} />
      <Fields form={form} isNew />
      <div style={{ display: 'flex', gap: 8 }}>
        <Button type="primary" htmlType="submit" loading={create.isPending}>
          {common('create')}
        </Button>
        <LinkButton to={paths.devices({ appId })}>{common('cancel')}</LinkButton>
      </div>
    </Form>
  )
}

interface DeviceKey {
  appId: string
  deviceNo: string
}

function EditDevice({ appId, deviceNo }: DeviceKey) {
  const t = useTexts()
  const { data, error, refetch } = useReadTagged(getDevice, { appId, deviceNo })
  return (
    <PageFrame title={t('editTitle', { deviceNo })} operation={updateDevice}>
      {data === undefined && error !== null && <RefusalResult error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton active />}
      {data !== undefined && (
        <section className="card">
          <EditForm
            key={`${appId} ${deviceNo}`}
            opened={data}
            readAgain={async () => {
              const { data: now } = await refetch({ throwOnError: true })
              return now
            }}
          />
        </section>
      )}
    </PageFrame>
  )
}

interface Tagged {
  data: DeviceRecord
  etag: string | null
}

function draftOf({ deviceNo, deviceName, tag, deviceBattery: place }: DeviceRecord): Draft {
  return {
    deviceNo,
    deviceName,
    tag: tag ?? '',
    districtCode: place.districtCode,
    coordinates: place.coordinates,
    detailAddress: place.detailAddress ?? '',
    provinceCode: place.provinceCode,
    cityCode: place.cityCode,
  }
}

/** What was typed stays; what was not touched is as it is now; where both have changed a field, `meanwhile` says so. */
function merge(typed: Draft, opened: Draft, now: Draft): { merged: Draft; meanwhile: Meanwhile } {
  const merged = { ...now }
  const meanwhile: Meanwhile = {}
  for (const name of fieldNames) {
    if (typed[name] === opened[name] || typed[name] === now[name]) continue
    merged[name] = typed[name]
    if (now[name] !== opened[name]) meanwhile[name] = now[name]
  }
  return { merged, meanwhile }
}

function EditForm({ opened, readAgain }: { opened: Tagged; readAgain: () => Promise<Tagged | undefined> }) {
  const t = useTexts()
  const common = useCommon()
  const navigate = useNavigate()
  const { message } = App.useApp()
  const [form] = Form.useForm<Draft>()
  const [base, setBase] = useState(opened)
  const [meanwhile, setMeanwhile] = useState<Meanwhile>()
  const [readError, setReadError] = useState<Error>()
  const update = useWrite(updateDevice)
  const { appId, deviceNo } = base.data
  const isChangedMeanwhile = update.error?.code === 10009

  async function save(draft: Draft): Promise<void> {
    const headers: Record<string, string> = base.etag === null ? {} : { 'if-match': base.etag }
    try {
      await update.mutateAsync({ input: { appId, ...toRegistration(draft), deviceNo }, headers })
      void message.success(common('saved'))
      await navigate(paths.device(appId, deviceNo))
    } catch (error) {
      markFields(form, error as ForecourtError)
    }
  }

  async function takeTheirs(): Promise<void> {
    const now = await readAgain().catch(setReadError)
    if (now === undefined) return
    setReadError(undefined)
    const next = merge(form.getFieldsValue(), draftOf(base.data), draftOf(now.data))
    form.setFieldsValue(next.merged)
    setMeanwhile(next.meanwhile)
    setBase(now)
    update.reset()
  }

  return (
    <Form<Draft>
      form={form}
      name="device"
      layout="vertical"
      style={{ maxWidth: 860 }}
      initialValues={draftOf(opened.data)}
      onFinish={(draft) => void save(draft)}
      onValuesChange={(changed) => unmarkFields(form, changed)}
      scrollToFirstError={{ focus: true }}
    >
      <RefusalAlert error={readError} />
      {isChangedMeanwhile ? (
        <Alert
          type="warning"
          showIcon
          role="alert"
          style={{ marginBottom: 16 }}
          title={common('changedMeanwhile')}
          description={common('unsaved')}
          action={<Button onClick={() => void takeTheirs()}>{common('takeTheirs')}</Button>}
        />
      ) : (
        <DeviceRefusal error={update.error} appId={appId} deviceNo={deviceNo} />
      )}
      {meanwhile !== undefined && !isChangedMeanwhile && (
        <Alert type="info" showIcon role="status" style={{ marginBottom: 16 }} title={t('merged')} />
      )}
      <Fields form={form} isNew={false} {...(meanwhile !== undefined && { meanwhile })} />
      <div style={{ display: 'flex', gap: 8 }}>
        <Button type="primary" htmlType="submit" loading={update.isPending}>
          {common('save')}
        </Button>
        <LinkButton to={paths.device(appId, deviceNo)}>{common('cancel')}</LinkButton>
      </div>
    </Form>
  )
}
