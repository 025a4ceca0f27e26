import type { Reason } from './refusals/kind.ts'
import { peopleRefusals } from './refusals/of-people.ts'
import { recordRefusals } from './refusals/of-records.ts'
import { requestRefusals } from './refusals/of-requests.ts'
import { serviceRefusals } from './refusals/of-service.ts'

export type { Reason }

/** One faulty field of a request: its path in the body or query, and why. */
export interface FieldFault {
  field: string
  reason: Reason
}

/** Every refusal of the service, once. The guide of errors and the OpenAPI document are made from this table. */
export const refusals = { ...requestRefusals, ...peopleRefusals, ...recordRefusals, ...serviceRefusals }

export type RefusalName = keyof typeof refusals

interface RefusalDetails {
  /** A status other than the table's, if the contract names one for this case. */
  status?: number
  errors?: FieldFault[]
  headers?: Record<string, string>
  /** The calling application, if the request is refused before its caller is known to the handler. */
  appId?: string
  /** The caller's name for the log, where a request is refused before its caller is known. */
  actor?: string
}

/** A refusal on its way to the caller. Its public words are in `refusals`; it never carries internal details. */
export class Refusal extends Error {
  readonly refusal: RefusalName
  readonly status: number
  readonly errors: FieldFault[] | undefined
  readonly headers: Record<string, string>
  readonly appId: string | undefined
  readonly actor: string | undefined

  constructor(refusal: RefusalName, details: RefusalDetails = {}) {
    super(refusal)
    this.refusal = refusal
    this.status = details.status ?? refusals[refusal].status
    this.errors = details.errors
    this.headers = details.headers ?? {}
    this.appId = details.appId
    this.actor = details.actor
  }
}

/** Refuses with 10001 and names the faulty fields. */
export function invalidRequest(errors: FieldFault[], status?: number): Refusal {
  return new Refusal('invalidRequest', status === undefined ? { errors } : { errors, status })
}

/** Refuses with 50003 and `Retry-After`, in seconds. */
export function unavailable(retryAfterSeconds = 1): Refusal {
  return new Refusal('unavailable', { headers: { 'retry-after': String(retryAfterSeconds) } })
}

/** Refuses with 10007 and `Retry-After`: an owner has its share already. */
export function tooManyRequests(): Refusal {
  return new Refusal('tooManyRequests', { headers: { 'retry-after': '1' } })
}

/** RFC 6750 §3.1: the answer to a request without a token has no error code, that to a wrong token has one. */
export function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}
