import type { TObject, TSchema } from 'typebox'
import type { Words } from './fill.ts'
import type { RefusalName } from './refusals.ts'
import type { Admission } from './roles.ts'

/** The router, the validator, OpenAPI and the tests are made of it. */
export interface Operation<
  Body extends TObject = TObject,
  Query extends TObject = TObject,
  Data extends TSchema = TSchema,
> extends Admission {
  /** Verb and noun; unique. */
  id: string
  /** In the reference: a name of `src/reference/api.ts`. */
  group: string
  summary: string
  /** What the console calls it in the log of refused requests. */
  words?: Words
  /** Added to the example of a body, if one with only the required fields would not be accepted. */
  example?: Record<string, unknown>
  path: string
  body?: Body
  query?: Query
  data: Data
  /** If `data` is a union: which of its schemas a field of the query asks for. */
  answersBy?: Record<string, TSchema>
  /** Beyond those of every operation of its kind. */
  refusals: readonly RefusalName[]
  /** If they differ from the table of refusals; several if the status depends on what is refused. */
  statuses?: Partial<Record<RefusalName, number | readonly number[]>>
  /** Takes an `Idempotency-Key` (contract §4.3): if repeated, the write would have another effect or response. */
  idempotent?: boolean
  /** Returns the record's `ETag`. */
  tagged?: boolean
  /** The same for every caller: has an `ETag`, and 304 for callers that have it. */
  cached?: boolean
  /** Shows more to some roles, so a read is refused if its caller's role changes while it waits. */
  dependsOnRole?: boolean
  /** Accepts `If-Match`; 10009 if the record has changed since. */
  conditional?: boolean
  /** Accepts `Last-Event-ID`: the position after which a stream continues. */
  resumes?: boolean
  /** The largest body; 64 KiB by default. */
  maxBodyBytes?: number
  /** How long the answer may take; by default as long as a statement. */
  answerTimeoutMs?: number
  /** Accepts a form too (the token operations). */
  takesForm?: boolean
  /** What a standard adds to the envelope, in the response and in its refusals. */
  beside?: { answer: TObject; refusal: TObject }
  answers?: string | readonly string[]
  /** 303 with a `Location`, in place of 200. */
  redirects?: boolean
  /** Another system composes the query. */
  takesAnyQuery?: boolean
  /** Media types of a file, which the handler reads as it arrives. */
  takes?: readonly string[]
}

/** A write that a known caller may be refused has words. */
type Worded = { method: 'GET' } | { callers: readonly [] } | { words: Words }

/** The operations of all loaded contracts, in the order of their declarations. */
export const declaredOperations: Operation[] = []

/** The types flow to the handler and to the test client. */
export function operation<Body extends TObject, Query extends TObject, Data extends TSchema>(
  declared: Operation<Body, Query, Data> & Worded,
): Operation<Body, Query, Data> {
  declaredOperations.push(declared as unknown as Operation)
  return declared
}
