import type { ReactNode } from 'react'
import { useCommon } from '../../language/index.ts'

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle'

/** A state: a word with a coloured dot. Colour is never the only sign. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`state state-${tone}`}>{children}</span>
}

export function OnlineState({ status }: { status: number }) {
  const t = useCommon()
  return <State tone={status === 1 ? 'good' : 'idle'}>{status === 1 ? t('online') : t('offline')}</State>
}

/** The status of a device: 1 normal, 2 faulty. */
export function HealthState({ status }: { status: number }) {
  const t = useCommon()
  return <State tone={status === 1 ? 'good' : 'bad'}>{status === 1 ? t('normal') : t('faulty')}</State>
}

/** The run status of a device: 0 closed, 1 open, 2 stopped. */
export function RunState({ status }: { status: number }) {
  const t = useCommon()
  const words = [t('closed'), t('open'), t('stopped')]
  const tones: Tone[] = ['idle', 'busy', 'warn']
  return <State tone={tones[status] ?? 'idle'}>{words[status] ?? status}</State>
}

/** The state of an application: frozen before anything else. */
export function ApplicationState({ application }: { application: { status: number; onlineStatus: number } }) {
  const t = useCommon()
  if (application.status === 2) return <State tone="bad">{t('frozen')}</State>
  return <OnlineState status={application.onlineStatus} />
}
