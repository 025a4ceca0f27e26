import { invalidRequest, type Refusal } from '../vocabulary/refusals.ts'
import type { HttpRequest } from './message.ts'

/** For a head that breaks a rule of HTTP (RFC 9112 §3.2, RFC 9110 §10.1.1). */
export function headFault(request: Pick<HttpRequest, 'version' | 'header'>): Refusal | undefined {
  const { version } = request
  const host = request.header('host')
  if (host === null && version !== '1.0') {
    return invalidRequest([{ field: 'Host', reason: { en: 'is missing', zh: '缺失' } }])
  }
  // Two headers arrive as one text with a comma, which no host has.
  if (host?.includes(',')) return invalidRequest([{ field: 'Host', reason: { en: 'appears twice', zh: '重复给出' } }])
  const expect = request.header('expect')
  if (expect === null || version === '1.0' || expect.toLowerCase() === '100-continue') return undefined
  return invalidRequest([{ field: 'Expect', reason: { en: 'must be 100-continue', zh: '必须是 100-continue' } }], 417)
}
