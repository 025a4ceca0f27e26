import { useState } from 'react'
import { type Draft, fieldNames } from '../imports/row-faults.ts'
import { tableText } from '../imports/table-text.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { LinkButton } from '../ui/page/link-button.tsx'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Segments } from '../ui/page/segments.tsx'
import { useCopy } from '../ui/text/copy.tsx'
import { type Batch, type Stage, useBatch } from './batch.ts'
import { useAdvice } from './fields.tsx'
import { RowsTable } from './rows-table.tsx'
import { useTexts } from './several-texts.ts'

interface TableStepProps {
  appId: string
  drafts: readonly Draft[]
  /** Goes back to the text, or to a new one. */
  back: (text?: string) => void
}

const stages: readonly Stage[] = ['faulty', 'ready', 'registered', 'refused']

/** Sends the rows, shows the rows of one stage or of all, and offers actions on them. */
export function TableStep({ appId, drafts, back }: TableStepProps) {
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
