import type { RefusalName } from './api.ts'

/**
 * The name of a refusal; `noAnswer` when no response came, `notForecourt` for a response that is not the service's, and
 * `unknownRefusal` for a code that a newer service has.
 */
export type ForecourtErrorName = RefusalName | 'noAnswer' | 'notForecourt' | 'unknownRefusal'

interface Details {
  code: number
  name?: ForecourtErrorName | undefined
  status: number
  errors?: FieldFault[]
  requestId?: string | null
  retryAfterSeconds?: number | null
  /** The id of the operation that was called. */
  operation: string
  cause?: unknown
}

interface FieldFault {
  field: string
  reason: string
}

/** How many faulty members the message names; `errors` has all. */
const mostFieldsInMessage = 5

/**
 * A refusal of the service, or a failure without one: then `code` is 0. The message names the operation, the faulty
 * members and, if the connection failed, its cause.
 */
export class ForecourtError extends Error {
  override readonly name: ForecourtErrorName
  /** The refusal's code; 0 without a refusal. */
  readonly code: number
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** The faulty members, of code 10001 and of refusals that name members. */
  readonly errors: FieldFault[]
  /** The id by which the operator finds the request in the log; null when there was no response. */
  readonly requestId: string | null
  /** How long to wait before a retry, from `Retry-After`; null without one. */
  readonly retryAfterSeconds: number | null
  /** The id of the operation that was called. */
  readonly operation: string
  /** The service's message alone, without operation and members. */
  readonly reason: string

  constructor(reason: string, details: Details) {
    const { code, name, status, errors = [], requestId, retryAfterSeconds, operation, cause } = details
    super(`${operation}: ${reason}${wordsOf(errors)}`, { cause })
    this.name = name ?? (status === 0 ? 'noAnswer' : 'notForecourt')
    this.code = code
    this.status = status
    this.errors = errors
    this.requestId = requestId ?? null
    this.retryAfterSeconds = retryAfterSeconds ?? null
    this.operation = operation
    this.reason = reason
  }
}

function wordsOf(errors: FieldFault[]): string {
  if (errors.length === 0) return ''
  const shown = errors.slice(0, mostFieldsInMessage).map(({ field, reason }) => `${field}: ${reason}`)
  const more = errors.length - shown.length
  return ` (${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''})`
}
