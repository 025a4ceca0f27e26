import { Form, Input } from 'antd'
import { useMemo, useState } from 'react'
import { limits } from '../../../src/vocabulary/limits.ts'
import { blankDraft, type Draft, draftColumns, type FieldName, fieldNames, tidyPair } from '../imports/row-faults.ts'
import { readTable, tableText } from '../imports/table-text.ts'
import { paths } from '../paths.ts'
import { RegionChoice } from '../regions/region-choice.tsx'
import { useUnsaved } from '../ui/form/leaving.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Segments } from '../ui/page/segments.tsx'
import { useCopy } from '../ui/text/copy.tsx'
import { grouped } from '../ui/text/number.ts'
import { type Batch, type Stage, useBatch } from './batch.ts'
import { useAdvice } from './fields.tsx'
import { RowsTable } from './rows-table.tsx'
import { useTexts } from './several-texts.ts'
import { useFieldNames } from './texts.ts'

/** Registers many devices: first text, then a table that marks faults, then the outcome of each row. */
export function Several({ appId }: { appId: string }) {
  const [text, setText] = useState('')
  const [byDefault, setByDefault] = useState<Draft>({ ...blankDraft, deviceName: '{deviceNo}' })
  const [drafts, setDrafts] = useState<Draft[]>()
  if (drafts === undefined) {
    return (
      <TextStep
        appId={appId}
        text={text}
        setText={setText}
        byDefault={byDefault}
        setByDefault={setByDefault}
        show={setDrafts}
      />
    )
  }
  return (
    <TableStep
      // The outcomes belong to one application; choosing another starts again.
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

interface TableStepProps {
  appId: string
  drafts: readonly Draft[]
  /** Goes back to the text, or to a new one. */
  back: (text?: string) => void
}

const stages: readonly Stage[] = ['faulty', 'ready', 'registered', 'refused']

/** Sends the rows, shows the rows of one stage or of all, and offers actions on them. */
function TableStep({ appId, drafts, back }: TableStepProps) {
  const t = useTexts()
  const batch = useBatch(appId, drafts)
  const [stage, setStage] = useState<Stage | 'all'>('all')
  const counts = countsOf(batch)
  const shown = stage === 'all' ? batch.rows : batch.rows.filter((row) => batch.stageOf(row) === stage)
  return (
    <div data-work>
      <RefusalAlert error={batch.error} />
      {batch.swapped > 0 && !batch.isRunning && (
        <Note
          type="warning"
          words={t('swapped', { count: batch.swapped })}
          action={<Button onClick={batch.swapAll}>{t('swapAll')}</Button>}
        />
      )}
      <Segments<Stage | 'all'>
        label={t('stage')}
        style={{ marginBottom: 12, maxWidth: '100%', overflowX: 'auto' }}
        value={stage}
        onChange={setStage}
        options={[
          { value: 'all', label: t('stage_all', { count: batch.rows.length }) },
          ...stages.map((value) => ({ value, label: t(`stage_${value}`, { count: counts[value] }) })),
        ]}
      />
      <RowsTable appId={appId} batch={batch} rows={shown} />
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

/** The distinct codes of the refused rows. */
function refusalsOf({ rows }: Batch): number[] {
  return [...new Set(rows.map(({ outcome }) => outcome?.code ?? 0))].filter((code) => code !== 0)
}

/** Advice about the rows that were refused with a code. */
function Advice({ code }: { code: number }) {
  const { words } = useAdvice(code)
  if (words === undefined) return null
  return <Note type="info" words={`${code}: ${words}`} />
}

interface TableActionsProps extends Omit<TableStepProps, 'drafts'> {
  batch: Batch
  counts: Record<Stage, number>
}

function TableActions({ appId, batch, counts, back }: TableActionsProps) {
  const t = useTexts()
  const copy = useCopy()
  const refused = batch.rows.filter((row) => batch.stageOf(row) === 'refused')
  const refusedText = (withReason: boolean) =>
    tableText([
      [...fieldNames, ...(withReason ? ['msg'] : [])],
      ...refused.map(({ draft, outcome }) => [
        ...fieldNames.map((name) => draft[name]),
        ...(withReason ? [outcome?.msg ?? ''] : []),
      ]),
    ])

  return (
    <div style={actions}>
      {counts.ready > 0 && (
        <Button type="primary" loading={batch.isRunning} onClick={() => void batch.send()}>
          {t('send', { count: counts.ready })}
        </Button>
      )}
      {refused.length > 0 && !batch.isRunning && (
        <>
          <Button onClick={batch.tryRefusedAgain}>{t('again')}</Button>
          <Button onClick={() => void copy(refusedText(true))}>{t('copyRefused')}</Button>
          <Button onClick={() => back(refusedText(false))}>{t('refusedToText')}</Button>
        </>
      )}
      {counts.registered === 0 && !batch.isRunning && <Button onClick={() => back()}>{t('back')}</Button>}
      {counts.registered > 0 && <LinkButton to={paths.devices({ appId })}>{t('toDevices')}</LinkButton>}
    </div>
  )
}

const actions = { display: 'flex', flexWrap: 'wrap', gap: 8, marginTop: 16 } as const

const commonFields = fieldNames.filter((name) => name !== 'deviceNo')

/** A row of the text, with defaults for its empty fields. */
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
  appId: string
  text: string
  setText: (text: string) => void
  byDefault: Draft
  setByDefault: (draft: Draft) => void
  show: (drafts: Draft[]) => void
}

/** Asks for the rows as text, and for defaults of empty fields. */
function TextStep({ appId, text, setText, byDefault, setByDefault, show }: TextStepProps) {
  const t = useTexts()
  const labels = useFieldNames()
  const { rows, ignored } = useMemo(() => readTable(text, draftColumns, 'coordinates'), [text])
  const [isEmpty, setEmpty] = useState(false)
  const isTooMuch = rows.length > limits.batchRows
  useUnsaved(() => text.trim() !== '')

  function go(): void {
    setEmpty(rows.length === 0)
    if (rows.length > 0 && !isTooMuch) show(rows.map((row) => completed(row, byDefault)))
  }

  return (
    <Form layout="vertical" onFinish={go}>
      <Form.Item
        label={t('devices')}
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
      <div className="spaced">
        <LinkButton to={paths.newImport({ kind: 'devices', appId })}>{t('importFile')}</LinkButton>
      </div>
      {isTooMuch && (
        <Note type="error" words={t('tooMany', { count: grouped(rows.length), most: grouped(limits.batchRows) })} />
      )}
      {ignored.length > 0 && <Note type="warning" words={t('ignored', { columns: ignored.join(', ') })} />}
      <fieldset className="plain-fieldset">
        <legend style={{ fontWeight: 600, padding: 0, marginBottom: 8 }}>{t('forEmpty')}</legend>
        <RegionChoice
          id="several-region"
          codes={byDefault}
          onChange={(codes) => setByDefault({ ...byDefault, ...codes })}
        />
        <div className="side-by-side" style={{ '--least': '220px' }}>
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
