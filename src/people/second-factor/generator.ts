import { createHash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

const stepSeconds = 30
const issuer = 'Forecourt'

/** 160 bits, in base32. */
export function newGeneratorSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** RFC 6238 with SHA-1, 6 digits and 30 s, which every app knows. */
function generatorOf(secret: string, name = ''): TOTP {
  const options = { issuer, label: name, algorithm: 'SHA1', digits: 6, period: stepSeconds }
  return new TOTP({ ...options, secret: Secret.fromBase32(secret) })
}

export function otpauthUrlOf(secret: string, name: string): string {
  return generatorOf(secret, name).toString()
}

/** The time step of a code: the current one, the one before or after; undefined for any other code. */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  const delta = generatorOf(secret).validate({ token: code, timestamp: now.getTime(), window: 1 })
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / stepSeconds) + delta
}

const recoveryCodes = 10
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 80 random bits each, as xxxx-xxxx-xxxx-xxxx. */
export function newRecoveryCodes(): string[] {
  const letters = () => [...randomBytes(16)].map((byte) => base32[byte % base32.length]).join('')
  return Array.from({ length: recoveryCodes }, () =>
    letters()
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-'),
  )
}

export type ReadCode = { kind: 'generator'; code: string } | { kind: 'recovery'; code: string }

/** Input methods write digits full width, and people add spaces. */
export const plainCode = (typed: string): string => typed.normalize('NFKC').replace(/\s/g, '')

/** Hyphens and case do not matter; undefined for what cannot be a code. */
export function readCode(typed: string): ReadCode | undefined {
  const code = plainCode(typed).replaceAll('-', '').toUpperCase()
  if (/^\d{6}$/.test(code)) return { kind: 'generator', code }
  return /^[A-Z2-7]{16}$/.test(code) ? { kind: 'recovery', code } : undefined
}

/** Codes are random, so one SHA-256 is enough; with the ID, a stolen table must be guessed account by account. */
export function hashRecoveryCode(operatorId: number, code: string): string {
  const plain = code.replaceAll('-', '').toUpperCase()
  return createHash('sha256').update(`recovery code ${operatorId} ${plain}`).digest('base64')
}
