import { useQueryClient } from '@tanstack/react-query'
import { Alert } from 'antd'
import { useLayoutEffect } from 'react'
import { createPortal } from 'react-dom'
import { readAnew, readingSession } from '../api.ts'
import { paths } from '../paths.ts'
import { Frame } from './frame.tsx'
import { WaysIn } from './sign-in.tsx'
import { useTexts } from './texts.ts'

/** The sign-in in the place of a page whose session has ended, and which waits, hidden, for its person. */
export function SignInAgain({ from }: { from: string }) {
  const t = useTexts()
  const queries = useQueryClient()
  useAway(from)
  async function goOn(): Promise<void> {
    await queries.refetchQueries({ queryKey: readingSession.queryKey })
    await readAnew(queries)
  }
  return createPortal(
    <div className="sign-in-again">
      <Frame title={t('title')}>
        <Alert type="info" showIcon title={t('again')} style={{ marginBottom: 16 }} />
        <WaysIn onEntered={goOn} returnTo={from} isInWindow />
      </Frame>
    </div>,
    document.body,
  )
}

/** Hides all that the window shows, and its address and title with it, until the sign-in is gone again. */
function useAway(from: string): void {
  useLayoutEffect(() => {
    const { title } = document
    const focused = document.activeElement
    const hidden = [...document.body.children].filter((one) => !one.matches('.sign-in-again, script'))
    for (const one of hidden) one.setAttribute('data-away', '')
    // The router is not told: it keeps its page. Loaded again, the window has the sign-in, and leads back from it.
    const { state } = history
    history.replaceState({ ...state, usr: { from } }, '', paths.signIn())
    return () => {
      for (const one of hidden) one.removeAttribute('data-away')
      if (location.pathname === paths.signIn()) history.replaceState(state, '', from)
      document.title = title
      if (focused instanceof HTMLElement) focused.focus()
    }
  }, [from])
}
