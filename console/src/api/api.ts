import {
  hashKey,
  type QueryClient,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { createContext, useContext, useState } from 'react'
import type { Static, TObject, TSchema } from 'typebox'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { type Answered, exchange } from '../../../sdk/src/exchange.ts'
import { deleteSession, getSession, type OwnSession } from '../../../src/people/sessions/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { rolesOf } from '../../../src/vocabulary/roles.ts'
import type { keptMembers } from '../../slim-contracts.ts'
import { language } from '../language/index.ts'
import { noteTime } from './clock.ts'
import { fetchOrTake } from './early.ts'
import { useLive } from './live.ts'

// The console's only way to the service: the public API, with the session's cookie.

/** The input of an operation: its body or its query, whichever it declares. */
export type Input<Body extends TObject, Query extends TObject> = (TObject extends Body ? unknown : Static<Body>) &
  (TObject extends Query ? unknown : Static<Query>)

/** An operation in the console's build, which has its inputs and responses only as types. */
type Called<Body extends TObject, Query extends TObject, Data extends TSchema> = Pick<
  Operation<Body, Query, Data>,
  (typeof keptMembers)[number] | 'body' | 'query' | 'data'
>

/** Called when the service responds that the session has ended. Resolves with whether the same person is in again. */
let askToSignIn: () => Promise<boolean> = async () => false
export function whenSignedOut(ask: () => Promise<boolean>): void {
  askToSignIn = ask
}

/**
 * Called when the session lacks its second factor (10034). Resolves with whether the page waited and the session is whole; a
 * read does not wait, because the pages read again then.
 */
let askForFactor: (isRead: boolean) => Promise<boolean> = async () => false
export function whenFactorIsWanted(ask: (isRead: boolean) => Promise<boolean>): void {
  askForFactor = ask
}

/** Called when an operation needs a fresh proof of the person (10035). Resolves with whether it was given. */
let askForProof: () => Promise<boolean> = async () => false
export function whenProofIsWanted(ask: () => Promise<boolean>): void {
  askForProof = ask
}

const send: typeof fetch = async (url, request) => {
  const response = await fetchOrTake(url, request)
  noteTime(response)
  return response
}

/** Their callers handle the end of the session themselves. */
const aboutSessions: readonly string[] = [getSession.id, deleteSession.id]

/**
 * Whether a refused operation may be repeated, because the person has given what it lacked: a sign-in after the session
 * has ended, the second factor of the session, or a fresh proof of who they are.
 */
export async function mayRepeat(refusal: unknown, operation: string, isRead = false): Promise<boolean> {
  if (!(refusal instanceof ForecourtError)) return false
  if (refusal.code === 10002 && !aboutSessions.includes(operation)) return askToSignIn()
  if (refusal.code === 10034) return askForFactor(isRead)
  return refusal.code === 10035 && askForProof()
}

/** Calls an operation, and once more when it may be repeated. Throws `ForecourtError`. */
export async function call<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
  headers?: Record<string, string>,
): Promise<Answered<Static<Data>>> {
  try {
    const options = {
      operation: operation.id,
      headers: { 'accept-language': language(), ...headers },
      fetch: send,
    }
    return (await exchange('', operation, input as object, options)) as Answered<Static<Data>>
  } catch (error) {
    if (await mayRepeat(error, operation.id, operation.method === 'GET')) return call(operation, input, headers)
    throw error
  }
}

export interface ReadOptions {
  /** While it is false, no request is sent. */
  enabled?: boolean
  /** The interval at which the request is repeated, in milliseconds. */
  refetchInterval?: number
  /** The application whose events say when to read again: polled only without its stream. */
  live?: string
  /** Keeps the last data while other data loads, so that a table does not flicker between pages. */
  keepsPrevious?: boolean
}

/** The query of an operation for react-query: its function and its cache key. */
export function reading<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
) {
  return {
    queryKey: [operation.id, input, language()],
    queryFn: async () => (await call(operation, input)).data,
  }
}

/** The query of one's own session. Its key has no language, because another one changes nothing about it. */
export const readingSession = {
  queryKey: [getSession.id],
  queryFn: async () => (await call(getSession, {})).data,
}

/** Reads an operation while a component is mounted: `{ data, error, isPending, … }` of react-query. */
export function useRead<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
  { keepsPrevious, live = '', ...options }: ReadOptions = {},
) {
  const queries = useQueryClient()
  const query = reading(operation, input)
  const isLive = useLive(live, () => void queries.refetchQueries({ queryKey: query.queryKey, exact: true }))
  const read = useQuery<Static<Data>, ForecourtError>({
    ...query,
    // Another language alone must not empty the page, and with it the forms on it.
    placeholderData: (previous: Static<Data> | undefined, query: { queryKey: readonly unknown[] } | undefined) =>
      (keepsPrevious || isSameInput(query?.queryKey, [operation.id, input]) ? previous : undefined) as never,
    ...options,
    ...(isLive && { refetchInterval: false as const }),
  })
  return useKeptRefusal(read, hashKey([operation.id, input]))
}

/**
 * Keeps the error of a read that failed while it is read again, unless the page itself asks with `refetch`: react-query
 * clears it, and a form that is shown in its place would lose what was typed.
 */
function useKeptRefusal<Data>(read: UseQueryResult<Data, ForecourtError>, key: string) {
  const [refused, setRefused] = useState<{ key: string; error: ForecourtError }>()
  const { error, isPending, isFetching } = read
  const isReadAgain = isPending && isFetching && refused?.key === key
  if (error !== null && error !== refused?.error) setRefused({ key, error })
  else if (refused !== undefined && error === null && !isReadAgain) setRefused(undefined)
  const refetch: typeof read.refetch = (settings) => {
    setRefused(undefined)
    return read.refetch(settings)
  }
  return { ...read, error: isReadAgain ? refused.error : error, refetch }
}

const isSameInput = (key: readonly unknown[] | undefined, asked: readonly unknown[]) =>
  key !== undefined && hashKey(key.slice(0, 2)) === hashKey(asked)

/** Like `useRead`, with the entity tag: `data` is `{ data, etag }`. For a form, which sends the tag when it saves. */
export function useReadTagged<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
  options: Pick<ReadOptions, 'enabled'> = {},
) {
  return useQuery<{ data: Static<Data>; etag: string | null }, ForecourtError>({
    // Without the language: the form keeps what was typed when another one is chosen.
    queryKey: [operation.id, 'tagged', input],
    queryFn: () => call(operation, input),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    ...options,
  })
}

interface WriteInput<Sent> {
  input: Sent
  headers?: Record<string, string>
}

/**
 * Calls a writing operation: `mutateAsync({ input, headers })`. After a success the console reads again all data that
 * it shows.
 */
export function useWrite<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
) {
  const queries = useQueryClient()
  return useMutation<Static<Data>, ForecourtError, WriteInput<Input<Body, Query>>>({
    mutationFn: async ({ input, headers }) => (await call(operation, input, headers)).data,
    onSuccess: () => readAnew(queries),
  })
}

/** Reads everything again, except the records that forms were opened with. */
export function readAnew(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== 'tagged' })
}

/** A new `Idempotency-Key` header. A retry sends the same one, so that a lost response creates nothing twice. */
export function newIdempotencyKey(): Record<string, string> {
  return { 'idempotency-key': crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}` }
}

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

/** Runs what may be refused, and holds whether it is under way and why it failed. */
export function useAttempt() {
  const [error, setError] = useState<Error>()
  const [isRunning, setRunning] = useState(false)
  async function attempt(run: () => Promise<unknown>): Promise<void> {
    setRunning(true)
    setError(undefined)
    try {
      await run()
    } catch (refusal) {
      setError(refusal as Error)
    } finally {
      setRunning(false)
    }
  }
  return { attempt, error, setError, isRunning }
}
