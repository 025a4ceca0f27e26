interface Details {
  code: number
  name?: string | undefined
  status: number
  errors?: { field: string; reason: string }[]
  requestId?: string | null
  retryAfterSeconds?: number | null
}

/** A refusal as a program meets it (contract §1), or an answer that is none: then `code` is 0. */
export class ForecourtError extends Error {
  /** What is wrong, for programs. */
  readonly code: number
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** The faulty members of code 10001, and of refusals that name members. */
  readonly errors: { field: string; reason: string }[]
  /** What the operator finds the request by; null when no answer came. */
  readonly requestId: string | null
  /** When to ask again, where the service says so. */
  readonly retryAfterSeconds: number | null

  /** `name` is the refusal's: deviceAlreadyYours; without one it is noAnswer or notForecourt. */
  constructor(message: string, { code, name, status, errors, requestId, retryAfterSeconds }: Details) {
    super(message)
    this.name = name ?? (status === 0 ? 'noAnswer' : 'notForecourt')
    this.code = code
    this.status = status
    this.errors = errors ?? []
    this.requestId = requestId ?? null
    this.retryAfterSeconds = retryAfterSeconds ?? null
  }
}
