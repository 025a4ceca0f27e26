import { randomUUID } from 'node:crypto'
import { limits } from '../vocabulary/limits.ts'
import { refusals } from '../vocabulary/refusals.ts'
import { nothingLoaded } from './drain.ts'

export interface Malformed {
  status?: string
  reason?: string
}

export const lateHead: Malformed = { status: '408 Request Timeout', reason: 'did not arrive in time' }
export const otherVersion: Malformed = { status: '505 HTTP Version Not Supported', reason: 'must be HTTP/1.1' }
export const longHead: Malformed = {
  status: '431 Request Header Fields Too Large',
  reason: `has a head of more than ${limits.headBytes} bytes`,
}

/** For what is no HTTP, or whose head does not arrive in time. It never reaches a handler. */
export function malformed({ status = '400 Bad Request', reason = 'is not well-formed HTTP' }: Malformed): string {
  const { code, en } = refusals.invalidRequest
  const body = JSON.stringify({ code, msg: en, data: { errors: [{ field: 'request', reason }] } })
  return [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-security-policy: ${nothingLoaded}`,
    `x-request-id: ${randomUUID()}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
