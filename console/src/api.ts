import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Static, TObject, TSchema } from 'typebox'
import { ForecourtError } from '../../sdk/src/error.ts'
import { type Answered, exchange } from '../../sdk/src/exchange.ts'
import { getSession } from '../../src/people/sessions/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { keptMembers } from '../slim-contracts.ts'
import { fetchOrTake } from './early.ts'
import { language } from './language/index.ts'

// The console's only way to the service: the public API, with the session's cookie.

/** The input of an operation: its body or its query, whichever it declares. */
export type Input<Body extends TObject, Query extends TObject> = (TObject extends Body ? unknown : Static<Body>) &
  (TObject extends Query ? unknown : Static<Query>)

/** An operation in the console's build, which has its inputs and responses only as types. */
type Called<Body extends TObject, Query extends TObject, Data extends TSchema> = Pick<
  Operation<Body, Query, Data>,
  (typeof keptMembers)[number] | 'body' | 'query' | 'data'
>

/** Called when the service responds that the session has ended. */
let onSignedOut: () => void = () => {}
export function whenSignedOut(run: () => void): void {
  onSignedOut = run
}

/** Called when the session lacks its second factor (10034). */
let onFactorWanted: () => void = () => {}
export function whenFactorIsWanted(run: () => void): void {
  onFactorWanted = run
}

/** Called when an operation needs a fresh proof of the person (10035). Resolves with whether it was given. */
let askForProof: () => Promise<boolean> = async () => false
export function whenProofIsWanted(ask: () => Promise<boolean>): void {
  askForProof = ask
}

/** Calls an operation. If it needs a proof, asks for that and calls again. Throws `ForecourtError`. */
export async function call<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
  headers?: Record<string, string>,
): Promise<Answered<Static<Data>>> {
  try {
    const options = {
      operation: operation.id,
      headers: { 'accept-language': language(), ...headers },
      fetch: fetchOrTake,
    }
    return (await exchange('', operation, input as object, options)) as Answered<Static<Data>>
  } catch (error) {
    // `getSession` asks whether anybody is signed in, so its caller handles this refusal itself.
    if (error instanceof ForecourtError && error.code === 10002 && operation.id !== getSession.id) onSignedOut()
    if (error instanceof ForecourtError && error.code === 10034) onFactorWanted()
    if (error instanceof ForecourtError && error.code === 10035 && (await askForProof())) {
      return call(operation, input, headers)
    }
    throw error
  }
}

interface ReadOptions {
  /** While it is false, no request is sent. */
  enabled?: boolean
  /** The interval at which the request is repeated, in milliseconds. */
  refetchInterval?: number
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

/** Reads an operation while a component is mounted: `{ data, error, isPending, … }` of react-query. */
export function useRead<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
  input: Input<Body, Query>,
  { keepsPrevious, ...options }: ReadOptions = {},
) {
  return useQuery<Static<Data>, ForecourtError>({
    ...reading(operation, input),
    ...(keepsPrevious ? { placeholderData: (previous: Static<Data> | undefined) => previous as never } : {}),
    ...options,
  })
}

/** Like `useRead`, with the entity tag: `data` is `{ data, etag }`. For a form, which sends the tag when it saves. */
export function useReadTagged<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Called<Body, Query, Data>,
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
