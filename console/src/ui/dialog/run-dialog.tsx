import { useQueryClient } from '@tanstack/react-query'
import { Progress } from 'antd'
import { type ReactNode, useRef, useState } from 'react'
import { readAnew } from '../../api/api.ts'
import { useCommon } from '../../language/index.ts'
import { Button } from '../page/button.tsx'
import { RefusalAlert } from '../page/refusal-alert.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'

interface RunDialogProps<Part> {
  title: string
  /** The title once it is over. */
  titleOver: string
  /** Explains what will happen, with what must be entered before. */
  children: ReactNode
  verb: string
  isDangerous?: boolean
  isReady?: boolean
  /** What is sent, one request each. */
  parts: readonly Part[]
  /** How many records a part has. */
  sizeOf?: (part: Part) => number
  /** Sends a part. If it throws, the refusal is shown, and the user can go on with the same part. */
  send: (part: Part) => Promise<unknown>
  /** Whether a refusal is among the results. */
  isBad?: boolean
  /** What became of the records. */
  over: ReactNode
  /** Called with whether something was sent. */
  onClose: (isBegun: boolean) => void
}

/** Asks before something is done with each of the selected records, does it in several requests, and says what became of them. */
export function RunDialog<Part>({
  title,
  titleOver,
  children,
  verb,
  parts,
  send,
  over,
  onClose,
  ...options
}: RunDialogProps<Part>) {
  const t = useCommon()
  const queries = useQueryClient()
  const { isDangerous = false, isReady = true, sizeOf = () => 1, isBad = false } = options
  const [state, setState] = useState<'asked' | 'running' | 'stopping' | 'over'>('asked')
  const [next, setNext] = useState(0)
  const [error, setError] = useState<Error>()
  const isStopped = useRef(false)
  const sizes = parts.map(sizeOf)
  const sum = (of: number[]) => of.reduce((total, size) => total + size, 0)
  const [done, count] = [sum(sizes.slice(0, next)), sum(sizes)]
  const isRunning = state === 'running' || state === 'stopping'

  async function run(): Promise<void> {
    setState('running')
    setError(undefined)
    try {
      for (const [index, part] of parts.entries()) {
        if (isStopped.current) break
        if (index < next) continue
        await send(part)
        setNext(index + 1)
      }
      setState('over')
    } catch (refusal) {
      setError(refusal as Error)
      setState('asked')
    }
    await readAnew(queries)
  }

  function stop(): void {
    isStopped.current = true
    setState('stopping')
  }

  const close = () => onClose(state === 'over' || next > 0)
  return (
    <Dialog
      width={640}
      title={state === 'over' ? titleOver : title}
      // The dialog cannot be closed while it runs: a closed dialog would look as if all records were done.
      onClose={isRunning ? undefined : close}
      closesOutside={false}
      footer={
        isRunning ? (
          <Button disabled={state === 'stopping' || parts.length === 1} onClick={stop}>
            {t('stop')}
          </Button>
        ) : state === 'over' ? (
          <Button type="primary" onClick={close}>
            {t('close')}
          </Button>
        ) : (
          <DialogButtons
            verb={verb}
            isDangerous={isDangerous}
            isReady={isReady}
            run={() => void run()}
            onClose={close}
          />
        )
      }
    >
      <RefusalAlert error={error} />
      {state === 'asked' && next === 0 && children}
      {isRunning && (
        <>
          <Progress
            aria-label={title}
            percent={Math.round((done / count) * 100)}
            status={isBad ? 'exception' : 'normal'}
            showInfo={false}
          />
          <p className="number">{t('doneOf', { done, count })}</p>
        </>
      )}
      {state === 'over' && <div role="status">{over}</div>}
    </Dialog>
  )
}
