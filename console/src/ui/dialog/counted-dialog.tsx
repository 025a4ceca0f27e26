import type { ReactNode } from 'react'
import { useCommon } from '../../language/index.ts'
import { Button } from '../page/button.tsx'
import { Note } from '../page/note.tsx'
import { RefusalAlert } from '../page/refusal-alert.tsx'
import { Dialog } from './dialog.tsx'

interface CountedDialogProps {
  title: string
  /** What to do, and with which records. */
  children: ReactNode
  /** Whether the inputs among the children are complete. */
  isReady?: boolean
  /** What to say about the number of the records, as last counted; undefined if they must be counted first. */
  counted: { words?: string; isNone?: boolean } | undefined
  /** Counts the records. Without it, the children themselves show how many they are. */
  count?: () => void
  isCounting?: boolean
  verb: string
  isDangerous?: boolean
  run: () => void
  isRunning: boolean
  error?: Error | null
  fieldNames?: Record<string, string>
  /** Follows what has begun, and takes the place of the children. */
  begun?: ReactNode
  onClose: () => void
}

/** Asks what to do with many records, counts them, does it, and follows it. */
export function CountedDialog({ title, children, counted, begun, onClose, ...asked }: CountedDialogProps) {
  const t = useCommon()
  const { isReady = true, count, isCounting = false, verb, isDangerous = false, run, isRunning } = asked
  const { error, fieldNames = {} } = asked
  const mayRun = counted !== undefined && counted.isNone !== true
  const footer = begun ? (
    <Button type="primary" onClick={onClose}>
      {t('close')}
    </Button>
  ) : (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      {count && (
        <Button
          type={counted === undefined ? 'primary' : 'default'}
          disabled={!isReady}
          loading={isCounting}
          onClick={count}
        >
          {t('countMatches')}
        </Button>
      )}
      {mayRun && (
        <Button type="primary" danger={isDangerous} disabled={!isReady} loading={isRunning} onClick={run}>
          {verb}
        </Button>
      )}
    </>
  )
  return (
    <Dialog width={640} title={title} closesOutside={false} onClose={onClose} footer={footer}>
      {begun || (
        <>
          <RefusalAlert error={error} fieldNames={fieldNames} />
          {children}
          {counted?.words !== undefined && (
            <Note type={counted.isNone ? 'warning' : 'info'} role="status" words={counted.words} />
          )}
        </>
      )}
    </Dialog>
  )
}
