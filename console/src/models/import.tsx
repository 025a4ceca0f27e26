import { UploadOutlined } from '@ant-design/icons'
import { Alert, App, Button, Form, Input, Progress, Table, Upload } from 'antd'
import { useMemo, useState } from 'react'
import { importDeviceInventory, mostEntries } from '../../../src/device-inventory/contract.ts'
import type { ForecourtError } from '../../../src/sdk/error.ts'
import { lengths } from '../../../src/values.ts'
import { useWrite } from '../api.ts'
import { useWarningBeforeLeaving } from '../devices/leaving.ts'
import { isSerial } from '../devices/rows.ts'
import { portionsOf, readTable, readTextFile } from '../devices/table-text.ts'
import { defineTexts } from '../language/index.ts'
import { FormDrawer, useLeave, useUnsaved } from '../ui/leaving.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'
import { State } from '../ui/status.tsx'
import { useCommon } from '../ui/texts.ts'
import { Wide } from '../ui/wide.tsx'

const useTexts = defineTexts(
  'inventory-import',
  {
    title: 'Import serial numbers',
    text: 'Serial numbers and models',
    hint: 'Paste rows from a spreadsheet or CSV: the serial number, then the name of a device model. A heading with deviceNo and modelName is understood. Serial numbers that are there already get the new model.',
    file: 'Read a file',
    modelForEmpty: 'Model for rows that name none',
    noRows: 'There are no rows in this text.',
    rows: 'Rows: {{count}}',
    faulty: 'Faulty rows: {{count}}. Correct them in the text above.',
    row: 'Row',
    deviceNo: 'Serial number',
    modelName: 'Model',
    fault: 'Fault',
    table: 'Faulty rows',
    needed: 'This is needed.',
    badSerial: '1 to {{max}} characters without spaces.',
    tooLong: 'At most {{max}} characters.',
    twice: 'stands in the list twice',
    import: 'Import ({{count}})',
    importing: 'Rows imported',
    progress: '{{done}} of {{total}} rows imported',
    done: '{{added}} added, {{changed}} changed.',
    partly:
      '{{done}} rows were imported before the refusal. Nothing of the portion that was refused was. Importing all of them again does no harm.',
  },
  {
    title: '导入设备序列号',
    text: '设备序列号与型号',
    hint: '粘贴表格行或 CSV：依次为设备序列号、设备型号名称。可带表头 deviceNo、modelName。已在库的序列号将更新型号。',
    file: '读取文件',
    modelForEmpty: '未填型号的行使用',
    noRows: '文本中没有数据行。',
    rows: '{{count}} 行',
    faulty: '{{count}} 行有误，请在上方文本中修改。',
    row: '行',
    deviceNo: '设备序列号',
    modelName: '型号',
    fault: '问题',
    table: '有误的行',
    needed: '必填。',
    badSerial: '1 至 {{max}} 个字符，不含空格。',
    tooLong: '最多 {{max}} 个字符。',
    twice: '在列表中重复',
    import: '导入（{{count}} 行）',
    importing: '已导入的行',
    progress: '已导入 {{done}} / {{total}} 行',
    done: '新增 {{added}}，更新 {{changed}}。',
    partly: '拒绝之前已导入 {{done}} 行，被拒绝的一批全部未导入。重新导入全部数据不会有影响。',
  },
)

const columns = [
  { name: 'deviceNo', headings: ['serial', 'serialno', 'serialnumber', 'sn', '设备序列号', '序列号', '设备编号'] },
  { name: 'modelName', headings: ['model', '型号', '设备型号', '型号名称'] },
] as const

type Entry = Record<'deviceNo' | 'modelName', string>

interface RowFault {
  row: number
  entry: Entry | undefined
  field: 'deviceNo' | 'modelName'
  words: string
}

export function ImportDialog({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useTexts()
  return (
    <FormDrawer isOpen={isOpen} title={t('title')} onClose={close}>
      <ImportForm close={close} />
    </FormDrawer>
  )
}

interface Progressed {
  done: number
  total: number
  added: number
  changed: number
}

/** Sends entries in portions; the faults of a portion that is refused are told by the row of the whole. */
function useImport() {
  const send = useWrite(importDeviceInventory)
  const [progress, setProgress] = useState<Progressed>()
  const [error, setError] = useState<ForecourtError>()
  const [isRunning, setRunning] = useState(false)
  useWarningBeforeLeaving(isRunning)

  async function run(entries: Entry[]): Promise<Progressed | undefined> {
    let now: Progressed = { done: 0, total: entries.length, added: 0, changed: 0 }
    setRunning(true)
    setError(undefined)
    setProgress(now)
    try {
      for (const portion of portionsOf(entries, mostEntries)) {
        const { added, changed } = await send.mutateAsync({ input: { entries: portion } })
        const { done, total } = now
        now = { total, done: done + portion.length, added: now.added + added, changed: now.changed + changed }
        setProgress(now)
      }
      return now
    } catch (refusal) {
      setError(refusal as ForecourtError)
      return undefined
    } finally {
      setRunning(false)
    }
  }

  function forget(): void {
    setError(undefined)
    setProgress(undefined)
  }

  return { run, forget, progress, error, isRunning }
}

function ImportForm({ close }: { close: () => void }) {
  const t = useTexts()
  const common = useCommon()
  const { message } = App.useApp()
  const [text, setText] = useState('')
  const [modelName, setModelName] = useState('')
  const [isEmpty, setEmpty] = useState(false)
  const leave = useLeave()
  const { run, forget, progress, error, isRunning } = useImport()
  useUnsaved(() => text.trim() !== '')
  const entries = useMemo(
    () => readTable(text, columns).rows.map((row) => ({ ...row, modelName: row.modelName || modelName.trim() })),
    [text, modelName],
  )
  const localFaults = useLocalFaults(entries)
  const refusedFaults = refusedRows(error, progress?.done ?? 0, entries)
  const faults = localFaults.length > 0 ? localFaults : refusedFaults
  // What is shown row by row is not said a second time in a list that may be thousands of lines long.
  const shownError = error && refusedFaults.length > 0 ? withoutRows(error) : error

  function change(next: string): void {
    forget()
    setEmpty(false)
    setText(next)
  }

  async function go(): Promise<void> {
    setEmpty(entries.length === 0)
    if (entries.length === 0 || localFaults.length > 0) return
    const done = await run(entries)
    if (done === undefined) return
    void message.success(t('done', { added: done.added, changed: done.changed }))
    close()
  }

  return (
    <Form layout="vertical" onFinish={() => void go()}>
      <RefusalAlert error={shownError} />
      {error !== undefined && progress !== undefined && progress.done > 0 && (
        <Alert type="info" showIcon style={{ marginBottom: 16 }} title={t('partly', { done: progress.done })} />
      )}
      <Form.Item
        label={t('text')}
        htmlFor="import-text"
        extra={t('hint')}
        {...(isEmpty && { validateStatus: 'error', help: t('noRows') })}
      >
        <Input.TextArea
          id="import-text"
          className="mono"
          spellCheck={false}
          rows={6}
          placeholder={'deviceNo\tmodelName\nSN-0001\tGate 5'}
          value={text}
          disabled={isRunning}
          onChange={(event) => change(event.target.value)}
        />
      </Form.Item>
      <div style={{ display: 'flex', gap: 12, alignItems: 'center', marginBottom: 16 }}>
        <Upload
          accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
          showUploadList={false}
          disabled={isRunning}
          beforeUpload={async (file) => {
            change(await readTextFile(file))
            return false
          }}
        >
          <Button icon={<UploadOutlined aria-hidden />}>{t('file')}</Button>
        </Upload>
        <span className="faint number" aria-live="polite">
          {t('rows', { count: entries.length.toLocaleString() })}
        </span>
      </div>
      <Form.Item label={t('modelForEmpty')} htmlFor="import-model">
        <Input
          id="import-model"
          autoComplete="off"
          maxLength={lengths.name}
          value={modelName}
          disabled={isRunning}
          onChange={(event) => {
            forget()
            setModelName(event.target.value)
          }}
        />
      </Form.Item>
      {faults.length > 0 && <FaultTable faults={faults} />}
      {progress && error === undefined && (
        <output style={{ display: 'block', marginBottom: 16 }}>
          <Progress
            aria-label={t('importing')}
            percent={Math.floor((progress.done / Math.max(1, progress.total)) * 100)}
          />
          <span className="number">{t('progress', { done: progress.done, total: progress.total })}</span>
        </output>
      )}
      <div className="form-buttons">
        <Button type="primary" htmlType="submit" loading={isRunning} disabled={localFaults.length > 0}>
          {t('import', { count: entries.length.toLocaleString() })}
        </Button>
        <Button onClick={() => leave(close)} disabled={isRunning}>
          {common('cancel')}
        </Button>
      </div>
    </Form>
  )
}

function useLocalFaults(entries: Entry[]): RowFault[] {
  const t = useTexts()
  const seen = new Set<string>()
  return entries.flatMap((entry, index): RowFault[] => {
    const found = [
      { field: 'deviceNo' as const, words: serialFault(entry.deviceNo, seen) },
      { field: 'modelName' as const, words: nameFault(entry.modelName) },
    ]
    seen.add(entry.deviceNo)
    return found.flatMap(({ field, words }) =>
      words === undefined
        ? []
        : [{ row: index, entry, field, words: t(words, { max: lengths[field === 'deviceNo' ? 'serial' : 'name'] }) }],
    )
  })
}

type Words = 'needed' | 'badSerial' | 'tooLong' | 'twice'

function serialFault(deviceNo: string, seen: Set<string>): Words | undefined {
  if (deviceNo === '') return 'needed'
  if (!isSerial(deviceNo)) return 'badSerial'
  return seen.has(deviceNo) ? 'twice' : undefined
}

function nameFault(modelName: string): Words | undefined {
  if (modelName === '') return 'needed'
  return [...modelName].length > lengths.name ? 'tooLong' : undefined
}

const entryField = /^entries\[(\d+)\]\.(deviceNo|modelName)$/

/** The rows that a refusal names. */
function refusedRows(error: ForecourtError | undefined, from: number, entries: Entry[]): RowFault[] {
  return (error?.errors ?? []).flatMap(({ field, reason }): RowFault[] => {
    const [, index, name] = entryField.exec(field) ?? []
    if (index === undefined) return []
    const row = from + Number(index)
    return [{ row, entry: entries[row], field: name as RowFault['field'], words: reason }]
  })
}

function withoutRows({ message, code, status, requestId, errors }: ForecourtError) {
  return Object.assign(new Error(message), {
    code,
    status,
    requestId,
    errors: errors.filter(({ field }) => !entryField.test(field)),
  })
}

function FaultTable({ faults }: { faults: RowFault[] }) {
  const t = useTexts()
  return (
    <div style={{ marginBottom: 16 }}>
      <p role="status" style={{ margin: '0 0 8px' }}>
        <State tone="bad">{t('faulty', { count: new Set(faults.map(({ row }) => row)).size.toLocaleString() })}</State>
      </p>
      <Wide label={t('table')}>
        <Table<RowFault>
          size="small"
          rowKey={({ row, field }) => `${row} ${field}`}
          dataSource={faults}
          pagination={{ pageSize: 10, hideOnSinglePage: true, showSizeChanger: false }}
          columns={[
            { key: 'row', title: t('row'), align: 'end', className: 'number', render: (_, { row }) => row + 1 },
            { key: 'deviceNo', title: t('deviceNo'), className: 'mono', render: (_, { entry }) => entry?.deviceNo },
            { key: 'modelName', title: t('modelName'), render: (_, { entry }) => entry?.modelName },
            {
              key: 'fault',
              title: t('fault'),
              render: (_, { field, words }) => `${t(field)}: ${words}`,
            },
          ]}
        />
      </Wide>
    </div>
  )
}
