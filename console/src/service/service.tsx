import { useState } from 'react'
import type { Static } from 'typebox'
import { Nothing } from '../ui/page/nothing.tsx'
import './service.css'
import type { FindingRecord } from '../../../src/service/contract.ts'
import { getServiceDetail, type SettingInForce, type TableSize } from '../../../src/service/detail/contract.ts'
import { useRead } from '../api/api.ts'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { inBytes } from '../ui/text/bytes.ts'
import { Facts } from '../ui/text/facts.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useSentences } from './sentences.ts'
import { useTexts } from './texts.ts'

type Detail = Static<typeof getServiceDetail.data>
type Forecast = NonNullable<Detail['forecast']>

/** The page “Service”: the service's database, disk and processes, for the people who operate it. */
export function Page() {
  return (
    <PageFrame operation={getServiceDetail}>
      <Service />
    </PageFrame>
  )
}

function Service() {
  const t = useTexts()
  const { data, error, refetch } = useRead(getServiceDetail, {}, { refetchInterval: 30_000 })
  if (data === undefined) {
    return <Unread error={error} refetch={refetch} />
  }
  const { findings, forecast, tables, settings } = data
  return (
    <>
      <div className="service-head">
        <Card title={t('about')}>
          <About detail={data} />
        </Card>
        <Card title={t('findings')}>
          <Findings findings={findings} />
        </Card>
      </div>
      <div className="service-tables">
        <Card title={t('tables')}>
          <p className="faint">{t('tablesWords')}</p>
          <Tables tables={tables} />
        </Card>
        <Card title={t('forecast')}>
          {forecast === null ? <Nothing words={t('forecastUnknown')} /> : <Year forecast={forecast} />}
        </Card>
      </div>
      {settings !== null && (
        <Card title={t('settings')}>
          <p className="faint">{t('settingsWords')}</p>
          <Settings settings={settings} />
        </Card>
      )}
    </>
  )
}

function About({ detail }: { detail: Detail }) {
  const t = useTexts()
  const { databaseVersion: version, isDistributed, isEmbedded, databaseBytes, bytesPerDay } = detail
  return (
    <Facts
      facts={{
        [t('version')]: detail.version,
        [t('runtime')]: detail.runtime,
        [t('databaseVersion')]: t(isDistributed ? 'distributed' : isEmbedded ? 'embedded' : 'external', { version }),
        [t('startTime')]: <span className="number">{detail.startTime}</span>,
        [t('databaseBytes')]: databaseBytes !== null && inBytes(databaseBytes),
        [t('bytesPerDay')]: bytesPerDay === null ? t('growthUnknown') : inBytes(Math.max(0, bytesPerDay)),
      }}
    />
  )
}

const tones = { fail: 'bad', warn: 'warn', ok: 'good' } as const

function Findings({ findings }: { findings: FindingRecord[] }) {
  const t = useTexts()
  const { sentence, todo } = useSentences()
  return (
    <Rows<FindingRecord>
      label={t('findings')}
      isSmall
      rowKey={({ code }) => code}
      rows={findings}
      empty={null}
      columns={[
        {
          key: 'finding',
          title: t('finding'),
          most: 380,
          render: (finding) => <State tone={tones[finding.status]}>{sentence(finding)}</State>,
        },
        { key: 'todo', title: t('todo'), most: 260, render: (finding) => todo(finding) },
      ]}
    />
  )
}

/** The page first shows this many tables: most are small, and of little interest. */
const shownTables = 12

function Tables({ tables }: { tables: TableSize[] }) {
  const t = useTexts()
  const [isWhole, setWhole] = useState(false)
  const kept = (days: number) => t('keptDays', { days: grouped(days) })
  return (
    <>
      <Rows<TableSize>
        label={t('tables')}
        isSmall
        rowKey={({ name }) => name}
        rows={isWhole ? tables : tables.slice(0, shownTables)}
        empty={null}
        columns={[
          { key: 'name', title: t('table'), className: 'mono' },
          {
            key: 'rows',
            title: t('rowCount'),
            align: 'end',
            render: ({ rows }) => (rows === null ? '–' : grouped(rows)),
          },
          { key: 'size', title: t('size'), align: 'end', render: ({ bytes }) => inBytes(bytes) },
          {
            key: 'kept',
            title: t('kept'),
            render: ({ keptDays, setting }) => (
              <span title={setting ?? undefined}>{keptDays === null ? t('forever') : kept(keptDays)}</span>
            ),
          },
        ]}
      />
      {!isWhole && tables.length > shownTables && (
        <Button type="link" onClick={() => setWhole(true)}>
          {t('allTables', { count: tables.length })}
        </Button>
      )}
    </>
  )
}

function Year({ forecast: { months, fullTime } }: { forecast: Forecast }) {
  const t = useTexts()
  const most = Math.max(1, ...months.map(({ bytes }) => bytes))
  return (
    <>
      {fullTime !== null && (
        <Note type="warning" role="status" words={t('fullTime', { time: fullTime.slice(0, 10) })} />
      )}
      <p className="faint">{t('forecastWords')}</p>
      <Rows<Forecast['months'][number]>
        label={t('forecast')}
        isSmall
        rowKey={({ time }) => time}
        rows={months}
        empty={null}
        columns={[
          { key: 'month', title: t('month'), className: 'number', render: ({ time }) => time.slice(0, 10) },
          {
            key: 'size',
            title: t('size'),
            className: 'fills',
            render: ({ bytes }) => (
              <span className="service-month">
                <span style={{ width: `${(bytes / most) * 100}%` }} aria-hidden="true" />
                <span className="number">{inBytes(bytes)}</span>
              </span>
            ),
          },
        ]}
      />
    </>
  )
}

function Settings({ settings }: { settings: SettingInForce[] }) {
  const t = useTexts()
  const [isWhole, setWhole] = useState(false)
  return (
    <>
      <Rows<SettingInForce>
        label={t('settings')}
        isSmall
        rowKey={({ name }) => name}
        rows={isWhole ? settings : settings.filter(({ isSet }) => isSet)}
        empty={<Nothing words={t('allByDefault')} />}
        columns={[
          { key: 'name', title: t('name'), className: 'mono' },
          { key: 'value', title: t('value'), most: 460, render: (setting) => <Value setting={setting} /> },
          {
            key: 'isSet',
            title: t('isSet'),
            render: ({ isSet }) =>
              isSet ? <strong>{t('set')}</strong> : <span className="faint">{t('byDefault')}</span>,
          },
        ]}
      />
      {!isWhole && (
        <Button type="link" onClick={() => setWhole(true)}>
          {t('allSettings', { count: settings.length })}
        </Button>
      )}
    </>
  )
}

function Value({ setting: { value, isSecret, isSet } }: { setting: SettingInForce }) {
  const t = useTexts()
  if (value !== null) return <span className="mono">{value}</span>
  return <span className="faint">{isSecret && isSet ? t('hidden') : t('nothing')}</span>
}
