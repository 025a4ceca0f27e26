import type { Reason } from './refusals/kind.ts'
import { peopleRefusals } from './refusals/of-people.ts'
import { recordRefusals } from './refusals/of-records.ts'
import { requestRefusals } from './refusals/of-requests.ts'
import { serviceRefusals } from './refusals/of-service.ts'

export type { Reason }

export interface FieldFault {
  field: string
  reason: Reason
}

/** The guide of errors and the OpenAPI document are made from this table. */
export const refusals = { ...requestRefusals, ...peopleRefusals, ...recordRefusals, ...serviceRefusals }

export type RefusalName = keyof typeof refusals

interface RefusalDetails {
  /** If the contract names another than the table's. */
  status?: number
  errors?: FieldFault[]
  headers?: Record<string, string>
  /** The caller, if the request is refused before the handler knows it; `actor` for the log. */
  appId?: string
  actor?: string
}

/** The public words are in `refusals`; it never carries internal details. */
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

export function invalidRequest(errors: FieldFault[], status?: number): Refusal {
  return new Refusal('invalidRequest', status === undefined ? { errors } : { errors, status })
}

export const fieldFault = (field: string, en: string, zh: string): FieldFault => ({ field, reason: { en, zh } })

/** For a request of which one field is invalid. */
export const invalidField = (field: string, en: string, zh: string, status?: number): Refusal =>
  invalidRequest([fieldFault(field, en, zh)], status)

export function unavailable(retryAfterSeconds = 1): Refusal {
  return new Refusal('unavailable', { headers: { 'retry-after': String(retryAfterSeconds) } })
}

/** An owner has its share already. */
export function tooManyRequests(): Refusal {
  return new Refusal('tooManyRequests', { headers: { 'retry-after': '1' } })
}

/** RFC 6750 §3.1: the response to a missing token has no error code, that to a wrong token has one. */
export function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}
