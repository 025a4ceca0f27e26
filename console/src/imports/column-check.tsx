import { Select } from 'antd'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { columnFaults, columnsOf, isIgnored, leftOut, nameless, type RowKind } from './columns.ts'
import type { FileStart } from './file-start.ts'
import { useTexts } from './texts.ts'

interface ColumnCheckProps {
  rows: RowKind
  start: FileStart
  names: readonly (string | undefined)[]
  setNames: (names: (string | undefined)[]) => void
  /** Whether the file is being sent. */
  isFixed: boolean
}

interface FileColumn {
  index: number
  heading: string
  samples: string[]
}

/** The mapping of a file's columns, with samples from its first rows, and the missing or unknown columns. */
export function ColumnCheck({ rows, start, names, setNames, isFixed }: ColumnCheckProps) {
  const t = useTexts()
  const isCsv = start.format === 'csv'
  const columns: RowsColumn<FileColumn>[] = [
    {
      key: 'heading',
      title: t('heading'),
      render: ({ heading }) => <span className="mono">{heading === '' ? t('blank') : heading}</span>,
    },
    {
      key: 'name',
      title: t('name'),
      render: ({ index, heading }) =>
        isCsv && !isIgnored(rows, names[index]) ? (
          <Select
            aria-label={t('nameOf', { heading })}
            style={{ width: 210, maxWidth: '100%' }}
            showSearch
            allowClear
            disabled={isFixed}
            placeholder={t('chooseColumn')}
            value={names[index] ?? null}
            {...(names[index] === undefined && { status: 'error' as const })}
            onChange={(name: string | undefined) => setNames(names.with(index, name ?? undefined))}
            options={[
              { value: leftOut, label: t('leaveOut') },
              ...(names[index] === nameless ? [{ value: nameless, label: t('emptyColumn') }] : []),
              ...columnsOf(rows).map(({ name, isRequired }) => ({
                value: name,
                label: isRequired ? `${name} *` : name,
              })),
            ]}
          />
        ) : (
          columnsOf(rows).some(({ name }) => name === heading) && heading
        ),
    },
    {
      key: 'sample',
      title: t('sample'),
      render: ({ samples }) => samples.filter((sample) => sample !== '').join(' · '),
    },
  ]
  return (
    <div className="spaced">
      <Faults rows={rows} start={start} names={names} setNames={setNames} isFixed={isFixed} />
      <Rows<FileColumn>
        label={t('columns')}
        isSmall
        columns={columns}
        rows={start.headings.map((heading, index) => ({
          index,
          heading,
          samples: start.samples.map((cells) => (cells[index] ?? '').slice(0, 60)),
        }))}
        rowKey={({ index }) => index}
        empty={t('fault_empty')}
      />
    </div>
  )
}

function Faults({ rows, start, names, setNames, isFixed }: ColumnCheckProps) {
  const t = useTexts()
  const { missing, twice, unknown, ignored } = columnFaults(rows, start.headings, names)
  const isCsv = start.format === 'csv'
  const left = start.headings.filter((_, index) => names[index] === leftOut)
  const leaveAllOut = (
    <Button size="small" disabled={isFixed} onClick={() => setNames(names.map((name) => name ?? leftOut))}>
      {t('leaveAllOut')}
    </Button>
  )
  const checks: [tone: 'error' | 'warning' | 'info', key: Parameters<typeof t>[0], columns: string[]][] = [
    [isCsv ? 'error' : 'warning', isCsv ? 'missing' : 'missingNdjson', missing],
    ['error', 'twice', isCsv ? twice : []],
    [isCsv ? 'error' : 'warning', isCsv ? 'unknown' : 'ignored', unknown],
    ['info', 'notSet', ignored],
    ['info', 'leavesOut', left],
  ]
  const found = checks.filter(([, , columns]) => columns.length > 0)
  const fits = found.every(([tone]) => tone === 'info')
  const fine = <Note key="fits" type="success" words={t('columnsFit')} />
  const told = found.map(([type, key, columns]) => (
    <Note
      key={key}
      type={type}
      words={t(key, { columns: columns.map((name) => (name === '' ? t('blank') : name)).join(', ') })}
      action={key === 'unknown' && leaveAllOut}
    />
  ))
  const spoilt = start.spoilt.map(({ heading, kind, cell }) => (
    <Note
      key={`${kind} ${heading}`}
      type="warning"
      words={t(`spoilt_${kind}`, { heading: heading === '' ? t('blank') : heading, cell })}
    />
  ))
  return [...(fits ? [fine] : []), ...told, ...spoilt]
}
