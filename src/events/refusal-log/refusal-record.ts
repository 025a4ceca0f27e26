import { actorOf } from '../../callers/caller.ts'
import { visibleApplications } from '../../callers/permissions.ts'
import type { RefusedWrite } from '../../http/serve-options.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type FieldFault, refusals } from '../../vocabulary/refusals.ts'

export interface LoggedRefusal {
  /** It is empty if an operator's write names no application that they may see. */
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
/** An operator's text in another form names no application. */
const appIdForm = /^[\w-]{1,64}$/

/** Stands for no application; only operators see its refusals. */
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
 * Returns the application of a refused write: `ofNoApplication` if an operator names none that they may see, undefined
 * if the caller is unknown.
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

/** Returns a serial number, an ID, or a new record's name or serial prefix. */
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

/** Shortens a text and replaces control characters and lone surrogates, which the database refuses. */
function shownText(text: string | null): string | null {
  return text === null ? null : text.slice(0, longestText).replaceAll(/\p{Cc}|\p{Cs}/gu, '\ufffd')
}
