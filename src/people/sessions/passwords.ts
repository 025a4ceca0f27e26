import { hash, verify } from '@node-rs/argon2'
import { Turns } from '../../runtime/turns.ts'
import { limits } from '../../vocabulary/limits.ts'
import { unavailable } from '../../vocabulary/refusals.ts'

/** argon2id with the parameters that OWASP recommends for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const hashes = new Turns({ atOnce: limits.hashesAtOnce, waiting: limits.hashesWaiting, full: unavailable })

export function hashPassword(password: string): Promise<string> {
  return hashes.run('', undefined, () => hash(password, hashing))
}

export function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  return hashes.run('', undefined, () => verify(passwordHash, password))
}
