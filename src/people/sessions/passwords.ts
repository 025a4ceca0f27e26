import { hash, verify } from '@node-rs/argon2'
import { limits } from '../../vocabulary/limits.ts'
import { unavailable } from '../../vocabulary/refusals.ts'

/** argon2id with the parameters that OWASP recommends for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let running = 0
const waiting: (() => void)[] = []

/** Bounds how many passwords are hashed at once. Throws 50003 when too many wait. */
async function inTurn<Answer>(run: () => Promise<Answer>): Promise<Answer> {
  if (running < limits.hashesAtOnce) running++
  else {
    if (waiting.length >= limits.hashesWaiting) throw unavailable()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await run()
  } finally {
    // The next in line takes over this place, so that a new caller cannot overtake it.
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, hashing))
}

export function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  return inTurn(() => verify(passwordHash, password))
}
