import { Input, Table, type TableColumnType } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { type FieldName, fieldNames } from '../imports/row-faults.ts'
import { paths } from '../paths.ts'
import { RegionByName } from '../regions/region-choice.tsx'
import { Button } from '../ui/page/button.tsx'
import { Wide } from '../ui/table/wide.tsx'
import { State } from '../ui/text/status.tsx'
import type { Batch, BatchRow } from './batch.ts'
import { useTexts } from './several-texts.ts'
import { useDeviceTexts, useFieldNames } from './texts.ts'

interface RowsTableProps {
  appId: string
  batch: Batch
  rows: BatchRow[]
}

/** The rows with their outcomes. Faults are marked, and rows that are not registered can be corrected. */
export function RowsTable({ appId, batch, rows }: RowsTableProps) {
  const t = useTexts()
  const labels = useFieldNames()
  const [editing, setEditing] = useState<ReadonlySet<number>>(new Set())
  const isNeeded = (name: FieldName) =>
    fieldNames.indexOf(name) < 4 || batch.rows.some(({ draft }) => draft[name] !== '')

  function edit(id: number, isOn: boolean): void {
    setEditing((before) => new Set(isOn ? [...before, id] : [...before].filter((other) => other !== id)))
  }

  const cells: TableColumnType<BatchRow>[] = fieldNames.filter(isNeeded).map((name) => ({
    key: name,
    title: labels[name],
    render: (_, row) => (
      <Cell
        name={name}
        row={row}
        batch={batch}
        isEditing={editing.has(row.id) && batch.mayChange(row)}
        close={() => edit(row.id, false)}
      />
    ),
  }))
  return (
    <Wide label={t('table')}>
      <Table<BatchRow>
        size="small"
        rowKey="id"
        dataSource={rows}
        pagination={{ pageSize: 50, hideOnSinglePage: true, showSizeChanger: false }}
        columns={[
          { key: 'row', title: t('row'), align: 'end', className: 'number', render: (_, { id }) => id + 1 },
          {
            key: 'outcome',
            title: t('result'),
            render: (_, row) => (
              <RowOutcome
                appId={appId}
                batch={batch}
                row={row}
                isEditing={editing.has(row.id)}
                edit={(isOn) => edit(row.id, isOn)}
              />
            ),
          },
          ...cells,
        ]}
      />
    </Wide>
  )
}

interface CellProps {
  name: FieldName
  row: BatchRow
  batch: Batch
  isEditing: boolean
  close: () => void
}

function Cell({ name, row, batch, isEditing, close }: CellProps) {
  const labels = useFieldNames()
  const value = row.draft[name]
  const isFaulty = row.outcome === undefined && batch.faults(row)[name] !== undefined
  if (isEditing) {
    const input = (
      <Input
        size="small"
        style={{ minWidth: 140 }}
        aria-label={`${labels[name]}, ${row.id + 1}`}
        {...(isFaulty && { status: 'error' as const })}
        value={value}
        onChange={(event) => batch.change(row.id, { [name]: event.target.value })}
        onPressEnter={close}
      />
    )
    return name === 'districtCode' ? (
      <>
        {input}
        <RegionByName width={200} codes={row.draft} onChange={(codes) => batch.change(row.id, { ...codes })} />
      </>
    ) : (
      input
    )
  }
  return (
    <span
      className={name === 'deviceNo' || name === 'coordinates' ? 'mono' : ''}
      title={value}
      style={{
        display: 'inline-block',
        maxWidth: 220,
        overflow: 'hidden',
        textOverflow: 'ellipsis',
        whiteSpace: 'nowrap',
        verticalAlign: 'bottom',
        ...(isFaulty && { color: 'var(--bad)', textDecoration: 'underline wavy' }),
      }}
    >
      {value === '' ? '–' : value}
    </span>
  )
}

interface RowOutcomeProps {
  appId: string
  batch: Batch
  row: BatchRow
  isEditing: boolean
  edit: (isOn: boolean) => void
}

function RowOutcome({ appId, batch, row, isEditing, edit }: RowOutcomeProps) {
  const t = useTexts()
  return (
    <div
      style={{ display: 'flex', gap: 8, alignItems: 'flex-start', minWidth: 220, maxWidth: 360, whiteSpace: 'normal' }}
    >
      <div className="grows">
        <Words appId={appId} batch={batch} row={row} />
      </div>
      {batch.mayChange(row) && (
        <Button
          size="small"
          aria-label={`${isEditing ? t('done') : t('correct')} ${row.id + 1}`}
          onClick={() => edit(!isEditing)}
        >
          {isEditing ? t('done') : t('correct')}
        </Button>
      )}
    </div>
  )
}

function Words({ appId, batch, row }: Pick<RowOutcomeProps, 'appId' | 'batch' | 'row'>) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const labels = useFieldNames()
  const stage = batch.stageOf(row)
  if (stage === 'ready') return <State tone="idle">{t('ready')}</State>
  if (stage === 'registered') {
    return (
      <Link to={paths.device(appId, row.draft.deviceNo)}>
        <State tone="good">{t('registered')}</State>
      </Link>
    )
  }
  if (row.outcome === undefined) {
    const faults = Object.entries(batch.faults(row)) as [
      FieldName,
      NonNullable<ReturnType<Batch['faults']>[FieldName]>,
    ][]
    return faults.map(([name, fault]) => (
      <div key={name} className="bad">
        {labels[name]}: {devices(`fault_${fault}`)}
      </div>
    ))
  }
  const { msg, code, errors } = row.outcome
  return (
    <div>
      <div className="bad">
        {msg} ({code})
      </div>
      {errors.map(({ field, reason }) => (
        <div key={field}>
          {labels[field as FieldName] ?? field}: {reason}
        </div>
      ))}
    </div>
  )
}
