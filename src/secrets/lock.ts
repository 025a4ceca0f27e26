import { randomBytes, scryptSync } from 'node:crypto'
import { SecretBox } from './box.ts'

const saltBytes = 16
/** The sealed key is bound to this text, as a secret is to its application. */
const purpose = 'the key for secrets'
/** 128 MiB and a good third of a second for each guess; r = 8 and p = 1. */
const dearCost = 2 ** 17
/** A higher cost, in an altered database, could exhaust the memory. */
const mostCost = 2 ** 20
/** The cost in texts without a head. */
const costWithoutHead = 2 ** 14

/** Seals a key with a password: `scrypt$N:SALT:SEALED` (salt in base64). */
export function lockKey(key: string, password: string): string {
  const salt = randomBytes(saltBytes)
  const cost = isGuessable(password) ? dearCost : 2
  return `scrypt$${cost}:${salt.toString('base64')}:${boxOf(password, salt, cost).seal(purpose, key)}`
}

/** Undefined for another password. */
export function unlockKey(locked: string, password: string): string | undefined {
  const [, head, salt = '', sealed = ''] = /^(?:scrypt\$(\d+):)?([^:]*):(.*)$/.exec(locked) ?? []
  const cost = head === undefined && !isGuessable(password) && password !== '' ? 2 : Number(head ?? costWithoutHead)
  if (cost > mostCost) return undefined
  try {
    return boxOf(password, Buffer.from(salt, 'base64'), cost).open(purpose, sealed)
  } catch {
    return undefined
  }
}

/** Not without a password, nor for a random one (embedded database). */
function isGuessable(password: string): boolean {
  return password !== '' && password.length < 40
}

function boxOf(password: string, salt: Buffer, cost: number): SecretBox {
  return new SecretBox([scryptSync(password, salt, 32, { N: cost, r: 8, p: 1, maxmem: 2 * 128 * 8 * cost + 2 ** 20 })])
}
