import { Form } from 'antd'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import {
  createDevice,
  createDevices,
  type DeviceRecord,
  getDevice,
  updateDevice,
} from '../../../src/devices/contract.ts'
import { useWrite } from '../api/api.ts'
import { blankDraft, type Draft, toRegistration } from '../imports/row-faults.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ApplicationPicker, NoApplication, useApplication } from '../ui/filter/filters.tsx'
import { RecordForm, type RecordFormProps, useEdited } from '../ui/form/record-form.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Parts } from '../ui/page/parts.tsx'
import { Advice, Fields } from './fields.tsx'
import { Several } from './several.tsx'
import { useDeviceTexts, useFieldNames } from './texts.ts'

const useTexts = defineTexts({
  tabs: ['One or multiple devices', '新建方式'],
  editTitle: ['Edit {{deviceNo}}', '编辑 {{deviceNo}}'],
  one: ['One device', '单个新建'],
  created: ['Device {{name}} created.', '{{name}} 已注册。'],
})

/** The form for a new device, many new devices or a change of one, depending on the address. */
export function Page() {
  const { appId = '', deviceNo } = useParams()
  return deviceNo === undefined ? (
    <NewDevices />
  ) : (
    <EditDevice key={`${appId} ${deviceNo}`} appId={appId} deviceNo={deviceNo} />
  )
}

function NewDevices() {
  const t = useTexts()
  const devices = useDeviceTexts()
  const [appId, choose] = useApplication({ isOfNew: true })
  const [search] = useSearchParams()
  const tab = search.get('tab') === 'several' ? 'several' : 'one'
  // A part stays once it was shown, with what was entered.
  const [shown, setShown] = useState([tab])
  if (!shown.includes(tab)) setShown([...shown, tab])
  const pathOf = (part: string) => paths.newDevice({ appId: search.get('appId'), tab: part })
  return (
    <PageFrame title={t('newDevice')} operation={tab === 'several' ? createDevices : createDevice}>
      <Parts
        label={t('tabs')}
        current={tab}
        parts={[
          { key: 'one', title: t('one'), path: pathOf('') },
          { key: 'several', title: devices('several'), path: pathOf('several') },
        ]}
      />
      <section className="card">
        <Form layout="vertical" component="div">
          <Form.Item label={t('application')} htmlFor="device-application" required className="flush">
            <ApplicationPicker id="device-application" value={appId} onChange={choose} />
          </Form.Item>
        </Form>
        {appId === '' ? (
          <NoApplication />
        ) : (
          <>
            {shown.includes('one') && (
              <div hidden={tab !== 'one'}>
                <NewDevice appId={appId} />
              </div>
            )}
            {shown.includes('several') && (
              <div hidden={tab !== 'several'}>
                <Several appId={appId} />
              </div>
            )}
          </>
        )}
      </section>
    </PageFrame>
  )
}

function NewDevice({ appId }: { appId: string }) {
  const t = useTexts()
  const create = useWrite(createDevice)
  return (
    <DeviceForm
      appId={appId}
      back={paths.devices({ appId })}
      send={({ values, headers }) => create.mutateAsync({ input: { appId, ...toRegistration(values) }, headers })}
      successMessage={({ deviceName }) => t('created', { name: deviceName })}
    />
  )
}

function EditDevice({ appId, deviceNo }: { appId: string; deviceNo: string }) {
  const t = useTexts()
  const update = useWrite(updateDevice)
  const { edited, instead } = useEdited(getDevice, { appId, deviceNo })
  return (
    <PageFrame title={t('editTitle', { deviceNo })} operation={updateDevice}>
      {instead}
      {edited !== undefined && (
        <section className="card">
          <DeviceForm
            appId={appId}
            edited={edited}
            back={paths.device(appId, deviceNo)}
            send={({ values, headers }) =>
              update.mutateAsync({ input: { appId, ...toRegistration(values), deviceNo }, headers })
            }
          />
        </section>
      )}
    </PageFrame>
  )
}

function draftOf(device: DeviceRecord | undefined): Draft {
  if (device === undefined) return blankDraft
  const { deviceNo, deviceName, tag, deviceBattery: place } = device
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

type FrameProps = Pick<
  RecordFormProps<Draft, DeviceRecord, DeviceRecord>,
  'edited' | 'send' | 'successMessage' | 'back'
>

function DeviceForm({ appId, ...frame }: FrameProps & { appId: string }) {
  const navigate = useNavigate()
  const [form] = Form.useForm<Draft>()
  return (
    <div style={{ maxWidth: 860 }}>
      <RecordForm
        {...frame}
        form={form}
        valuesOf={draftOf}
        onSaved={(device) => navigate(paths.device(device.appId, device.deviceNo), { replace: true })}
        fieldNames={useFieldNames()}
        advice={({ code }) => <Advice code={code} appId={appId} deviceNo={form.getFieldValue('deviceNo')} />}
      >
        <Fields form={form} isNew={frame.edited === undefined} />
      </RecordForm>
    </div>
  )
}
