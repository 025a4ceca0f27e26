import { hash } from 'node:crypto'
import { Refusal } from '../vocabulary/refusals.ts'
import { JsonText } from './answer.ts'
import { plainTagOf } from './encoding.ts'

/** Of what an update can change, so records with the same content share a tag. */
export function etagOf(record: object): string {
  return etagOfText(JSON.stringify(record))
}

export function etagOfText(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
}

export function tagged(record: object, etag = etagOf(record)): JsonText {
  return new JsonText(JSON.stringify(record), { etag })
}

/** Throws 10009. The record must be locked. Weak tags count (not so in RFC 9110 §13.1.1): proxies make them weak. */
export function requireMatch(ifMatch: string | null, etag: string): void {
  if (ifMatch === null || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((tag) => plainTagOf(tag.trim().replace(/^W\//, '')))
  if (!tags.includes(etag)) throw new Refusal('preconditionFailed')
}

/** RFC 9110 §13.1.2: weak comparison. */
export function isUnchanged(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
