import { useState } from 'react'
import { Link } from 'react-router'
import { createDevice, createDevices, type DeviceRecord, pageDevices } from '../../../src/devices/contract.ts'
import { unbindDevices } from '../../../src/devices/ownership/contract.ts'
import { AllThatMatch } from '../acts/all-that-match.tsx'
import { useMay } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { SiteFilter, SiteOfDevice } from '../placements/parts.tsx'
import { RegionFilter } from '../regions/cascader.tsx'
import { ApplicationFilter, ChoiceFilter, RangeFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { part } from '../ui/page/part.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { OneLine } from '../ui/table/rows.tsx'
import { useSelection } from '../ui/table/selection.ts'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { HealthState, OnlineState, RunState } from '../ui/text/status.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { LastReportTime } from './last-report.tsx'
import { Battery, useSeesAll } from './parts.tsx'
import type { ChosenDevice } from './selection.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts({
  more: ['More filters', '更多筛选'],
  fewer: ['Fewer filters', '收起筛选'],
  empty: ['No devices yet.', '还没有设备。'],
})

const FindSerial = part(async () => (await import('./find-serial.tsx')).FindSerial)
const DeviceSelection = part(async () => (await import('./selection.tsx')).DeviceSelection)

const mainFilters = ['deviceNo', 'deviceName', 'onlineStatus', 'status', 'runStatus'] as const
const moreFilters = [
  'modelName',
  'provinceCode',
  'cityCode',
  'districtCode',
  'lastReportFrom',
  'lastReportTo',
  'hasReported',
  'isPlaced',
  'siteId',
  'timeFrom',
  'timeTo',
] as const
const filterNames = [...mainFilters, ...moreFilters] as const

/** The interval at which the states are read again, in milliseconds. */
const refreshEvery = 10_000

export function Page() {
  const t = useTexts()
  const devices = useDeviceTexts()
  const may = useMay()
  const { values, set } = useFilters(['appId', 'find', 'siteId'] as const)
  const { appId } = values
  const seesAll = useSeesAll()
  const [isFinding, setFinding] = useState(values.find !== '')
  const stopFinding = () => {
    setFinding(false)
    set({ find: '' })
  }
  return (
    <PageFrame
      operation={pageDevices}
      actions={
        <>
          {seesAll && <Button onClick={() => setFinding(true)}>{devices('findTitle')}</Button>}
          {may(createDevices) && (
            <>
              <LinkButton to={paths.newImport({ kind: 'devices', appId })}>{t('import')}</LinkButton>
              <LinkButton to={paths.newDevice({ appId, tab: 'several' })}>{devices('several')}</LinkButton>
            </>
          )}
          {may(createDevice) && (
            <LinkButton type="primary" to={paths.newDevice({ appId })}>
              {t('newDevice')}
            </LinkButton>
          )}
        </>
      }
    >
      <section className="card">
        <Filters appId={appId} choose={(chosen) => set({ appId: chosen, siteId: '' })} />
        <DeviceRecords appId={appId} />
      </section>
      {isFinding && <FindSerial asked={values.find} onClose={stopFinding} />}
    </PageFrame>
  )
}

function Filters({ appId, choose }: { appId: string; choose: (appId: string) => void }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const { values, set, of, range } = useFilters(filterNames)
  const isMoreSet = moreFilters.some((name) => values[name] !== '')
  const [isOpen, setOpen] = useState(isMoreSet)
  // A view that is opened, or a link, may set what is folded: the user must see what narrows the list.
  const [wasMoreSet, setWasMoreSet] = useState(isMoreSet)
  if (isMoreSet !== wasMoreSet) {
    setWasMoreSet(isMoreSet)
    if (isMoreSet) setOpen(true)
  }
  const text = (name: (typeof filterNames)[number], label: string, width = 130) => (
    <TextFilter
      label={label}
      value={values[name]}
      onChange={(value) => set({ [name]: name === 'deviceNo' ? plainCode(value) : value.trim() })}
      meaning={name === 'deviceNo' ? plainCode : undefined}
      width={width}
    />
  )
  return (
    <FilterBar views="devices" values={{ appId, ...values }}>
      <ApplicationFilter isOptional value={appId} onChange={choose} />
      {text('deviceNo', devices('deviceNo'))}
      {text('deviceName', devices('deviceName'))}
      <ChoiceFilter
        label={devices('onlineStatus')}
        {...of('onlineStatus')}
        choices={{ 1: t('online'), 2: t('offline') }}
        width={96}
      />
      <ChoiceFilter
        label={devices('status')}
        {...of('status')}
        choices={{ 1: t('normal'), 2: t('faulty') }}
        width={96}
      />
      <ChoiceFilter
        label={devices('runStatus')}
        {...of('runStatus')}
        choices={{ 0: t('closed'), 1: t('open'), 2: t('stopped') }}
        width={96}
      />
      {isOpen && (
        <>
          {text('modelName', devices('modelName'))}
          <RegionFilter values={values} onChange={set} />
          <RangeFilter label={devices('lastReport')} {...range('lastReportFrom', 'lastReportTo')} isOfSilence />
          <ChoiceFilter
            label={devices('hasReported')}
            {...of('hasReported')}
            choices={{ true: devices('reportedOnce'), false: devices('neverReported') }}
            width={96}
          />
          <ChoiceFilter
            label={devices('placement')}
            {...of('isPlaced')}
            choices={{ true: devices('placed'), false: devices('placedNowhere') }}
            width={96}
          />
          {appId !== '' && <SiteFilter appId={appId} {...of('siteId')} />}
          <RangeFilter label={t('createTime')} {...range('timeFrom', 'timeTo')} />
        </>
      )}
      <Button type="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? t('fewer') : t('more')}
      </Button>
    </FilterBar>
  )
}

function DeviceRecords({ appId }: { appId: string }) {
  const t = useTexts()
  const may = useMay()
  const columns = useColumns(appId)
  const filters = useFilters(filterNames)
  const { values } = filters
  const [keys, choose] = useSelection()
  const maySelect = may(unbindDevices)
  return (
    <Records
      name="devices"
      operation={pageDevices}
      isLive
      isBrief
      exportKind="devices"
      input={{ appId, ...values }}
      columns={columns}
      rowKey={keyOf}
      refetchInterval={refreshEvery}
      filters={filters}
      {...(maySelect && { selection: { keys, onChange: (now) => choose(now as string[]) } })}
      footer={(found) => (
        <>
          {maySelect && keys.length > 0 && <DeviceSelection chosen={keys.map(readKey)} onDone={() => choose([])} />}
          <AllThatMatch kind="devices" appId={appId} values={values} {...found} />
        </>
      )}
      empty={
        <Nothing words={t('empty')}>
          {may(createDevice) && <Link to={paths.newDevice({ appId })}>{t('newDevice')}</Link>}
        </Nothing>
      }
    />
  )
}

/** The key of a row: its application and serial number, which holds no white space. */
const keyOf = ({ appId, deviceNo }: ChosenDevice) => `${appId} ${deviceNo}`
const readKey = (key: string): ChosenDevice => ({ appId: key.split(' ')[0] ?? '', deviceNo: key.split(' ')[1] ?? '' })

/** The columns. Without a chosen application, they show each device's. */
function useColumns(appId: string): Column<DeviceRecord>[] {
  const t = useTexts()
  const application = useApplicationColumn<DeviceRecord>(appId, t('orderAcross'))
  const devices = useDeviceTexts()
  return [
    {
      key: 'deviceName',
      sortBy: 'deviceName',
      title: devices('deviceName'),
      isFixed: true,
      className: 'fills',
      render: ({ appId, deviceNo, deviceName }) => (
        <Link to={paths.device(appId, deviceNo)}>
          <OneLine text={deviceName} />
        </Link>
      ),
    },
    { key: 'deviceNo', sortBy: 'deviceNo', title: devices('deviceNo'), className: 'mono brief-line', most: 190 },
    ...application.map((column) => ({ ...column, className: 'brief-beside' })),
    {
      key: 'onlineStatus',
      sortBy: 'onlineStatus',
      title: devices('onlineStatus'),
      className: 'brief-state',
      render: ({ onlineStatus }) => <OnlineState status={onlineStatus} />,
    },
    {
      key: 'status',
      sortBy: 'status',
      title: devices('status'),
      className: 'brief-state',
      render: ({ status }) => <HealthState status={status} />,
    },
    {
      key: 'runStatus',
      sortBy: 'runStatus',
      title: devices('runStatus'),
      className: 'brief-state',
      render: ({ runStatus }) => <RunState status={runStatus} />,
    },
    {
      key: 'lastReportTime',
      title: devices('lastReport'),
      isExtra: 641,
      least: 130,
      render: (device, devices) => <LastReportTime device={device} among={devices} />,
    },
    {
      key: 'site',
      title: devices('site'),
      isExtra: 1400,
      least: 120,
      render: (device, devices) => <SiteOfDevice device={device} among={devices} />,
    },
    {
      key: 'battery',
      isExtra: 1600,
      title: devices('battery'),
      render: ({ DeviceBatteryOutput }) => <Battery isShort battery={DeviceBatteryOutput} />,
    },
    {
      key: 'modelName',
      sortBy: 'modelName',
      isExtra: 1600,
      title: devices('modelName'),
      most: 112,
      none: t('unknown'),
    },
    {
      key: 'address',
      sortBy: 'districtCode',
      title: devices('address'),
      className: 'fills',
      isExtra: 1800,
      render: ({ deviceBattery }) => <OneLine text={addressOf(deviceBattery)} />,
    },
    {
      key: 'coordinates',
      title: devices('coordinates'),
      isExtra: true,
      className: 'mono',
      render: ({ deviceBattery }) => deviceBattery.coordinates,
    },
    {
      key: 'tag',
      title: devices('tag'),
      isExtra: true,
      render: ({ tag }) => <OneLine text={tag ?? t('unknown')} most={200} />,
    },
    { key: 'version', title: devices('version'), isExtra: true, none: t('unknown') },
    {
      key: 'statusRemark',
      title: devices('statusRemark'),
      isExtra: true,
      render: ({ statusRemark }) => <OneLine text={statusRemark ?? t('unknown')} most={200} />,
    },
    { key: 'createTime', sortBy: 'createTime', title: t('createTime'), className: 'number', isExtra: 1600 },
  ]
}

function addressOf(place: DeviceRecord['deviceBattery']): string {
  const { cityName, cityCode, districtName, districtCode, detailAddress } = place
  return [cityName ?? cityCode, districtName ?? districtCode, detailAddress].filter(Boolean).join(' ')
}
