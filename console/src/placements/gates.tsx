import { useState } from 'react'
import { Link } from 'react-router'
import {
  type PlacedDeviceRecord,
  pagePlacements,
  removePlacement,
  savePlacement,
} from '../../../src/devices/placement/contract.ts'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { part } from '../ui/page/part.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { leastForNames, OneLine, Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { grouped } from '../ui/text/number.ts'
import { HealthState, OnlineState, RunState } from '../ui/text/status.tsx'
import { useDeviceFields } from '../words/fields.ts'
import { PlacementHistory } from './history.tsx'
import { Lane } from './parts.tsx'
import { useTexts } from './texts.ts'

const PlaceDevices = part(async () => (await import('./place-devices.tsx')).PlaceDevices)
const PlaceDialog = part(async () => (await import('./placement-dialogs.tsx')).PlaceDialog)
const RemoveDialog = part(async () => (await import('./placement-dialogs.tsx')).RemoveDialog)

/** The interval at which the states are read again, in milliseconds. */
const refreshEvery = 10_000
/** The most gates that the page shows. */
const most = 100

/** Sorts by lane: entrances first, then exits, each by the name of the lane. */
const byLane = (one: PlacedDeviceRecord, other: PlacedDeviceRecord) =>
  one.laneType - other.laneType ||
  (one.laneName ?? '').localeCompare(other.laneName ?? '') ||
  one.deviceNo.localeCompare(other.deviceNo)

type Asked = { act: 'place' } | { act: 'change' | 'remove'; gate: PlacedDeviceRecord }

/** The devices that are placed at a site, in the order of their lanes. */
export function Gates({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const may = useMay()
  const { appId, id } = site
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const read = useRead(
    pagePlacements,
    { appId, siteId: id, pageSize: most },
    { refetchInterval: refreshEvery, live: appId },
  )
  return (
    <section className="card">
      <div className="on-a-line">
        <h2 className="grows">{t('devices')}</h2>
        {may(savePlacement) && <Button onClick={() => setAsked({ act: 'place' })}>{t('placeDevices')}</Button>}
      </div>
      {read.data === undefined ? (
        <Unread error={read.error} refetch={read.refetch} />
      ) : (
        <>
          <GateRows gates={read.data.list.toSorted(byLane)} ask={setAsked} />
          {read.data.nextCursor !== null && (
            <p>
              {t('newestShown', { shown: most, total: grouped(read.data.total) })}{' '}
              <Link to={paths.devices({ appId, siteId: id })}>{t('allOfThem')}</Link>
            </p>
          )}
        </>
      )}
      <PlacementHistory title={t('history')} filter={{ appId, siteId: id }} />

      {asked?.act === 'place' && <PlaceDevices site={site} onClose={close} />}
      {asked?.act === 'change' && (
        <PlaceDialog appId={appId} deviceNo={asked.gate.deviceNo} now={asked.gate} onClose={close} />
      )}
      {asked?.act === 'remove' && <RemoveDialog placement={asked.gate} onClose={close} />}
    </section>
  )
}

function GateRows({ gates, ask }: { gates: PlacedDeviceRecord[]; ask: (asked: Asked) => void }) {
  const t = useTexts()
  const devices = useDeviceFields()
  const may = useMay()
  const columns: RowsColumn<PlacedDeviceRecord>[] = [
    {
      key: 'lane',
      title: t('lane'),
      most: 160,
      least: leastForNames,
      render: ({ laneType, laneName }) => <Lane {...{ laneType, laneName }} />,
    },
    {
      key: 'device',
      title: t('device'),
      className: 'fills',
      render: ({ appId, deviceNo, deviceName }) => (
        <>
          <Link to={paths.device(appId, deviceNo)}>
            <OneLine text={deviceName} />
          </Link>
          <div className="mono faint">{deviceNo}</div>
        </>
      ),
    },
    {
      key: 'onlineStatus',
      title: devices('onlineStatus'),
      render: ({ onlineStatus }) => <OnlineState status={onlineStatus} />,
    },
    {
      key: 'status',
      title: devices('status'),
      render: ({ status, statusRemark }) => (
        <span title={statusRemark ?? undefined}>
          <HealthState status={status} />
        </span>
      ),
    },
    { key: 'runStatus', title: devices('runStatus'), render: ({ runStatus }) => <RunState status={runStatus} /> },
    { key: 'lastReportTime', title: t('lastReport'), className: 'number', none: t('never') },
  ]
  if (may(savePlacement) && may(removePlacement)) {
    columns.push({
      key: 'actions',
      title: t('actions'),
      render: (gate) => (
        <span className="buttons">
          <Button
            size="small"
            aria-label={t('changeOf', { deviceNo: gate.deviceNo })}
            onClick={() => ask({ act: 'change', gate })}
          >
            {t('change')}
          </Button>
          <Button
            size="small"
            aria-label={t('removeOf', { deviceNo: gate.deviceNo })}
            onClick={() => ask({ act: 'remove', gate })}
          >
            {t('remove')}
          </Button>
        </span>
      ),
    })
  }
  return (
    <Rows
      label={t('devices')}
      columns={columns}
      rows={gates}
      rowKey={({ deviceNo }) => deviceNo}
      empty={<Nothing words={t('noGates')} />}
    />
  )
}
