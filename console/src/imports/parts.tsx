import { Link } from 'react-router'
import { type ImportKind, type ImportRecord, pageImports } from '../../../src/bulk/contract.ts'
import { useRead } from '../api/api.ts'
import { isUnderWay, percentOf } from '../jobs/parts.tsx'
import { paths } from '../paths.ts'
import { Note } from '../ui/page/note.tsx'
import { useTexts } from './texts.ts'

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
    <Note type="info" words={t(running.kind === 'inventory' ? 'underWayInventory' : 'underWay')}>
      {t('jobTitle', { id: running.id, kind: t(running.kind) })} · {percentOf(running)} % ·{' '}
      <Link to={paths.import(running.id)}>{t('showIt')}</Link>
    </Note>
  )
}
