import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { getSession } from '../../../src/people/sessions/contract.ts'
import {
  channelName,
  readingSession,
  type Session,
  SessionContext,
  whenFactorIsWanted,
  whenSignedOut,
} from '../api/api.ts'
import { isOutage } from '../api/outages.ts'
import { paths } from '../paths.ts'
import { isSomethingOpen } from '../ui/form/leaving.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { part } from '../ui/page/part.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'

const SignInAgain = part(async () => (await import('../sign-in/again.tsx')).SignInAgain)
const FactorFirst = part(async () => (await import('../sign-in/again.tsx')).FactorFirst)

/** An operator key has no account. */
const personOf = ({ operatorId, name }: Session) => operatorId ?? name

/**
 * Shows its children if the user is signed in, else the sign-in page. If the session ends while something is open, or turns
 * out to lack its second factor, the page waits, hidden, until the same person has signed in again and shown it.
 */
export function SignedIn({ children }: { children: ReactNode }) {
  const location = useLocation()
  const { data, error, isPending } = useQuery<Session, ForecourtError>({ ...readingSession, refetchInterval: 60_000 })
  const isRefused = error?.code === 10002
  const lacksFactor = !isRefused && data?.isLimited === true && location.pathname !== paths.account()
  const isHindered = isRefused || lacksFactor
  const [isKept, setKept] = useState<boolean>()
  useLayoutEffect(() => setKept(isHindered ? isSomethingOpen() : undefined), [isHindered])
  // Until the person has kept the recovery codes of a first factor, which makes the session whole at once.
  const [wantsFactor, setWantsFactor] = useState(false)
  if (isKept && lacksFactor && !wantsFactor) setWantsFactor(true)
  const tellWhole = useSessionEnd()
  const isSamePerson = useOnePerson(data)
  const from = location.pathname + location.search
  // Deferred, the frame and its page are drawn in slices, between which the browser answers.
  const session = useDeferredValue(data)
  if (isPending) return <Loading />
  if (isRefused && (data === undefined || isKept === false)) {
    return <Navigate to={paths.signIn()} replace state={{ from }} />
  }
  if (data === undefined) return <RefusalResult error={error} />
  if (session === undefined || !isSamePerson) return <Loading />
  // A session without its second factor sets one up, or shows it, before anything else.
  if (lacksFactor && isKept === false) return <Navigate to={paths.account()} replace state={{ from }} />
  function goOn(): void {
    setWantsFactor(false)
    tellWhole()
  }
  return (
    <SessionContext value={session}>
      {children}

      {isKept && isRefused && <SignInAgain from={from} />}
      {wantsFactor && !isRefused && <FactorFirst from={from} onWhole={goOn} />}
    </SessionContext>
  )
}

/**
 * Whether the session is that of the person whose data the pages show. When another one has signed in, in this window
 * or another, all is forgotten that was read before, and all that was entered.
 */
function useOnePerson(session: Session | undefined): boolean {
  const queries = useQueryClient()
  const now = session && personOf(session)
  const [person, setPerson] = useState(now)
  useLayoutEffect(() => {
    if (person !== undefined && person !== now) queries.removeQueries({ predicate: isNotOfSession })
    setPerson(now)
  }, [queries, person, now])
  // Nor does anything of a person stay when the pages are left for the sign-in.
  useEffect(() => () => queries.clear(), [queries])
  return person === now
}

const isNotOfSession = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== getSession.id

/** Asks for the session again whenever it may have ended. Returns a function that tells that it has got its second factor. */
function useSessionEnd(): () => void {
  const queries = useQueryClient()
  const waiting = useRef<(() => void)[]>([])
  useEffect(() => {
    const ask = () => queries.refetchQueries({ queryKey: readingSession.queryKey }, { cancelRefetch: false })
    const refusal = () => queries.getQueryState<Session, ForecourtError>(readingSession.queryKey)?.error
    whenSignedOut(async () => {
      const before = queries.getQueryData<Session>(readingSession.queryKey)
      await ask()
      if (before === undefined || refusal()?.code !== 10002 || !isSomethingOpen()) return false
      const now = await sessionAfter(queries)
      return now !== undefined && personOf(now) === personOf(before)
    })
    whenFactorIsWanted(async (isRead) => {
      const isOpen = isSomethingOpen()
      await ask()
      const now = queries.getQueryData<Session>(readingSession.queryKey)
      if (isRead || !isOpen || now?.isLimited !== true) return false
      await new Promise<void>((resolve) => waiting.current.push(resolve))
      return true
    })
    const channel = new BroadcastChannel(channelName)
    channel.onmessage = () => void ask()
    // A page that the browser has kept shows nothing on the way back until it is known who is signed in.
    const { dataset } = document.documentElement
    const leave = ({ persisted }: PageTransitionEvent) => {
      if (persisted) dataset.left = ''
    }
    const comeBack = async (event: PageTransitionEvent) => {
      if (!event.persisted) return
      leave(event)
      await ask()
      if (isOutage(refusal())) location.reload()
      // The answer is drawn a moment later.
      else setTimeout(() => delete dataset.left, 50)
    }
    addEventListener('pagehide', leave)
    addEventListener('pageshow', comeBack)
    return () => {
      whenSignedOut(async () => false)
      whenFactorIsWanted(async () => false)
      channel.close()
      removeEventListener('pagehide', leave)
      removeEventListener('pageshow', comeBack)
    }
  }, [queries])
  return () => {
    for (const goOn of waiting.current.splice(0)) goOn()
  }
}

/** The next session after the end of one; undefined if the page was left instead. */
function sessionAfter(queries: QueryClient): Promise<Session | undefined> {
  const cache = queries.getQueryCache()
  return new Promise((resolve) => {
    const stop = cache.subscribe(({ type, query }) => {
      if (isNotOfSession(query) || (type !== 'removed' && query.state.status !== 'success')) return
      stop()
      resolve(type === 'removed' ? undefined : (query.state.data as Session))
    })
  })
}
