import type { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Static } from 'typebox'
import type { OwnSession } from '../../../src/people/sessions/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { rolesOf } from '../../../src/vocabulary/roles.ts'

export type Session = Static<typeof OwnSession>

export const SessionContext = createContext<Session | undefined>(undefined)

/** Over it, the windows tell each other that a session has begun or ended. */
export const channelName = 'forecourt.session'

function tellSessionChange(): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage(true)
  channel.close()
}

/** The session of the signed-in user. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('no signed-in session in this context')
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
  tellSessionChange()
}
