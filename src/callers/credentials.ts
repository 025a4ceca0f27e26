import { hash, randomBytes } from 'node:crypto'

/** A credential, hashed: an access token, an operator key or a session's cookie. */
export interface Credential {
  kind: 'token' | 'key' | 'session'
  hash: string
}

/** 256 bits in base64url. Anything else cannot be one of our tokens and costs no look-up. */
const secretShape = /^[A-Za-z0-9_-]{43}$/
const keyPrefix = 'fok_'

/** A new token or secret: 256 random bits in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Creates an operator key. Its prefix distinguishes it from an access token, and lets secret scanners recognise it. */
export function newOperatorKey(): string {
  return keyPrefix + newSecret()
}

/** The stored form of tokens and secrets. They are 256 random bits, so one SHA-256 is enough, without a slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

/** The kind of credential that a bearer token can be; undefined for any other text. */
export function kindOfToken(token: string): 'token' | 'key' | undefined {
  if (secretShape.test(token)) return 'token'
  return token.startsWith(keyPrefix) && secretShape.test(token.slice(keyPrefix.length)) ? 'key' : undefined
}
