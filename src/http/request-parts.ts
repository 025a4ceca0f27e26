import type { Caller } from '../callers/caller.ts'
import { noApplication } from '../callers/permissions.ts'
import type { RequestKey } from '../database/idempotency.ts'
import { limits } from '../vocabulary/limits.ts'
import { type FieldFault, invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { readForm, readJson } from './body.ts'
import type { HttpRequest } from './message.ts'
import type { Route } from './route-table.ts'

// Faults are gathered, because 10001 names every invalid field. An invalid query is refused before the body is read.

const visibleAscii = /^[\x21-\x7e]{1,255}$/

/** A large body in slices. Throws 10001. */
export function readBody(
  { readBody: read }: Route,
  bytes: Uint8Array,
  mediaType: 'form' | 'json',
  pending: { body: unknown },
) {
  const isLarge = bytes.byteLength > limits.jsonSlicedBytes
  const check = (sent: unknown) => {
    pending.body = sent
    if (read === undefined) return sent
    return isLarge ? read.inSlices(sent) : read(sent)
  }
  const sent = mediaType === 'form' ? readForm(bytes) : readJson(bytes)
  return sent instanceof Promise ? sent.then(check) : check(sent)
}

export function noting<Value>(faults: FieldFault[], check: () => Value): Value | undefined {
  try {
    return check()
  } catch (error) {
    return noteFaults(faults, error)
  }
}

/** Throws 10001, before the body is read. */
export function readQuery({ readQuery: read, appIdIn, handler }: Route, request: HttpRequest, caller: Caller): unknown {
  const { query } = request
  const faults: FieldFault[] = []
  const asked = noting(faults, () => read?.(query))
  if (handler.headFaults !== undefined) faults.push(...handler.headFaults((name) => request.header(name)))
  if (faults.length === 0) return asked
  const sent = Object.fromEntries(new URLSearchParams(query))
  throw refusalOf(faults, appIdIn === 'query' && handler.isPlatforms?.(sent) !== true, caller, sent)
}

/** An operator's missing `appId`, which the operation itself would refuse, beside the other faults. */
export function refusalOf(faults: FieldFault[], needsAppId: boolean, caller: Caller, sent: unknown): Refusal {
  const isRead = typeof sent === 'object' && sent !== null && !Array.isArray(sent)
  const isMissing =
    needsAppId && caller.kind === 'operator' && isRead && given((sent as { appId?: unknown }).appId) === null
  return invalidRequest([...faults, ...(isMissing ? [noApplication] : [])].slice(0, limits.faultsShown))
}

/** Throws any other error. */
export function noteFaults(faults: FieldFault[], error: unknown): undefined {
  if (!(error instanceof Refusal) || error.refusal !== 'invalidRequest' || error.errors === undefined) throw error
  faults.push(...error.errors)
}

/** The body is still to be read. Throws 10001. */
export function requestKeyOf({ handler, secrets }: Route, key: string): RequestKey {
  if (!visibleAscii.test(key)) {
    const reason = { en: 'must be 1 to 255 visible ASCII characters', zh: '必须是 1 至 255 个可见 ASCII 字符' }
    throw invalidRequest([{ field: 'Idempotency-Key', reason }])
  }
  return { operation: handler.operation.id, key, bodyHash: '', secrets, isReplayed: false }
}
