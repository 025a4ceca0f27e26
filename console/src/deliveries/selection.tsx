import { useQueryClient } from '@tanstack/react-query'
import { Alert, Button, Modal, Progress } from 'antd'
import { useRef, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { replayDeliveries } from '../../../src/deliveries/contract.ts'
import { call, readAnew } from '../api/api.ts'
import { ReplayRefusal } from './refusal.tsx'
import { useTexts } from './texts.ts'

/** A delivery, identified among the deliveries of all applications. */
export interface Chosen {
  appId: string
  id: number
}

interface Refused extends Chosen {
  error: ForecourtError
}

interface Run {
  /** The selection when the run began: it may change meanwhile. */
  chosen: Chosen[]
  done: number
  refused: Refused[]
  state: 'asked' | 'running' | 'stopping' | 'over'
}

interface Props {
  chosen: Chosen[]
  onDone: () => void
}

/** Sends the chosen deliveries again, one request each, and lists the refused ones. */
export function ReplaySelection({ chosen, onDone }: Props) {
  const t = useTexts()
  const [run, setRun] = useState<Run>()
  return (
    <>
      <Button onClick={() => setRun({ chosen, done: 0, refused: [], state: 'asked' })}>
        {t('replaySelection', { count: chosen.length })}
      </Button>
      {run && (
        <Dialog
          run={run}
          setRun={setRun}
          onClose={() => {
            setRun(undefined)
            if (run.state === 'over') onDone()
          }}
        />
      )}
    </>
  )
}

interface DialogProps {
  run: Run
  setRun: (run: Run) => void
  onClose: () => void
}

function Dialog({ run, setRun, onClose }: DialogProps) {
  const t = useTexts()
  const queries = useQueryClient()
  const isStopped = useRef(false)
  const { chosen, done, refused, state } = run
  const isRunning = state === 'running' || state === 'stopping'

  async function go(): Promise<void> {
    const now: Run = { chosen, done: 0, refused: [], state: 'running' }
    const withoutCallback = new Set<string>()
    for (const { appId, id } of chosen) {
      if (isStopped.current) break
      // Without a callback, the application's other deliveries would be refused for the same reason.
      if (withoutCallback.has(appId)) continue
      setRun({ ...now })
      try {
        await call(replayDeliveries, { appId, id })
      } catch (error) {
        now.refused = [...now.refused, { appId, id, error: error as ForecourtError }]
        if ((error as ForecourtError).code === 10042) withoutCallback.add(appId)
      }
      now.done += 1
    }
    setRun({ ...now, state: 'over' })
    await readAnew(queries)
  }

  function stop(): void {
    isStopped.current = true
    setRun({ ...run, state: 'stopping' })
  }

  return (
    <Modal
      open
      title={t('selectionTitle', { count: chosen.length })}
      // The dialog cannot be closed while it runs: a closed dialog would look as if all deliveries were done.
      closable={!isRunning}
      keyboard={!isRunning}
      mask={{ closable: false }}
      onCancel={onClose}
      footer={<Buttons state={state} verb={t('replay')} close={t('close')} go={go} stop={stop} onClose={onClose} />}
    >
      {state === 'asked' && <p>{t('selectionText')}</p>}
      {state !== 'asked' && (
        <>
          <Progress
            aria-label={t('selectionTitle', { count: chosen.length })}
            percent={Math.round((done / chosen.length) * 100)}
            status={refused.length > 0 ? 'exception' : 'normal'}
            showInfo={false}
          />
          <p className="number">{t('doneOf', { done, count: chosen.length })}</p>
        </>
      )}
      {state === 'over' && <Summary run={run} />}
    </Modal>
  )
}

interface ButtonsProps {
  state: Run['state']
  verb: string
  close: string
  go: () => Promise<void>
  stop: () => void
  onClose: () => void
}

function Buttons({ state, verb, close, go, stop, onClose }: ButtonsProps) {
  const t = useTexts()
  if (state === 'over') {
    return (
      <Button type="primary" onClick={onClose}>
        {close}
      </Button>
    )
  }
  if (state !== 'asked') {
    return (
      <Button disabled={state === 'stopping'} onClick={stop}>
        {t('stop')}
      </Button>
    )
  }
  return (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button type="primary" onClick={() => void go()}>
        {verb}
      </Button>
    </>
  )
}

/** Shows how many were sent again, and the refused ones with the service's reasons. */
function Summary({ run: { chosen, done, refused } }: { run: Run }) {
  const t = useTexts()
  const taken = t('selectionDone', { done: done - refused.length, count: chosen.length })
  const missing = refused.filter(({ error }) => error.code === 10042)
  const others = refused.filter(({ error }) => error.code !== 10042)
  return (
    <div role="status">
      <Alert
        type={refused.length === 0 ? 'success' : 'warning'}
        showIcon
        title={done < chosen.length ? `${t('stopped')} ${taken}` : taken}
        style={{ marginBottom: 12 }}
      />
      {missing.map(({ appId, error }) => (
        <ReplayRefusal key={appId} appId={appId} error={error} />
      ))}
      {others.length > 0 && (
        <>
          <p>{t('selectionRefused', { count: others.length })}</p>
          <ul style={{ maxHeight: 160, overflow: 'auto', paddingInlineStart: 20 }}>
            {others.map(({ appId, id, error }) => (
              <li key={`${appId} ${id}`}>
                <span className="number">{id}</span>: {error.reason} <span className="faint">({error.code})</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
