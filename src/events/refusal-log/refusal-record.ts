import { actorOf } from '../../callers/caller.ts'
import { visibleApplications } from '../../callers/permissions.ts'
import type { RefusedWrite } from '../../http/serve.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type FieldFault, refusals } from '../../vocabulary/refusals.ts'

/** A refused write as it is kept: who, what and why, and nothing else of what was sent. */
export interface KeptRefusal {
  /** Empty for a write of an operator that names no application of theirs. */
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
/** As the service makes application ids; what else an operator names is none. */
const sane = /^[\w-]{1,64}$/

/** The place of refusals that are about no application; only operators see them. */
export const ofNoApplication = ''

/** What is kept of the refusal of a write of this application. */
export function toKept(refused: RefusedWrite, appId: string, time: Date): KeptRefusal {
  const { refusal, operation, requestId, caller, body } = refused
  const errors = refusal.errors?.slice(0, limits.refusalErrors) ?? null
  return {
    appId,
    time,
    requestId,
    operation: operation.id,
    code: refusals[refusal.refusal].code,
    subject: shownText(refused.subject === undefined ? subjectOf(body) : refused.subject),
    actor: caller === undefined ? `application:${appId}` : actorOf(caller),
    // A field can be named by what was sent.
    errors: errors?.map(({ field, reason }) => ({ field: shownText(field) ?? '', reason })) ?? null,
  }
}

/**
 * The application that a refused write is kept for: `ofNoApplication` where an operator names none, or one that is none
 * of theirs. Undefined where the caller is unknown.
 */
export function applicationOf({ caller, operation, refusal, body }: RefusedWrite): string | undefined {
  if (operation.callers.length === 0) return undefined
  if (caller === undefined) return refusal.appId
  if (caller.kind === 'application') return caller.appId
  const named = memberOf(body, 'appId')
  if (typeof named !== 'string' || !sane.test(named)) return ofNoApplication
  const visible = visibleApplications(caller)
  return visible === null || visible.includes(named) ? named : ofNoApplication
}

/** What a write is about: a serial number, an id, or the name of what is to be made. */
function subjectOf(body: unknown): string | null {
  for (const member of ['deviceNo', 'id', 'siteName', 'appName', 'serialPrefix']) {
    const value = memberOf(body, member)
    if (typeof value === 'string' || typeof value === 'number') return String(value)
  }
  return null
}

function memberOf(body: unknown, member: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[member] : undefined
}

/** What was sent may be anything; the database takes no NUL, and nobody reads a book. */
function shownText(text: string | null): string | null {
  return text === null ? null : text.slice(0, longestText).replaceAll(/\p{Cc}|\p{Cs}/gu, '\ufffd')
}
