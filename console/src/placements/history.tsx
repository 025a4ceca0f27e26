import { useState } from 'react'
import { Link } from 'react-router'
import { type PlacementRecord, pagePlacementHistory } from '../../../src/devices/placement/contract.ts'
import { useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Loading } from '../ui/page/loading.tsx'
import { leastForNames, Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { Lane } from './parts.tsx'
import { useTexts } from './texts.ts'

interface HistoryProps {
  title: string
  /** One site, or one device. */
  filter: { appId: string } & ({ siteId: number } | { deviceNo: string })
}

/** The placements at a site or of a device. They are read when the user opens the list. */
export function PlacementHistory({ title, filter }: HistoryProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="spaced-above">
      <summary>{title}</summary>
      {isOpen && <HistoryRows title={title} filter={filter} />}
    </details>
  )
}

function HistoryRows({ title, filter }: HistoryProps) {
  const t = useTexts()
  const { data } = useRead(pagePlacementHistory, { ...filter, pageSize: 50 }, { live: filter.appId })
  if (data === undefined) return <Loading />
  const isOfSite = 'siteId' in filter
  const subject: RowsColumn<PlacementRecord> = isOfSite
    ? {
        key: 'deviceNo',
        title: t('device'),
        className: 'mono',
        render: ({ appId, deviceNo }) => <Link to={paths.device(appId, deviceNo)}>{deviceNo}</Link>,
      }
    : {
        key: 'site',
        title: t('site'),
        most: 200,
        least: leastForNames,
        render: ({ appId, siteId, siteName }) => <Link to={paths.site(appId, siteId)}>{siteName}</Link>,
      }
  const columns: RowsColumn<PlacementRecord>[] = [
    subject,
    {
      key: 'lane',
      title: t('lane'),
      most: 160,
      least: leastForNames,
      render: ({ laneType, laneName }) => <Lane {...{ laneType, laneName }} />,
    },
    { key: 'placedTime', title: t('since'), className: 'number' },
    {
      key: 'removedTime',
      title: t('until'),
      most: 200,
      render: ({ removedTime, removedBy }) =>
        removedTime === null ? (
          <span className="faint">{t('unknown')}</span>
        ) : (
          <span>
            <span className="number">{removedTime}</span> {removedBy !== null && <Actor actor={removedBy} />}
          </span>
        ),
    },
    { key: 'reason', title: t('reason'), most: 200, none: t('unknown') },
  ]
  return (
    <Rows
      label={title}
      isSmall
      columns={columns}
      rows={data.list}
      rowKey={({ deviceNo, placedTime, siteId }) => `${deviceNo} ${siteId} ${placedTime}`}
      empty={<span className="faint">{t('noHistory')}</span>}
    />
  )
}
