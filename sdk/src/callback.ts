import type { CallbackEvent } from './api.ts'

interface Callback {
  /** As they came, whatever their case. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The bytes or the text as they came: a body that was parsed and written again has another signature. */
  body: string | Uint8Array
  /** The `callbackSecret`s that are valid: two during a rotation. */
  secrets: readonly string[]
}

/** Older and newer callbacks may be a stranger's who sends again what he overheard. */
const toleranceSeconds = 300

/**
 * Answers the event of a callback, when one of the secrets signed it a moment ago (Standard Webhooks 1.0). Throws an
 * `Error` that says what is wrong with it: answer it 401 then. Each event may come more than once, with the same `id`.
 */
export async function verifyCallback({ headers, body, secrets }: Callback): Promise<CallbackEvent & { id: string }> {
  const given = headerReader(headers)
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(given) as [
    string,
    string,
    string,
  ]
  // A point within the id could move the border between what is signed of it and of the time.
  if (id.includes('.')) throw new Error(`The callback has no id as the service makes them: ${id}.`)
  const age = /^\d{10}$/.test(timestamp) ? Math.abs(Date.now() / 1000 - Number(timestamp)) : Number.NaN
  if (!(age <= toleranceSeconds)) throw new Error(`The callback is not of this moment: ${timestamp}.`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  if (!(await isSigned(signed, signatures, keysOf(secrets))))
    throw new Error('None of the secrets has signed the callback.')
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

/** The bytes of the secrets. One that is empty or no base64 is passed over, as a second secret that is not set may be. */
function keysOf(secrets: readonly string[]): Uint8Array<ArrayBuffer>[] {
  const keys = secrets.map((secret) => bytesOf(String(secret ?? '').replace(/^whsec_/, '')))
  const usable = keys.filter((key) => key.length > 0)
  if (usable.length > 0) return usable
  throw new Error('No secret can be used: give the callbackSecret as it was shown, base64 with or without whsec_.')
}

/** Whether one of the signatures is one of the secrets'. The comparison takes the same time whatever is wrong. */
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

/** What is no base64 has no bytes, and no signature. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
