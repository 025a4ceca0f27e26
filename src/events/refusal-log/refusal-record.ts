import { actorOf } from '../../callers/caller.ts'
import { visibleApplications } from '../../callers/permissions.ts'
import type { RefusedWrite } from '../../http/serve-options.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type FieldFault, refusals } from '../../vocabulary/refusals.ts'

/** A refused write as it is stored: who, what and why, and nothing else of the request. */
export interface LoggedRefusal {
  /** Empty for an operator's write that names no application visible to them. */
  appId: string
  time: Date
  requestId: string
  operation: string
  code: number
  subject: string | null
  actor: string
  errors: FieldFault[] | null
}

const longestText = 64
/** The form of application ids; anything else that an operator sends names no application. */
const appIdForm = /^[\w-]{1,64}$/

/** The application id under which refusals about no application are stored; only operators see them. */
export const ofNoApplication = ''

export function toLoggedRefusal(refused: RefusedWrite, appId: string, time: Date): LoggedRefusal {
  const { refusal, operation, requestId, caller, input } = refused
  const errors = refusal.errors?.slice(0, limits.refusalErrors) ?? null
  return {
    appId,
    time,
    requestId,
    operation: operation.id,
    code: refusals[refusal.refusal].code,
    subject: shownText(refused.subject === undefined ? subjectOf(input) : refused.subject),
    actor: caller === undefined ? `application:${appId}` : actorOf(caller),
    // A field's name can come from the request.
    errors: errors?.map(({ field, reason }) => ({ field: shownText(field) ?? '', reason })) ?? null,
  }
}

/**
 * The application under which a refused write is stored: `ofNoApplication` when an operator names none, or one that
 * they may not see. Undefined when the caller is unknown.
 */
export function applicationOf({ caller, operation, refusal, input }: RefusedWrite): string | undefined {
  if (operation.callers.length === 0) return undefined
  if (caller === undefined) return refusal.appId
  if (caller.kind === 'application') return caller.appId
  const named = memberOf(input, 'appId')
  if (typeof named !== 'string' || !appIdForm.test(named)) return ofNoApplication
  const visible = visibleApplications(caller)
  return visible === null || visible.includes(named) ? named : ofNoApplication
}

/** The record that a write is about: a serial number, an id, or the name or serial prefix of a new record. */
function subjectOf(input: unknown): string | null {
  for (const member of ['deviceNo', 'id', 'siteName', 'appName', 'serialPrefix']) {
    const value = memberOf(input, member)
    if (typeof value === 'string' || typeof value === 'number') return String(value)
  }
  return null
}

function memberOf(input: unknown, member: string): unknown {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[member] : undefined
}

/** Shortens a request's text and replaces control characters and lone surrogates, which the database refuses. */
function shownText(text: string | null): string | null {
  return text === null ? null : text.slice(0, longestText).replaceAll(/\p{Cc}|\p{Cs}/gu, '\ufffd')
}
