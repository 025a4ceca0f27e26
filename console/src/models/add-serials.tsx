import { Form, Input, Table } from 'antd'
import { useMemo, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api/api.ts'
import { inventoryColumns } from '../imports/columns.ts'
import { isSerial } from '../imports/row-faults.ts'
import { readTable } from '../imports/table-text.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { useLeave, useUnsaved } from '../ui/form/leaving.tsx'
import { FormDrawer } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Wide } from '../ui/table/wide.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'

const useTexts = defineTexts({
  title: ['Add serial numbers', '添加设备序列号'],
  text: ['Serial numbers and models', '设备序列号与型号'],
  hint: [
    'Paste rows from a spreadsheet or CSV: serial number, then device model name. A header row with deviceNo and modelName is optional. Serial numbers already in the inventory get the new model.',
    '粘贴表格行或 CSV：依次为设备序列号、设备型号名称。可带表头 deviceNo、modelName。已在库的序列号将更新型号。',
  ],
  modelForEmpty: ['Model for rows without one', '未填型号的行使用'],
  rows: ['Rows: {{count}}', '{{count}} 行'],
  faulty: ['Invalid rows: {{count}}. Correct them in the text above.', '{{count}} 行有误，请在上方文本中修改。'],
  fault: ['Problem', '问题'],
  table: ['Invalid rows', '有误的行'],
  twice: ['Listed twice', '在列表中重复'],
  add: ['Add ({{count}})', '添加（{{count}} 行）'],
  tooMany: [
    'You can add up to {{most}} rows at once. Import larger lists as a file.',
    '一次最多 {{most}} 行。更多数据请以文件导入。',
  ],
  done: ['{{added}} added, {{changed}} updated.', '新增 {{added}}，更新 {{changed}}。'],
})

type Entry = Record<'deviceNo' | 'modelName', string>

interface RowFault {
  row: number
  entry: Entry | undefined
  field: 'deviceNo' | 'modelName'
  words: string
}

export function AddSerials({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useTexts()
  return (
    <FormDrawer isOpen={isOpen} title={t('title')} onClose={close}>
      <AddForm close={close} />
    </FormDrawer>
  )
}

function AddForm({ close }: { close: () => void }) {
  const t = useTexts()
  const [text, setText] = useState('')
  const [modelName, setModelName] = useState('')
  const [isEmpty, setEmpty] = useState(false)
  const leave = useLeave()
  const send = useWrite(importDeviceInventory)
  const { error, isPending: isRunning } = send
  useUnsaved(() => text.trim() !== '')
  const entries = useMemo(
    () =>
      readTable(text, inventoryColumns).rows.map((row) => ({ ...row, modelName: row.modelName || modelName.trim() })),
    [text, modelName],
  )
  const isTooMuch = entries.length > limits.batchRows
  const localFaults = useLocalFaults(entries)
  const refusedFaults = refusedRows(error, entries)
  const faults = localFaults.length > 0 ? localFaults : refusedFaults
  // Faults are shown at their rows. A list of them could have thousands of lines.
  const shownError = error && refusedFaults.length > 0 ? withoutRows(error) : error

  function change(next: string): void {
    send.reset()
    setEmpty(false)
    setText(next)
  }

  async function go(): Promise<void> {
    setEmpty(entries.length === 0)
    if (entries.length === 0 || localFaults.length > 0) return
    try {
      const { added, changed } = await send.mutateAsync({ input: { entries } })
      showSuccess(t('done', { added, changed }))
      close()
    } catch {
      // The error is shown above the form.
    }
  }

  return (
    <Form layout="vertical" onFinish={() => void go()}>
      <RefusalAlert error={shownError} />
      <Form.Item
        label={t('text')}
        htmlFor="serials-text"
        extra={t('hint')}
        {...(isEmpty && { validateStatus: 'error', help: t('noRows') })}
      >
        <Input.TextArea
          id="serials-text"
          className="mono"
          spellCheck={false}
          rows={6}
          placeholder={'deviceNo\tmodelName\nSN-0001\tGate 5'}
          value={text}
          disabled={isRunning}
          onChange={(event) => change(event.target.value)}
        />
      </Form.Item>
      <div className="in-a-row spaced">
        <LinkButton to={paths.newImport({ kind: 'inventory' })}>{t('importFile')}</LinkButton>
        <span className="faint number" aria-live="polite">
          {t('rows', { count: grouped(entries.length) })}
        </span>
      </div>
      <TextItem
        label={t('modelForEmpty')}
        most={lengths.name}
        value={modelName}
        disabled={isRunning}
        onChange={(name) => {
          send.reset()
          setModelName(name)
        }}
      />
      {faults.length > 0 && <FaultTable faults={faults} />}
      {isTooMuch && <Note type="error" words={t('tooMany', { most: grouped(limits.batchRows) })} />}
      <div className="buttons">
        <Button type="primary" htmlType="submit" loading={isRunning} disabled={localFaults.length > 0 || isTooMuch}>
          {t('add', { count: grouped(entries.length) })}
        </Button>
        <Button onClick={() => leave(close)} disabled={isRunning}>
          {t('cancel')}
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

type Words = 'required' | 'badSerial' | 'tooLong' | 'twice'

function serialFault(deviceNo: string, seen: Set<string>): Words | undefined {
  if (deviceNo === '') return 'required'
  if (!isSerial(deviceNo)) return 'badSerial'
  return seen.has(deviceNo) ? 'twice' : undefined
}

function nameFault(modelName: string): Words | undefined {
  if (modelName === '') return 'required'
  return [...modelName].length > lengths.name ? 'tooLong' : undefined
}

const entryField = /^entries\[(\d+)\]\.(deviceNo|modelName)$/

/** The faults of a refusal, each with its row. */
function refusedRows(error: ForecourtError | null, entries: Entry[]): RowFault[] {
  return (error?.errors ?? []).flatMap(({ field, reason }): RowFault[] => {
    const [, index, name] = entryField.exec(field) ?? []
    if (index === undefined) return []
    const row = Number(index)
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
    <div className="spaced">
      <p role="status" className="flush-above spaced-little">
        <State tone="bad">{t('faulty', { count: grouped(new Set(faults.map(({ row }) => row)).size) })}</State>
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
            { key: 'fault', title: t('fault'), render: (_, { field, words }) => `${t(field)}: ${words}` },
          ]}
        />
      </Wide>
    </div>
  )
}
