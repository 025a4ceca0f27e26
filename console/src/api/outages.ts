import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { getSession } from '../../../src/people/sessions/contract.ts'
import { call } from './api.ts'

// What the pages in view could not read. Here and not in each page, so that none can forget to tell it.

/** Whether the service did not answer, or could not: the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ForecourtError)) return false
  const { status, code } = error
  // A response without a code comes from another program: a proxy, or the page of a network that asks for a sign-in.
  return status === 0 || status >= 500 || code === 0
}

/** Errors that stand on the page already, in the place of what could not be read. */
const told = new WeakSet<object>()
const listeners = new Set<() => void>()

/** Notes that the page shows an error. */
export function noteTold(error: object): void {
  told.add(error)
  for (const listener of listeners) listener()
}

/** Another part of the console leads to the sign-in, or to the second factor. */
const toldElsewhere: readonly (number | undefined)[] = [10002, 10034]

function isUntold({ state: { status, data, error } }: Query): boolean {
  if (status !== 'error' || !(error instanceof Error) || told.has(error)) return false
  if (toldElsewhere.includes((error as Partial<ForecourtError>).code)) return false
  return data !== undefined || isOutage(error)
}

const inView = (queries: QueryClient) => queries.getQueryCache().findAll({ type: 'active' })

/** The state of the read that failed longest ago, of those in view that nothing on the page tells. */
export function useUntold(): Query['state'] | undefined {
  const queries = useQueryClient()
  const listen = useCallback(
    (tell: () => void) => {
      listeners.add(tell)
      const stop = queries.getQueryCache().subscribe(tell)
      return () => {
        stop()
        listeners.delete(tell)
      }
    },
    [queries],
  )
  return useSyncExternalStore(listen, () => {
    const untold = inView(queries).filter(isUntold)
    const isOld = untold.filter(({ state }) => state.data !== undefined)
    return (isOld.toSorted((one, other) => one.state.dataUpdatedAt - other.state.dataUpdatedAt)[0] ?? untold[0])?.state
  })
}

/** Reads again what failed. */
export const retryFailed = (queries: QueryClient): Promise<void> =>
  queries.refetchQueries(
    { type: 'active', predicate: ({ state }) => state.status === 'error' },
    { cancelRefetch: false },
  )

/** How often the service is asked whether it is there again, in milliseconds. */
const askAgainMs = 3_000
const longestPauseMs = 60_000

/** Keeps asking for what an outage has kept from the pages in view, so that they come back by themselves. */
export function watchOutages(queries: QueryClient): void {
  let isAsking = false
  const isDue = ({ state }: Query) => {
    // What fails although the service is there is asked for less and less often.
    const pauseMs = Math.min(askAgainMs * (2 ** (state.errorUpdateCount - 1) - 1), longestPauseMs)
    return isOutage(state.error) && state.fetchStatus === 'idle' && Date.now() - state.errorUpdatedAt >= pauseMs
  }
  async function ask(): Promise<void> {
    if (isAsking || document.visibilityState !== 'visible' || !inView(queries).some(isFailed)) return
    isAsking = true
    const isThere = await call(getSession, {}).then(
      () => true,
      (error) => !isOutage(error),
    )
    isAsking = false
    if (isThere) await queries.refetchQueries({ type: 'active', predicate: isDue }, { cancelRefetch: false })
  }
  // Not all windows at the same time.
  setInterval(() => void ask(), askAgainMs + Math.random() * 500)
  addEventListener('online', () => void ask())
}

const isFailed = ({ state }: Query) => state.status === 'error' && isOutage(state.error)
