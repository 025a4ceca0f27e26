import { useRef, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { replayDeliveries } from '../../../src/deliveries/contract.ts'
import { call } from '../api/api.ts'
import { RunDialog } from '../ui/dialog/run-dialog.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
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

interface Props {
  chosen: Chosen[]
  onDone: () => void
}

/** Sends the chosen deliveries again, one request each, and lists the refused ones. */
export function ReplaySelection({ chosen, onDone }: Props) {
  const t = useTexts()
  // The selection when the dialog was opened: it may change meanwhile.
  const [asked, setAsked] = useState<Chosen[]>()
  return (
    <>
      <Button onClick={() => setAsked(chosen)}>{t('replaySelection', { count: chosen.length })}</Button>
      {asked && (
        <Dialog
          chosen={asked}
          onClose={(isBegun) => {
            setAsked(undefined)
            if (isBegun) onDone()
          }}
        />
      )}
    </>
  )
}

function Dialog({ chosen, onClose }: { chosen: Chosen[]; onClose: (isBegun: boolean) => void }) {
  const t = useTexts()
  const [taken, setTaken] = useState(0)
  const [refused, setRefused] = useState<Refused[]>([])
  const withoutCallback = useRef(new Set<string>())

  async function send({ appId, id }: Chosen): Promise<void> {
    // Without a callback, the application's other deliveries would be refused for the same reason.
    if (withoutCallback.current.has(appId)) return
    try {
      await call(replayDeliveries, { appId, id })
      setTaken((before) => before + 1)
    } catch (refusal) {
      const error = refusal as ForecourtError
      setRefused((before) => [...before, { appId, id, error }])
      if (error.code === 10042) withoutCallback.current.add(appId)
    }
  }

  return (
    <RunDialog
      title={t('selectionTitle', { count: chosen.length })}
      titleOver={t('selectionOver', { count: chosen.length })}
      verb={t('replay')}
      parts={chosen}
      send={send}
      isBad={refused.length > 0}
      over={<Summary taken={taken} count={chosen.length} refused={refused} />}
      onClose={onClose}
    >
      <p>{t('selectionText')}</p>
    </RunDialog>
  )
}

/** Shows how many were sent again, and the refused ones with the service's reasons. */
function Summary({ taken, count, refused }: { taken: number; count: number; refused: Refused[] }) {
  const t = useTexts()
  const words = t('selectionDone', { done: taken, count })
  const missing = refused.filter(({ error }) => error.code === 10042)
  const others = refused.filter(({ error }) => error.code !== 10042)
  return (
    <>
      <Note
        type={refused.length === 0 ? 'success' : 'warning'}
        words={taken + refused.length < count ? `${t('stopped')} ${words}` : words}
      />
      {missing.map(({ appId, error }) => (
        <ReplayRefusal key={appId} appId={appId} error={error} />
      ))}
      {others.length > 0 && (
        <>
          <p>{t('selectionRefused', { count: others.length })}</p>
          <ul className="refused-list">
            {others.map(({ appId, id, error }) => (
              <li key={`${appId} ${id}`}>
                <span className="number">{id}</span>: {error.reason} <span className="faint">({error.code})</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
