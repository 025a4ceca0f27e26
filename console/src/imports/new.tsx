import { InboxOutlined } from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { Form, Progress, Upload } from 'antd'
import { type ReactNode, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import {
  createImport,
  getTemplate,
  type ImportKind,
  type ImportMode,
  importModes,
  mediaTypeOf,
} from '../../../src/bulk/contract.ts'
import type { Encoding } from '../../../src/bulk/encodings.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { mayRepeat, readAnew, useMay } from '../api/api.ts'
import { paths } from '../paths.ts'
import { ApplicationPicker, useApplication, useFilters } from '../ui/filter/filters.tsx'
import { useGuard } from '../ui/form/leaving.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Segments } from '../ui/page/segments.tsx'
import { ColumnCheck } from './column-check.tsx'
import { columnFaults, type RowKind } from './columns.ts'
import { type FileFault, type FileStart, fileToSend, namesOf, readStart } from './file-start.ts'
import { RunningNote, showBytes, useRunning } from './parts.tsx'
import { useTexts } from './texts.ts'
import { type Upload as SentFile, upload } from './upload.ts'

/** Asks for a file, checks its columns, and sends it. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const { values, set } = useFilters(['kind', 'mode'] as const)
  const [appId, choose] = useApplication({ isOfNew: true })
  const kinds: ImportKind[] = [
    'sites',
    'devices',
    'placements',
    ...(may(importDeviceInventory) ? ['inventory' as const] : []),
  ]
  const kind = kinds.find((one) => one === values.kind) ?? 'devices'
  const mode = importModes.find((one) => one === values.mode) ?? 'create'
  return (
    <PageFrame title={t('newTitle')} operation={createImport}>
      <section className="card">
        <Form layout="vertical" component="div" style={{ display: 'flex', flexWrap: 'wrap', columnGap: 24 }}>
          <Form.Item label={t('kind')}>
            <Segments<ImportKind>
              label={t('kind')}
              value={kind}
              onChange={(chosen) => set({ kind: chosen })}
              options={kinds.map((value) => ({ value, label: t(value) }))}
            />
          </Form.Item>
          <Form.Item label={t('mode')} extra={mode === 'upsert' && t(`upsert_${kind}`)}>
            <Segments<ImportMode>
              label={t('mode')}
              value={mode}
              onChange={(chosen) => set({ mode: chosen })}
              options={importModes.map((value) => ({ value, label: t(`mode_${value}`) }))}
            />
          </Form.Item>
          {kind !== 'inventory' && (
            <Form.Item label={t('application')} htmlFor="import-application" required style={{ minWidth: 240 }}>
              <ApplicationPicker id="import-application" value={appId} onChange={choose} />
            </Form.Item>
          )}
        </Form>
        <FileForm key={`${kind} ${mode}`} kind={kind} mode={mode} appId={kind === 'inventory' ? undefined : appId} />
      </section>
    </PageFrame>
  )
}

interface Chosen {
  file: File
  start: FileStart | FileFault
  /** The encoding that the user has chosen. */
  encoding?: Encoding | undefined
  /** The user's mapping of its columns. */
  named?: RowKind & { names: (string | undefined)[] }
}

const keptFile = ['file to import']

/** Keeps the file after a dry run, to import it without choosing it again. The cache is cleared for the next user. */
function useKeptFile() {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState(() => queries.getQueryData<Chosen>(keptFile))
  function choose(now: Chosen | undefined): void {
    queries.setQueryDefaults(keptFile, { gcTime: Number.POSITIVE_INFINITY })
    if (now === undefined) queries.removeQueries({ queryKey: keptFile })
    else queries.setQueryData(keptFile, now)
    setChosen(now)
  }
  return [chosen, choose] as const
}

interface FileFormProps extends RowKind {
  /** Undefined for the inventory; empty while none is chosen. */
  appId: string | undefined
}

function FileForm({ kind, mode, appId }: FileFormProps) {
  const t = useTexts()
  const [chosen, choose] = useKeptFile()
  const running = useRunning(kind, appId ?? '')
  return (
    <>
      {running && <RunningNote running={running} />}
      {chosen === undefined ? (
        <>
          <Upload.Dragger
            accept=".csv,.ndjson,.jsonl,.txt,text/csv,application/x-ndjson"
            showUploadList={false}
            beforeUpload={async (file) => {
              choose({ file, start: await readStart(file) })
              return false
            }}
          >
            <InboxOutlined aria-hidden style={{ fontSize: 32, color: 'var(--accent)' }} />
            <div style={{ fontSize: 16, margin: '8px 0 4px' }}>{t('drop')}</div>
            <div className="faint">{t('dropHint')}</div>
          </Upload.Dragger>
          <p className="flush-below">
            <a href={`${getTemplate.path}?kind=${kind}`} download={`${kind}.csv`}>
              {t('template')}
            </a>
          </p>
        </>
      ) : (
        <ChosenFile
          {...chosen}
          setNames={(names) => choose({ ...chosen, named: { kind, mode, names } })}
          setEncoding={async (encoding) => {
            const { file } = chosen
            choose({ file, encoding, start: await readStart(file, encoding) })
          }}
          kind={kind}
          mode={mode}
          appId={appId}
          isBlocked={running !== undefined || appId === ''}
          drop={() => choose(undefined)}
          onSent={(isDryRun) => !isDryRun && choose(undefined)}
        />
      )}
    </>
  )
}

interface ChosenFileProps extends FileFormProps, Chosen {
  /** Whether it cannot be sent now. */
  isBlocked: boolean
  setNames: (names: (string | undefined)[]) => void
  setEncoding: (encoding: Encoding) => void
  drop: () => void
  onSent: (isDryRun: boolean) => void
}

function ChosenFile({ file, start, drop, ...sending }: ChosenFileProps) {
  const t = useTexts()
  const another = <Button onClick={drop}>{t('another')}</Button>
  return (
    <>
      <p className="flush-above spaced wraps">
        <strong>{file.name}</strong>{' '}
        <span className="faint number">
          {showBytes(file.size)}
          {typeof start === 'object' &&
            ` · ${start.format === 'csv' ? 'CSV' : 'NDJSON'} · ${encodingNames[start.encoding]}`}
        </span>
      </p>
      {typeof start === 'string' ? (
        <>
          <Note type="error" words={t(`fault_${start}`)} />
          {another}
        </>
      ) : (
        <CheckedFile {...sending} file={file} start={start} another={another} />
      )}
    </>
  )
}

const encodings: Encoding[] = ['utf-8', 'gb18030']
const encodingNames = { 'utf-8': 'UTF-8', gb18030: 'GB 18030' }

interface CheckedFileProps extends Omit<ChosenFileProps, 'start' | 'drop'> {
  start: FileStart
  another: ReactNode
}

function CheckedFile({
  kind,
  mode,
  appId,
  file,
  start,
  named,
  setNames,
  encoding,
  setEncoding,
  isBlocked,
  onSent,
  another,
}: CheckedFileProps) {
  const t = useTexts()
  const rows = { kind, mode }
  const isNamed = named?.kind === kind && named.mode === mode
  const names = isNamed ? named.names : namesOf(rows, start)
  const { send, cancel, sent, error } = useSending(onSent)
  const { missing, twice, unknown } = columnFaults(rows, start.headings, names)
  const isMapped = missing.length + twice.length + unknown.length === 0
  const isFaulty = start.isAmbiguous || (start.format === 'csv' && !isMapped)

  // Beyond its beginning a file may hold what the service cannot tell either.
  const isUnsure = start.format === 'csv' && start.charset === undefined && error?.code === 10001
  const asksEncoding = start.isAmbiguous || encoding !== undefined || isUnsure

  function go(isDryRun: boolean): void {
    const charset = start.charset === undefined ? '' : `; charset=${start.charset}`
    const { file: sentFile, ...leavingOut } = fileToSend(rows, file, start, names)
    const asked = { ...(appId !== undefined && { appId }), ...(isDryRun && { dryRun: 'true' as const }) }
    void send({ kind, mode, ...asked, ...leavingOut }, sentFile, mediaTypeOf(start.format) + charset)
  }

  return (
    <div data-work>
      {start.isAmbiguous && <Note type="warning" words={t('ambiguous')} />}
      {asksEncoding && (
        <Form.Item label={t('encoding')} layout="vertical">
          <Segments<Encoding>
            label={t('encoding')}
            {...(encoding !== undefined && { value: encoding })}
            onChange={setEncoding}
            options={encodings.map((value) => ({ value, label: encodingNames[value] }))}
          />
        </Form.Item>
      )}
      <ColumnCheck rows={rows} start={start} names={names} setNames={setNames} isFixed={sent !== undefined} />
      <RefusalAlert error={error} />
      {sent === undefined ? (
        <>
          <div className="buttons">
            <Button type="primary" disabled={isFaulty || isBlocked} onClick={() => go(false)}>
              {t('import')}
            </Button>
            <Button disabled={isFaulty || isBlocked} onClick={() => go(true)}>
              {t('dryRun')}
            </Button>
            {another}
          </div>
          <p className="faint flush-below">{t('tryHint')}</p>
        </>
      ) : (
        <Sending sent={sent} size={file.size} cancel={cancel} />
      )}
    </div>
  )
}

function Sending({ sent, size, cancel }: { sent: number; size: number; cancel: () => void }) {
  const t = useTexts()
  return (
    <>
      <output className="spaced">
        <Progress
          aria-label={t('sendingName')}
          percent={Math.min(100, Math.floor((sent / Math.max(1, size)) * 100))}
          status="active"
        />
        <span className="number">{t('sending', { sent: showBytes(Math.min(sent, size)), size: showBytes(size) })}</span>
      </output>
      <Button onClick={cancel}>{t('cancel')}</Button>
    </>
  )
}

/** Sends a file and opens its import. Asks before the user leaves the page meanwhile. */
function useSending(onSent: (isDryRun: boolean) => void) {
  const t = useTexts()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const underWay = useRef<SentFile>(undefined)
  const [sent, setSent] = useState<number>()
  const [error, setError] = useState<ForecourtError>()
  useGuard(() => (underWay.current === undefined ? undefined : { title: t('leaveTitle'), words: t('leaveWords') }))

  async function send(query: Parameters<typeof upload>[0], file: Blob, mediaType: string): Promise<void> {
    setError(undefined)
    setSent(0)
    underWay.current = upload(query, file, mediaType, setSent)
    try {
      const job = await underWay.current.answered
      underWay.current = undefined
      if (job === undefined) return
      onSent(job.dryRun)
      await navigate(paths.import(job.id))
    } catch (refusal) {
      underWay.current = undefined
      if (await mayRepeat(refusal, createImport.id)) return send(query, file, mediaType)
      setError(refusal as ForecourtError)
    } finally {
      setSent(undefined)
      // Reads everything again, such as whether another import is running.
      void readAnew(queries)
    }
  }

  return { send, cancel: () => underWay.current?.cancel(), sent, error }
}
