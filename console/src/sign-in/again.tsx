import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useLayoutEffect } from 'react'
import { createPortal } from 'react-dom'
import { Access } from '../account/access.tsx'
import { useTexts as useAccountTexts } from '../account/texts.ts'
import { readAnew, readingSession } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Note } from '../ui/page/note.tsx'
import { Frame } from './frame.tsx'
import { WaysIn } from './sign-in.tsx'
import { useTexts } from './texts.ts'

/** The sign-in in the place of a page whose session has ended, and which waits, hidden, for its person. */
export function SignInAgain({ from }: { from: string }) {
  const t = useTexts()
  const queries = useQueryClient()
  async function goOn(): Promise<void> {
    await queries.refetchQueries({ queryKey: readingSession.queryKey })
    await readAnew(queries)
  }
  return (
    <InPlace from={from} to={paths.signIn()} title={t('signIn')}>
      <Note type="info" words={t('again')} />
      <WaysIn onEntered={goOn} returnTo={from} isInWindow />
    </InPlace>
  )
}

/** The second factor that the session lacks, in the place of a page that waits, hidden, until it is shown or set up. */
export function FactorFirst({ from, onWhole }: { from: string; onWhole: () => void }) {
  const t = useAccountTexts()
  return (
    <InPlace from={from} to={paths.account()} title={t('factors')}>
      <Access onWhole={onWhole} />
    </InPlace>
  )
}

interface InPlaceProps {
  from: string
  /** The address that the window shows meanwhile. */
  to: string
  title: string
  children: ReactNode
}

function InPlace({ from, to, title, children }: InPlaceProps) {
  useAway(from, to)
  return createPortal(
    <div className="sign-in-again">
      <Frame title={title}>{children}</Frame>
    </div>,
    document.body,
  )
}

/** Hides all that the window shows, and its address and title with it, until it is shown again. */
function useAway(from: string, to: string): void {
  useLayoutEffect(() => {
    const { title } = document
    const focused = document.activeElement
    const hidden = [...document.body.children].filter((one) => !one.matches('.sign-in-again, script'))
    for (const one of hidden) one.setAttribute('data-away', '')
    // The router is not told: it keeps its page. Loaded again, the window has the page of that address, and leads back from it.
    const { state } = history
    history.replaceState({ ...state, usr: { from } }, '', to)
    return () => {
      for (const one of hidden) one.removeAttribute('data-away')
      if (location.pathname === to) history.replaceState(state, '', from)
      document.title = title
      if (focused instanceof HTMLElement) focused.focus()
    }
  }, [from, to])
}
