import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Static, TObject, TSchema } from 'typebox'
import { ForecourtError } from '../../sdk/src/error.ts'
import { type Answered, exchange } from '../../sdk/src/exchange.ts'
import { getSession } from '../../src/people/sessions/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { language } from './language/index.ts'

// The console's only way to the service: the public API, with the session's cookie.

/** What an operation takes: its body or its query, whichever it declares. */
export type Input<Body extends TObject, Query extends TObject> = (TObject extends Body ? unknown : Static<Body>) &
  (TObject extends Query ? unknown : Static<Query>)

/** Called when the service says that the session has ended. */
let onSignedOut: () => void = () => {}
export function whenSignedOut(run: () => void): void {
  onSignedOut = run
}

/** Calls an operation. Throws `ForecourtError`. */
export async function call<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  input: Input<Body, Query>,
  headers?: Record<string, string>,
): Promise<Answered<Static<Data>>> {
  try {
    const sent = { 'accept-language': language(), ...headers }
    return (await exchange('', operation, input as object, { operation: operation.id, headers: sent })) as Answered<
      Static<Data>
    >
  } catch (error) {
    // Who asks whether he is signed in is told so by the refusal itself.
    if (error instanceof ForecourtError && error.code === 10002 && operation.id !== getSession.id) onSignedOut()
    throw error
  }
}

interface ReadOptions {
  /** Nothing is asked while it is false. */
  enabled?: boolean
  /** Asks again from time to time, in milliseconds. */
  refetchInterval?: number
  /** Shows what was there while something else is being read: a table does not flicker between its pages. */
  keepsPrevious?: boolean
}

/** How an operation is read, and under which key it is kept. */
export function reading<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  input: Input<Body, Query>,
) {
  return {
    queryKey: [operation.id, input, language()],
    queryFn: async () => (await call(operation, input)).data,
  }
}

/** Reads by an operation, for as long as a component shows it: `{ data, error, isPending, … }` of react-query. */
export function useRead<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  input: Input<Body, Query>,
  { keepsPrevious, ...options }: ReadOptions = {},
) {
  return useQuery<Static<Data>, ForecourtError>({
    ...reading(operation, input),
    ...(keepsPrevious ? { placeholderData: (previous: Static<Data> | undefined) => previous as never } : {}),
    ...options,
  })
}

/** The same with the entity tag: `data` is `{ data, etag }`. For a form, whose save names the state that it began with. */
export function useReadTagged<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  input: Input<Body, Query>,
  options: Pick<ReadOptions, 'enabled'> = {},
) {
  return useQuery<{ data: Static<Data>; etag: string | null }, ForecourtError>({
    queryKey: [operation.id, 'tagged', input, language()],
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
 * Writes by an operation: `mutateAsync({ input, headers })`. What the console shows is read anew afterwards, except where
 * nothing was changed.
 */
export function useWrite<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
) {
  const queries = useQueryClient()
  return useMutation<Static<Data>, ForecourtError, WriteInput<Input<Body, Query>>>({
    mutationFn: async ({ input, headers }) => (await call(operation, input, headers)).data,
    onSuccess: () => readAnew(queries),
  })
}

/** Everything but what a form began with. */
export function readAnew(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== 'tagged' })
}

/** One key an attempt to create: sent again with a retry, so that a lost answer makes nothing twice. */
export function newIdempotencyKey(): Record<string, string> {
  return { 'idempotency-key': crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}` }
}
