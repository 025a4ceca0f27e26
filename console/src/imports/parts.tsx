import { Alert } from 'antd'
import { Link } from 'react-router'
import { type ImportKind, type ImportRecord, pageImports } from '../../../src/bulk/contract.ts'
import { jobStatus } from '../../../src/bulk/jobs/contract.ts'
import { useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { State } from '../ui/text/status.tsx'
import { useTexts } from './texts.ts'

const tones = ['idle', 'busy', 'good', 'bad', 'warn'] as const

/** The state of an import, in a word. */
export function ImportState({ status }: Pick<ImportRecord, 'status'>) {
  const t = useTexts()
  return <State tone={tones[status - 1] ?? 'idle'}>{t(`status_${status}` as 'status_1')}</State>
}

/** Whether a job, an import or an act, has not ended. */
export const isUnderWay = ({ status }: Pick<ImportRecord, 'status'>) =>
  status === jobStatus.waiting || status === jobStatus.running

/** How much of the file is processed, in whole per cent. */
export const percentOf = ({ bytes, bytesRead }: ImportRecord) => Math.floor((bytesRead / Math.max(1, bytes)) * 100)

/** Formats a number of bytes. */
export function showBytes(count: number): string {
  const [value, unit] = count < 1000 ? [count, 'B'] : count < 1e6 ? [count / 1e3, 'kB'] : [count / 1e6, 'MB']
  return `${value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })} ${unit}`
}

/** The running import of an application, or of the inventory, that a new one would have to wait for. */
export function useRunning(kind: ImportKind, appId: string): ImportRecord | undefined {
  const owner = kind === 'inventory' ? { kind } : { appId }
  const { data } = useRead(
    pageImports,
    { ...owner, pageSize: 20 },
    { enabled: kind === 'inventory' || appId !== '', refetchInterval: 3000 },
  )
  return data?.list.find(isUnderWay)
}

/** A notice of the import that must finish first. */
export function RunningNote({ running }: { running: ImportRecord }) {
  const t = useTexts()
  return (
    <Alert
      type="info"
      showIcon
      style={{ marginBottom: 16 }}
      title={t(running.kind === 'inventory' ? 'underWayInventory' : 'underWay')}
      description={
        <>
          {t('jobTitle', { id: running.id, kind: t(running.kind) })} · {percentOf(running)} % ·{' '}
          <Link to={paths.import(running.id)}>{t('showIt')}</Link>
        </>
      }
    />
  )
}
