import { Alert, Select } from 'antd'
import type { ImportKind } from '../../../src/bulk/contract.ts'
import { Rows, type RowsColumn } from '../ui/rows.tsx'
import { columnFaults, importColumns } from './columns.ts'
import type { FileStart } from './file-start.ts'
import { useTexts } from './texts.ts'

interface ColumnCheckProps {
  kind: ImportKind
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
export function ColumnCheck({ kind, start, names, setNames, isFixed }: ColumnCheckProps) {
  const t = useTexts()
  const isCsv = start.format === 'csv'
  const columns: RowsColumn<FileColumn>[] = [
    {
      key: 'heading',
      title: t('heading'),
      render: (_, { heading }) => <span className="mono">{heading === '' ? t('blank') : heading}</span>,
    },
    {
      key: 'name',
      title: t('name'),
      render: (_, { index, heading }) =>
        isCsv ? (
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
            options={importColumns[kind].map(({ name, isRequired }) => ({
              value: name,
              label: isRequired ? `${name} *` : name,
            }))}
          />
        ) : (
          importColumns[kind].some(({ name }) => name === heading) && heading
        ),
    },
    {
      key: 'sample',
      title: t('sample'),
      render: (_, { samples }) => samples.filter((sample) => sample !== '').join(' · '),
    },
  ]
  return (
    <div style={{ marginBottom: 16 }}>
      <Faults kind={kind} start={start} names={names} />
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

function Faults({ kind, start, names }: Pick<ColumnCheckProps, 'kind' | 'start' | 'names'>) {
  const t = useTexts()
  const { missing, twice, unknown } = columnFaults(kind, start.headings, names)
  const isCsv = start.format === 'csv'
  const checks: [tone: 'error' | 'warning', key: Parameters<typeof t>[0], columns: string[]][] = [
    [isCsv ? 'error' : 'warning', isCsv ? 'missing' : 'missingNdjson', missing],
    ['error', 'twice', isCsv ? twice : []],
    [isCsv ? 'error' : 'warning', isCsv ? 'unknown' : 'ignored', unknown],
  ]
  const found = checks.filter(([, , columns]) => columns.length > 0)
  if (found.length === 0) return <Alert type="success" showIcon style={{ marginBottom: 12 }} title={t('columnsFit')} />
  return found.map(([type, key, columns]) => (
    <Alert
      key={key}
      type={type}
      showIcon
      style={{ marginBottom: 12, overflowWrap: 'anywhere' }}
      title={t(key, { columns: columns.map((name) => (name === '' ? t('blank') : name)).join(', ') })}
    />
  ))
}
