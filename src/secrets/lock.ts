import { randomBytes, scryptSync } from 'node:crypto'
import { SecretBox } from './box.ts'

const saltBytes = 16
/** What the sealed text is bound to, in the place of an application. */
const purpose = 'the key for secrets'

/** Locks a key with a password, so that whoever knows the password can have it; see `unlockKey`. */
export function lockKey(key: string, password: string): string {
  const salt = randomBytes(saltBytes)
  return `${salt.toString('base64')}:${boxOf(password, salt).seal(purpose, key)}`
}

/** The key, or undefined with another password. */
export function unlockKey(locked: string, password: string): string | undefined {
  const end = locked.indexOf(':')
  try {
    return boxOf(password, Buffer.from(locked.slice(0, end), 'base64')).open(purpose, locked.slice(end + 1))
  } catch {
    return undefined
  }
}

/** Guessing is made dear, but for a password that nobody guesses however cheap it is, such as the embedded database's. */
function boxOf(password: string, salt: Buffer): SecretBox {
  return new SecretBox([scryptSync(password, salt, 32, { N: password.length < 40 ? 16_384 : 2 })])
}
