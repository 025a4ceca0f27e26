import { hash, verify } from '@node-rs/argon2'
import { unavailable } from '../../vocabulary/refusals.ts'

/** argon2id with the parameters that RFC 9106 and OWASP name for interactive sign-in: 19 MiB, two passes. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes at once in this process, and how many may wait: a hash is some 20 ms of a processor, for anybody who asks. */
const mostAtOnce = 2
const mostWaiting = 20

let running = 0
const waiting: (() => void)[] = []

/** Every hash of a password passes here. Throws 50003 when too many wait. */
async function inTurn<Answer>(run: () => Promise<Answer>): Promise<Answer> {
  if (running < mostAtOnce) running++
  else {
    if (waiting.length >= mostWaiting) throw unavailable()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await run()
  } finally {
    // Who waits takes the place over, so that nobody slips in between.
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
