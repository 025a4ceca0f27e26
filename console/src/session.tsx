import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useDeferredValue, useEffect } from 'react'
import { Navigate, useLocation } from 'react-router'
import type { Static } from 'typebox'
import { getSession, type OwnSession } from '../../src/people/sessions/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { rolesOf } from '../../src/vocabulary/roles.ts'
import { useRead, whenFactorIsWanted, whenSignedOut } from './api.ts'
import { paths } from './paths.ts'
import { Loading } from './ui/loading.tsx'
import { RefusalResult } from './ui/refusal.tsx'

type Session = Static<typeof OwnSession>

const SessionContext = createContext<Session | undefined>(undefined)

/** Shows its children if the user is signed in, else the sign-in page. */
export function SignedIn({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const location = useLocation()
  const { data, error, isPending } = useRead(getSession, {}, { refetchInterval: 60_000 })
  useEffect(() => {
    whenSignedOut(() => void queries.resetQueries({ queryKey: [getSession.id] }))
    whenFactorIsWanted(() => void queries.invalidateQueries({ queryKey: [getSession.id] }))
    return () => {
      whenSignedOut(() => {})
      whenFactorIsWanted(() => {})
    }
  }, [queries])
  const from = location.pathname + location.search
  // Deferred, the frame and its page are drawn in slices, between which the browser answers.
  const session = useDeferredValue(data)
  if (isPending) return <Loading />
  if (error?.code === 10002) return <Navigate to={paths.signIn()} replace state={{ from }} />
  if (data === undefined) return <RefusalResult error={error} />
  if (session === undefined) return <Loading />
  // A session without its second factor sets one up, or shows it, before anything else.
  if (data.isLimited && location.pathname !== paths.account()) {
    return <Navigate to={paths.account()} replace state={{ from }} />
  }
  return <SessionContext value={session}>{children}</SessionContext>
}

/** The session of the signed-in user. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('nobody is signed in here')
  return session
}

/** Returns a test whether the signed-in user may call an operation; the console offers nothing else. */
export function useMay(): (operation: Operation) => boolean {
  const { role } = useSession()
  return (operation) => rolesOf(operation).some((known) => known === role)
}

/**
 * Clears the cache, because someone else may be signed in from now on. The next page requests the session again: a
 * cached refusal would lead straight back to sign-in.
 */
export function afterSessionChange(queries: QueryClient): void {
  queries.clear()
}
