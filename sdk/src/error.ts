interface Details {
  code: number
  name?: string | undefined
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

/** More of them make a message that nobody reads; `errors` has all. */
const mostFieldsInMessage = 5

/**
 * A refusal as a program meets it, or an answer that is none: then `code` is 0. Its message names the operation, the
 * faulty members, and of a connection that failed the cause.
 */
export class ForecourtError extends Error {
  /** What is wrong, for programs. */
  readonly code: number
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** The faulty members of code 10001, and of refusals that name members. */
  readonly errors: FieldFault[]
  /** What the operator finds the request by; null when no answer came. */
  readonly requestId: string | null
  /** When to ask again, where the service says so. */
  readonly retryAfterSeconds: number | null
  /** The operation that was called, by its id. */
  readonly operation: string
  /** What is wrong, for people: the message of the service alone. */
  readonly reason: string

  /** `name` is the refusal's: deviceAlreadyYours; without one it is noAnswer or notForecourt. */
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
  const told = errors.slice(0, mostFieldsInMessage).map(({ field, reason }) => `${field}: ${reason}`)
  const more = errors.length - told.length
  return ` (${told.join('; ')}${more > 0 ? `; and ${more} more` : ''})`
}
