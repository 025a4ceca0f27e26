import type { CallbackEvent } from './api.ts'

interface Callback {
  /** The headers of the request; names in any case. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The body as received: a body that was parsed and serialised again has another signature. */
  body: string | Uint8Array
  /** All valid `callbackSecret`s: two during a rotation. */
  secrets: readonly string[]
}

/** A callback whose time differs more from now is refused: it may be a replay of an intercepted one. */
const toleranceSeconds = 300

/**
 * Verifies the signature and the time of a callback (Standard Webhooks 1.0), and returns its event. Throws an `Error`
 * with the reason if it is not genuine: respond 401 then. An event may arrive more than once, with the same `id`.
 */
export async function verifyCallback({ headers, body, secrets }: Callback): Promise<CallbackEvent & { id: string }> {
  const given = headerReader(headers)
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(given) as [
    string,
    string,
    string,
  ]
  // The signature covers `id.time.body`: a full stop within the id would make its end ambiguous.
  if (id.includes('.')) throw new Error(`The header webhook-id is not valid: ${id}.`)
  const age = /^\d{10}$/.test(timestamp) ? Math.abs(Date.now() / 1000 - Number(timestamp)) : Number.NaN
  if (!(age <= toleranceSeconds))
    throw new Error(`The header webhook-timestamp is not within ${toleranceSeconds} seconds of now: ${timestamp}.`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  if (!(await isSigned(signed, signatures, keysOf(secrets))))
    throw new Error('The signature matches none of the secrets: pass the body as received, and every valid secret.')
  return { ...JSON.parse(text), id }
}

function headerReader(headers: Callback['headers']): (name: string) => string {
  const all = new Headers()
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  for (const [name, value] of entries) if (value !== undefined) all.set(name, String(value))
  return (name) => {
    const value = all.get(name)
    if (value === null) throw new Error(`The callback has no header ${name}.`)
    return value
  }
}

/** The bytes of the secrets. Skips a secret that is empty or not base64: a second one may be unset. */
function keysOf(secrets: readonly string[]): Uint8Array<ArrayBuffer>[] {
  const keys = secrets.map((secret) => bytesOf(String(secret ?? '').replace(/^whsec_/, '')))
  const usable = keys.filter((key) => key.length > 0)
  if (usable.length > 0) return usable
  throw new Error('No secret can be used: pass the callbackSecret as it was shown, base64 with or without whsec_.')
}

/** Whether one of the keys made one of the signatures. `verify` compares in constant time. */
async function isSigned(
  content: Uint8Array<ArrayBuffer>,
  signatures: string,
  keys: Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const sent = signatures.split(' ').filter((signature) => signature.startsWith('v1,'))
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of sent) {
      if (await crypto.subtle.verify('HMAC', key, bytesOf(signature.slice('v1,'.length)), content)) return true
    }
  }
  return false
}

/** Decodes base64. Returns no bytes if it is malformed. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
