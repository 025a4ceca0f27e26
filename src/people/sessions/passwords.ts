import { hash, verify } from '@node-rs/argon2'
import { Turns } from '../../runtime/turns.ts'
import { limits } from '../../vocabulary/limits.ts'
import { unavailable } from '../../vocabulary/refusals.ts'

/** OWASP's parameters of argon2id for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const hashes = new Turns({ atOnce: limits.hashesAtOnce, waiting: limits.hashesWaiting, full: unavailable })

/** Keyboards write the same letters composed or decomposed, and input methods write them full width. */
function normalPassword(password: string): string {
  return password.normalize('NFKC')
}

export function hashPassword(password: string): Promise<string> {
  return hashes.run('', undefined, () => hash(normalPassword(password), hashing))
}

/** Older hashes are of a password as it was typed. */
export async function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  const normal = normalPassword(password)
  const fits = (typed: string) => hashes.run('', undefined, () => verify(passwordHash, typed))
  return (await fits(normal)) || (normal !== password && (await fits(password)))
}
