import { hash } from 'node:crypto'
import { Refusal } from '../vocabulary/refusals.ts'
import { JsonText } from './answer.ts'
import { plainTagOf } from './encoding.ts'

/** The entity tag of a record: a digest of what an update can change, so records with the same content share one. */
export function etagOf(record: object): string {
  return etagOfText(JSON.stringify(record))
}

/** The entity tag of a text. */
export function etagOfText(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
}

/** The answer of a detail or an update: the record, with its entity tag in `ETag`. */
export function tagged(record: object, etag = etagOf(record)): JsonText {
  return new JsonText(JSON.stringify(record), { etag })
}

/**
 * Throws 10009 when `If-Match` names another state of the record than its present one. The tag of any encoding names
 * the state, and so does its weak form, although RFC 9110 §13.1.1 wants none: proxies that compress make tags weak, and
 * a digest of the content names the same content in either form. The record must be locked.
 */
export function requireMatch(ifMatch: string | null, etag: string): void {
  if (ifMatch === null || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((tag) => plainTagOf(tag.trim().replace(/^W\//, '')))
  if (!tags.includes(etag)) throw new Refusal('preconditionFailed')
}

/** Whether `If-None-Match` names the present content (RFC 9110 §13.1.2: weak comparison). */
export function isUnchanged(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
