import type { TObject, TSchema } from 'typebox'
import type { RefusalName } from './refusals.ts'
import type { Admission } from './roles.ts'

/** The public description of one operation. The router, the validator, OpenAPI and the tests are made of it. */
export interface Operation<
  Body extends TObject = TObject,
  Query extends TObject = TObject,
  Data extends TSchema = TSchema,
> extends Admission {
  /** Verb and noun; unique. */
  id: string
  /** The group of operations that it belongs to in the reference: a name of `src/reference/api.ts`. */
  group: string
  /** What it does, and what its callers need to know. */
  summary: string
  /** Members to add to the example of a body, if one with only the required members would not be accepted. */
  example?: Record<string, unknown>
  path: string
  body?: Body
  query?: Query
  data: Data
  /** If `data` is a union: which of its schemas a member of the query asks for. */
  answersBy?: Record<string, TSchema>
  /** The refusals beyond those that every operation of its kind can give. */
  refusals: readonly RefusalName[]
  /** Refusals whose status differs here from the table of refusals; several where it depends on what is refused. */
  statuses?: Partial<Record<RefusalName, number | readonly number[]>>
  /**
   * Takes an `Idempotency-Key` (contract §4.3): for a write that, if repeated, would have another effect or response.
   */
  idempotent?: boolean
  /** Answers the record's `ETag`. */
  tagged?: boolean
  /** The answer is the same for every caller: it has an `ETag`, and 304 for callers that have it already. */
  cached?: boolean
  /** Accepts `If-Match` with an earlier `ETag`; 10009 when the record has changed since. */
  conditional?: boolean
  /** Accepts `Last-Event-ID`: the position after which a stream continues. */
  resumes?: boolean
  /** The largest body in bytes, where it is not 64 KiB. */
  maxBodyBytes?: number
  /** How long the response may take, if not as long as a statement. */
  answerTimeoutMs?: number
  /** Accepts the form media type too (the token operations). */
  takesForm?: boolean
  /** Members that a standard adds to those of the envelope: in the response, and in its refusals. */
  beside?: { answer: TObject; refusal: TObject }
  answers?: string | readonly string[]
  /** Answers 303 in place of 200, with a `Location`. */
  redirects?: boolean
  /** Takes any query members, because another system composes the query. */
  takesAnyQuery?: boolean
  /** The media types of a body that is a file. Such a body is not parsed first: the handler reads it as it arrives. */
  takes?: readonly string[]
}

/** The operations of all contracts that are loaded, in the order of their declarations. */
export const declaredOperations: Operation[] = []

/** Declares an operation. Its types flow to the handler and to the test client. */
export function operation<Body extends TObject, Query extends TObject, Data extends TSchema>(
  declared: Operation<Body, Query, Data>,
): Operation<Body, Query, Data> {
  declaredOperations.push(declared as unknown as Operation)
  return declared
}
