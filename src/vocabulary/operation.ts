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
  /** A body that works, beyond the members that are required: these have examples of their own. */
  example?: Record<string, unknown>
  path: string
  body?: Body
  query?: Query
  data: Data
  /** Where `data` is a union: which of it each of these members of the query asks for. */
  answersBy?: Record<string, TSchema>
  /** The refusals beyond those that every operation of its kind can give. */
  refusals: readonly RefusalName[]
  /** Refusals whose status differs here from the table of refusals; several where it depends on what is refused. */
  statuses?: Partial<Record<RefusalName, number | readonly number[]>>
  /** Takes an `Idempotency-Key` (contract §4.3): a write that would have another effect, or answer, a second time. */
  idempotent?: boolean
  /** Answers the record's `ETag`. */
  tagged?: boolean
  /** The answer is the same for every caller: it has an `ETag`, and 304 for callers that have it already. */
  cached?: boolean
  /** Accepts `If-Match` with an earlier `ETag`; 10009 when the record has changed since. */
  conditional?: boolean
  /** The largest body in bytes, where it is not 64 KiB. */
  maxBodyBytes?: number
  /** How long its answer may take, where that is not the statement timeout's business. */
  answerTimeoutMs?: number
  /** Accepts the form media type too (the token operations). */
  takesForm?: boolean
  /** Members that a standard puts beside those of the envelope: of the answer, and of its refusals. */
  beside?: { answer: TObject; refusal: TObject }
  answers?: string | readonly string[]
  /** Answers 303 in place of 200, with a `Location`. */
  redirects?: boolean
  /** Is given the query as it was sent: another system says what is in it. */
  takesAnyQuery?: boolean
  /** The media types of a body that is a file, taken as it arrives. */
  takes?: readonly string[]
}

/** Declares an operation. Its types flow to the handler and to the test client. */
export function operation<Body extends TObject, Query extends TObject, Data extends TSchema>(
  declared: Operation<Body, Query, Data>,
): Operation<Body, Query, Data> {
  return declared
}
