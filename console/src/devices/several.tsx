import { UploadOutlined } from '@ant-design/icons'
import { Alert, App, Button, Form, Input, Progress, Segmented, Table, type TableColumnType, Upload } from 'antd'
import { useMemo, useState } from 'react'
import { Link } from 'react-router'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { RefusalAlert } from '../ui/refusal.tsx'
import { State } from '../ui/status.tsx'
import { useCommon } from '../ui/texts.ts'
import { Wide } from '../ui/wide.tsx'
import { type Batch, type BatchRow, type Stage, useBatch } from './batch.ts'
import { useAdvice } from './fields.tsx'
import { LinkButton } from './parts.tsx'
import { blankDraft, type Draft, draftColumns, type FieldName, fieldNames, tidyPair } from './rows.ts'
import { readTable, readTextFile, tableText } from './table-text.ts'
import { useDeviceTexts, useFieldNames } from './texts.ts'

const useTexts = defineTexts(
  'devices-several',
  {
    hint: 'Paste rows from a spreadsheet, CSV, or one serial number a line. With a heading the columns may stand in any order; without one they are {{columns}}.',
    text: 'Devices',
    file: 'Read a file',
    ignored: 'Columns that mean nothing here were left out: {{columns}}.',
    noRows: 'There are no rows in this text.',
    forEmpty: 'For rows that leave it empty',
    namePattern: '{deviceNo} stands for the serial number.',
    show: 'Show the table',
    back: 'Back to the text',
    stage_all: 'All {{count}}',
    stage_faulty: 'Faulty {{count}}',
    stage_ready: 'Ready {{count}}',
    stage_registered: 'Registered {{count}}',
    stage_refused: 'Refused {{count}}',
    stage: 'Which rows',
    table: 'Devices to register',
    row: 'Row',
    outcome: 'Outcome',
    ready: 'Ready',
    registered: 'Registered',
    correct: 'Correct',
    done: 'Done',
    send: 'Register {{count}} devices',
    sendOne: 'Register 1 device',
    stop: 'Stop after this portion',
    goOn: 'Go on with the rest',
    progress: '{{done}} of {{total}} rows answered',
    again: 'Try the refused rows again',
    copyRefused: 'Copy the refused rows',
    refusedToText: 'Correct the refused rows as text',
    stopped:
      'Not every row was sent. Those that were not stand as ready, and go on with the same keys, so that none is registered twice.',
    swapped: 'Rows in which latitude seems to stand first: {{count}}.',
    swapAll: 'Swap them',
    toDevices: 'To the devices',
  },
  {
    hint: '粘贴表格行、CSV，或每行一个设备序列号。带表头时列的顺序不限；不带表头时依次为 {{columns}}。',
    text: '设备',
    file: '读取文件',
    ignored: '已忽略无法识别的列：{{columns}}。',
    noRows: '文本中没有数据行。',
    forEmpty: '留空时使用的值',
    namePattern: '{deviceNo} 代表设备序列号。',
    show: '显示表格',
    back: '返回文本',
    stage_all: '全部 {{count}}',
    stage_faulty: '有误 {{count}}',
    stage_ready: '待提交 {{count}}',
    stage_registered: '已注册 {{count}}',
    stage_refused: '被拒绝 {{count}}',
    stage: '显示哪些行',
    table: '待注册的设备',
    row: '行',
    outcome: '结果',
    ready: '待提交',
    registered: '已注册',
    correct: '修改',
    done: '完成',
    send: '注册 {{count}} 个设备',
    sendOne: '注册 1 个设备',
    stop: '完成本批后停止',
    goOn: '继续提交其余行',
    progress: '已处理 {{done}} / {{total}} 行',
    again: '重试被拒绝的行',
    copyRefused: '复制被拒绝的行',
    refusedToText: '以文本修改被拒绝的行',
    stopped: '尚有未提交的行，显示为待提交。继续时使用相同的幂等键，不会重复注册。',
    swapped: '有 {{count}} 行似乎把纬度写在了前面。',
    swapAll: '全部对调',
    toDevices: '前往设备列表',
  },
)

const commonFields = fieldNames.filter((name) => name !== 'deviceNo')

/** Registers many devices: text, then a table in which faults are marked, then what became of each row. */
export function Several({ appId }: { appId: string }) {
  const [text, setText] = useState('')
  const [byDefault, setByDefault] = useState<Draft>({ ...blankDraft, deviceName: '{deviceNo}' })
  const [drafts, setDrafts] = useState<Draft[]>()
  if (drafts === undefined) {
    return <TextStep text={text} setText={setText} byDefault={byDefault} setByDefault={setByDefault} show={setDrafts} />
  }
  return (
    <TableStep
      // What became of the rows is one application's; for another they begin anew.
      key={appId}
      appId={appId}
      drafts={drafts}
      back={(refused) => {
        if (refused !== undefined) setText(refused)
        setDrafts(undefined)
      }}
    />
  )
}

/** A row of the text with what it leaves empty filled in. */
function completed(row: Draft, byDefault: Draft): Draft {
  const entries = fieldNames.map((name): [FieldName, string] => [name, row[name] === '' ? byDefault[name] : row[name]])
  const draft = Object.fromEntries(entries) as Draft
  return {
    ...draft,
    deviceName: draft.deviceName.replaceAll('{deviceNo}', draft.deviceNo),
    coordinates: tidyPair(draft.coordinates),
  }
}

interface TextStepProps {
  text: string
  setText: (text: string) => void
  byDefault: Draft
  setByDefault: (draft: Draft) => void
  show: (drafts: Draft[]) => void
}

function TextStep({ text, setText, byDefault, setByDefault, show }: TextStepProps) {
  const t = useTexts()
  const labels = useFieldNames()
  const { rows, ignored } = useMemo(() => readTable(text, draftColumns, 'coordinates'), [text])
  const [isEmpty, setEmpty] = useState(false)

  function go(): void {
    setEmpty(rows.length === 0)
    if (rows.length > 0) show(rows.map((row) => completed(row, byDefault)))
  }

  return (
    <Form layout="vertical" onFinish={go}>
      <Form.Item
        label={t('text')}
        htmlFor="several-text"
        extra={t('hint', { columns: fieldNames.slice(0, 6).join(', ') })}
        {...(isEmpty && { validateStatus: 'error', help: t('noRows') })}
      >
        <Input.TextArea
          id="several-text"
          className="mono"
          spellCheck={false}
          rows={12}
          placeholder={
            'deviceNo\tdeviceName\tdistrictCode\tcoordinates\nSN-0001\tEast gate\t360102\t115.899918,28.676493'
          }
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Form.Item>
      <div style={{ marginBottom: 16 }}>
        <Upload
          accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
          showUploadList={false}
          beforeUpload={async (file) => {
            setText(await readTextFile(file))
            return false
          }}
        >
          <Button icon={<UploadOutlined aria-hidden />}>{t('file')}</Button>
        </Upload>
      </div>
      {ignored.length > 0 && (
        <Alert
          type="warning"
          showIcon
          style={{ marginBottom: 16 }}
          title={t('ignored', { columns: ignored.join(', ') })}
        />
      )}
      <fieldset style={{ border: 0, padding: 0, margin: '0 0 8px' }}>
        <legend style={{ fontWeight: 600, padding: 0, marginBottom: 8 }}>{t('forEmpty')}</legend>
        <div style={columns}>
          {commonFields.map((name) => (
            <Form.Item
              key={name}
              label={labels[name]}
              htmlFor={`several-${name}`}
              {...(name === 'deviceName' && { extra: t('namePattern') })}
            >
              <Input
                id={`several-${name}`}
                autoComplete="off"
                value={byDefault[name]}
                onChange={(event) => setByDefault({ ...byDefault, [name]: event.target.value })}
              />
            </Form.Item>
          ))}
        </div>
      </fieldset>
      <Button type="primary" htmlType="submit">
        {t('show')}
      </Button>
    </Form>
  )
}

const columns = {
  display: 'grid',
  gridTemplateColumns: 'repeat(auto-fill, minmax(min(100%, 220px), 1fr))',
  columnGap: 16,
}

interface TableStepProps {
  appId: string
  drafts: readonly Draft[]
  /** Back to the text, or to another one. */
  back: (text?: string) => void
}

const stages: readonly Stage[] = ['faulty', 'ready', 'registered', 'refused']

function TableStep({ appId, drafts, back }: TableStepProps) {
  const t = useTexts()
  const batch = useBatch(appId, drafts)
  const [stage, setStage] = useState<Stage | 'all'>('all')
  const counts = countsOf(batch)
  const shown = stage === 'all' ? batch.rows : batch.rows.filter((row) => batch.stageOf(row) === stage)
  return (
    <div>
      <RefusalAlert error={batch.error} />
      {batch.isLeft && !batch.isRunning && (
        <Alert
          type="warning"
          showIcon
          style={{ marginBottom: 16 }}
          title={t('stopped')}
          action={<Button onClick={() => void batch.goOn()}>{t('goOn')}</Button>}
        />
      )}
      {batch.swapped > 0 && !batch.isRunning && (
        <Alert
          type="warning"
          showIcon
          style={{ marginBottom: 16 }}
          title={t('swapped', { count: batch.swapped })}
          action={<Button onClick={batch.swapAll}>{t('swapAll')}</Button>}
        />
      )}
      <Segmented<Stage | 'all'>
        aria-label={t('stage')}
        style={{ marginBottom: 12, maxWidth: '100%', overflowX: 'auto' }}
        value={stage}
        onChange={setStage}
        options={[
          { value: 'all', label: t('stage_all', { count: batch.rows.length }) },
          ...stages.map((value) => ({ value, label: t(`stage_${value}`, { count: counts[value] }) })),
        ]}
      />
      <RowsTable appId={appId} batch={batch} rows={shown} />
      {batch.progress && (
        <output style={{ display: 'block', marginTop: 12 }}>
          <Progress
            aria-label={t('table')}
            percent={Math.floor((batch.progress.done / Math.max(1, batch.progress.total)) * 100)}
            status={batch.isRunning ? 'active' : 'normal'}
          />
          <span className="number">{t('progress', { ...batch.progress })}</span>
        </output>
      )}
      {!batch.isRunning && refusalsOf(batch).map((code) => <Advice key={code} code={code} />)}
      <TableActions appId={appId} batch={batch} counts={counts} back={back} />
    </div>
  )
}

function countsOf(batch: Batch): Record<Stage, number> {
  const counts: Record<Stage, number> = { faulty: 0, ready: 0, registered: 0, refused: 0 }
  for (const row of batch.rows) counts[batch.stageOf(row)]++
  return counts
}

/** The codes of the rows that were refused, each once. */
function refusalsOf({ rows }: Batch): number[] {
  return [...new Set(rows.map(({ outcome }) => outcome?.code ?? 0))].filter((code) => code !== 0)
}

/** What one can do about the rows that were refused with a code. */
function Advice({ code }: { code: number }) {
  const { words } = useAdvice(code)
  if (words === undefined) return null
  return <Alert type="info" showIcon style={{ marginTop: 12 }} title={`${code}: ${words}`} />
}

interface TableActionsProps extends Omit<TableStepProps, 'drafts'> {
  batch: Batch
  counts: Record<Stage, number>
}

function TableActions({ appId, batch, counts, back }: TableActionsProps) {
  const t = useTexts()
  const common = useCommon()
  const { message } = App.useApp()
  const refused = batch.rows.filter((row) => batch.stageOf(row) === 'refused')
  const refusedText = (withReason: boolean) =>
    tableText([
      [...fieldNames, ...(withReason ? ['msg'] : [])],
      ...refused.map(({ draft, outcome }) => [
        ...fieldNames.map((name) => draft[name]),
        ...(withReason ? [outcome?.msg ?? ''] : []),
      ]),
    ])

  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(refusedText(true))
    void message.success(common('copied'))
  }

  if (batch.isRunning) {
    return (
      <div style={actions}>
        <Button onClick={batch.stop}>{t('stop')}</Button>
      </div>
    )
  }
  return (
    <div style={actions}>
      {counts.ready > 0 && !batch.isLeft && (
        <Button type="primary" onClick={() => void batch.send()}>
          {counts.ready === 1 ? t('sendOne') : t('send', { count: counts.ready })}
        </Button>
      )}
      {refused.length > 0 && (
        <>
          <Button onClick={batch.tryRefusedAgain}>{t('again')}</Button>
          <Button onClick={() => void copy()}>{t('copyRefused')}</Button>
          <Button onClick={() => back(refusedText(false))}>{t('refusedToText')}</Button>
        </>
      )}
      {counts.registered === 0 && <Button onClick={() => back()}>{t('back')}</Button>}
      {counts.registered > 0 && <LinkButton to={paths.devices({ appId })}>{t('toDevices')}</LinkButton>}
    </div>
  )
}

const actions = { display: 'flex', flexWrap: 'wrap', gap: 8, marginTop: 16 } as const

interface RowsTableProps {
  appId: string
  batch: Batch
  rows: BatchRow[]
}

function RowsTable({ appId, batch, rows }: RowsTableProps) {
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
            title: t('outcome'),
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
    return (
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
      <div style={{ flex: 1 }}>
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
      <div key={name} style={{ color: 'var(--bad)' }}>
        {labels[name]}: {devices(`fault_${fault}`)}
      </div>
    ))
  }
  const { msg, code, errors } = row.outcome
  return (
    <div>
      <div style={{ color: 'var(--bad)' }}>
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
