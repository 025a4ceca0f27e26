import { hash, randomBytes } from 'node:crypto'

/** It is hashed. A session's is its cookie. */
export interface Credential {
  kind: 'token' | 'key' | 'session'
  hash: string
}

/** 256 bits in base64url. Any other text is none of our tokens and costs no look-up. */
const secretShape = /^[A-Za-z0-9_-]{43}$/
const keyPrefix = 'fok_'

/** Returns 256 random bits in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Creates an operator key. Secret scanners recognize its prefix. */
export function newOperatorKey(): string {
  return keyPrefix + newSecret()
}

/** Hashes a secret for storage. For 256 random bits, one SHA-256 is enough. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

/** Returns what a bearer token can be; undefined for any other text. */
export function kindOfToken(token: string): 'token' | 'key' | undefined {
  if (secretShape.test(token)) return 'token'
  return token.startsWith(keyPrefix) && secretShape.test(token.slice(keyPrefix.length)) ? 'key' : undefined
}
