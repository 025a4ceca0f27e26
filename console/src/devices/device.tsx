import { useState } from 'react'
import { Link, useParams } from 'react-router'
import { type DeviceRecord, getDevice, updateDevice } from '../../../src/devices/contract.ts'
import { getDeviceHistory } from '../../../src/devices/ownership/contract.ts'
import { type EventRecord, pageEvents } from '../../../src/events/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { DeviceSite } from '../placements/device-site.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { Copyable } from '../ui/text/secret.tsx'
import { HealthState, OnlineState, RunState } from '../ui/text/status.tsx'
import { RecordJson } from '../ui/text/text-block.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { LastReportTime } from './last-report.tsx'
import { Owners } from './owners.tsx'
import { OwnershipActions } from './ownership.tsx'
import { Battery } from './parts.tsx'
import { Picture } from './picture.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts({
  device: ['Device', '设备信息'],
  bound: ['Bound since', '绑定时间'],
  unnamed: ['no name', '无名称'],
  noModel: [
    'Unknown model. Neither the inventory nor a serial prefix matches.',
    '型号未知：库存和序列号前缀均未指明。',
  ],
  noEvents: ['No events yet.', '还没有事件。'],
  state: ['State', '状态'],
  record: ['Data', '记录'],
  showRecord: ['View JSON of event {{id}}', '事件 {{id}} 的 JSON'],
  toList: ['Back to devices', '返回设备列表'],
  notHere: ['This application doesn’t own the device.', '该应用没有此设备。'],
  heldBefore: ['See the ownership history below.', '该序列号的归属历史见下方。'],
})

/** The interval at which the state is read again, in milliseconds. */
const refreshEvery = 10_000

export function Page() {
  const { appId = '', deviceNo = '' } = useParams()
  const { data, error, refetch } = useRead(
    getDevice,
    { appId, deviceNo },
    { refetchInterval: refreshEvery, live: appId },
  )
  // A device may be gone although cached data is still there.
  if (error?.code === 20002) return <Absent appId={appId} deviceNo={deviceNo} />
  if (data !== undefined) return <Present device={data} />
  return (
    <PageFrame title={deviceNo}>
      {error === null ? <Loading /> : <RefusalResult error={error} retry={() => void refetch()} />}
    </PageFrame>
  )
}

interface DeviceKey {
  appId: string
  deviceNo: string
}

/** Shown for a serial number that the application does not own, or no longer owns. */
function Absent({ appId, deviceNo }: DeviceKey) {
  const t = useTexts()
  const history = useRead(getDeviceHistory, { deviceNo })
  return (
    <PageFrame title={deviceNo} actions={<LinkButton to={paths.devices({ appId })}>{t('toList')}</LinkButton>}>
      <Note type="warning" words={t('notHere')}>
        {history.data && t('heldBefore')}
      </Note>
      {history.data && <OwnersCard appId={appId} deviceNo={deviceNo} />}
    </PageFrame>
  )
}

function Present({ device }: { device: DeviceRecord }) {
  const t = useTexts()
  const may = useMay()
  const { appId, deviceNo } = device
  return (
    <PageFrame
      title={device.deviceName}
      operation={getDevice}
      beside={
        <>
          <OnlineState status={device.onlineStatus} />
          <HealthState status={device.status} />
          <RunState status={device.runStatus} />
        </>
      }
      actions={may(updateDevice) && <LinkButton to={paths.editDevice(appId, deviceNo)}>{t('edit')}</LinkButton>}
    >
      <div className="side-by-side" style={{ '--least': '320px', alignItems: 'start' }}>
        <DeviceCard device={device} />
        <DeviceSite device={device} />
        <div>
          <AddressCard place={device.deviceBattery} />
          <ModelCard device={device} />
        </div>
        <OwnersCard appId={appId} deviceNo={deviceNo} />
      </div>
      <Card title={t('events')}>
        <DeviceEvents appId={appId} deviceNo={deviceNo} />
      </Card>
      <OwnershipActions appId={appId} deviceNo={deviceNo} />
    </PageFrame>
  )
}

function DeviceCard({ device }: { device: DeviceRecord }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  return (
    <Card title={t('device')}>
      <Facts
        facts={{
          [devices('deviceNo')]: <Copyable text={device.deviceNo} />,
          [t('application')]: <ApplicationName appId={device.appId} />,
          [devices('lastReport')]: <LastReportTime device={device} />,
          [devices('statusRemark')]: device.statusRemark,
          [devices('battery')]: <Battery battery={device.DeviceBatteryOutput} />,
          [devices('version')]: device.version,
          [devices('tag')]: device.tag,
          [t('bound')]: <span className="number">{device.createTime}</span>,
        }}
      />
    </Card>
  )
}

function AddressCard({ place }: { place: DeviceRecord['deviceBattery'] }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const divisions = [
    ['province', place.provinceName, place.provinceCode],
    ['city', place.cityName, place.cityCode],
    ['district', place.districtName, place.districtCode],
  ] as const
  return (
    <Card title={t('address')}>
      <Facts
        facts={{
          [t('region')]: (
            <span style={{ display: 'grid' }}>
              {divisions.map(([level, name, code]) => (
                <span key={level}>
                  {name ?? <span className="faint">{t('unnamed')}</span>} <span className="faint number">{code}</span>
                </span>
              ))}
            </span>
          ),
          [devices('detailAddress')]: place.detailAddress,
          [devices('coordinates')]: <Copyable text={place.coordinates} />,
        }}
      />
    </Card>
  )
}

function ModelCard({ device }: { device: DeviceRecord }) {
  const t = useTexts()
  const { modelName, deviceType, deviceTypeName, productPictureUrl } = device
  const type = [deviceTypeName, deviceType].filter((part) => part !== null).join(' · ')
  return (
    <Card title={t('modelName')}>
      {modelName === null ? (
        <span className="faint">{t('noModel')}</span>
      ) : (
        <div style={{ display: 'flex', gap: 16, alignItems: 'center' }}>
          <Picture
            key={productPictureUrl}
            url={productPictureUrl}
            alt={t('pictureOf', { name: modelName })}
            size={96}
          />
          <div className="wraps">
            <strong>{modelName}</strong>
            {type !== '' && <div className="faint">{type}</div>}
          </div>
        </div>
      )}
    </Card>
  )
}

function OwnersCard({ appId, deviceNo }: DeviceKey) {
  const devices = useDeviceTexts()
  const { data, error, refetch } = useRead(getDeviceHistory, { deviceNo }, { live: appId })
  return (
    <Card title={devices('history')}>
      {data === undefined && error !== null ? (
        <RefusalResult error={error} retry={() => void refetch()} />
      ) : (
        <Owners bindings={data?.list} />
      )}
      <Link to={paths.refusals({ deviceNo })}>{devices('refusals')}</Link>
    </Card>
  )
}

function DeviceEvents({ appId, deviceNo }: DeviceKey) {
  const t = useTexts()
  const words = useTypeWords()
  const [shown, setShown] = useState<EventRecord>()
  const columns: Column<EventRecord>[] = [
    { key: 'time', title: t('time'), className: 'number', isFixed: true },
    { key: 'event', title: t('event'), isFixed: true, render: ({ type }) => <span title={type}>{words(type)}</span> },
    { key: 'state', title: t('state'), render: ({ data }) => <StateThen record={data as Partial<DeviceRecord>} /> },
    actorColumn(t('by')),
    {
      key: 'record',
      title: t('record'),
      render: (event) => (
        <Button size="small" aria-label={t('showRecord', { id: event.id })} onClick={() => setShown(event)}>
          JSON
        </Button>
      ),
    },
  ]
  return (
    <>
      <Records
        name="device-events"
        operation={pageEvents}
        isLive
        input={{ appId, deviceNo }}
        orderedBy="time"
        columns={columns}
        rowKey={({ id }) => id}
        refetchInterval={refreshEvery}
        empty={t('noEvents')}
      />
      <Dialog
        isOpen={shown !== undefined}
        title={t('eventTitle', { id: shown?.id ?? '' })}
        footer={<Button onClick={() => setShown(undefined)}>{t('close')}</Button>}
        onClose={() => setShown(undefined)}
        width={720}
      >
        <RecordJson record={shown} />
      </Dialog>
    </>
  )
}

/** The device's record after an event. */
function StateThen({ record }: { record: Partial<DeviceRecord> }) {
  const { onlineStatus, status, runStatus } = record
  if (onlineStatus === undefined || status === undefined || runStatus === undefined) return null
  return (
    <span style={{ display: 'inline-flex', flexWrap: 'wrap', columnGap: 12 }}>
      <OnlineState status={onlineStatus} />
      <HealthState status={status} />
      <RunState status={runStatus} />
    </span>
  )
}
