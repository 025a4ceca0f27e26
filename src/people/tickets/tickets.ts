import { newSecret } from '../../callers/credentials.ts'
import { keyIdOf, type SecretBox } from '../../secrets/box.ts'

// A ticket is the state of a flow of two requests, sealed and handed to the client, which sends it back. Nothing is
// stored until it is used, so strangers cannot fill a table, and every process can open it; `useOnce` makes it work
// only once. Anybody can have any number sealed, and an AES-GCM key takes only some billions of random nonces: so each
// day's tickets have a key of their own.

interface Sealed {
  content: unknown
  id: string
  /** Milliseconds since 1970. */
  until: number
}

export interface Ticket<Content> {
  content: Content
  /** A use is stored under this ID, not under the ticket's text, which could be written in several ways. */
  id: string
  until: Date
}

const dayMs = 86_400_000
const boxes = new WeakMap<SecretBox, Map<number, SecretBox>>()

function boxOf(secrets: SecretBox, day: number): SecretBox {
  const days = boxes.get(secrets) ?? new Map<number, SecretBox>()
  boxes.set(secrets, days)
  const known = days.get(day)
  if (known !== undefined) return known
  const made = secrets.derived(`tickets of day ${day}`)
  for (const other of days.keys()) if (Math.abs(other - day) > 1) days.delete(other)
  days.set(day, made)
  return made
}

const today = () => Math.floor(Date.now() / dayMs)

const owner = (purpose: string) => `ticket ${purpose}`

/** The text has only characters that URLs and cookies take. */
export function sealTicket(secrets: SecretBox, purpose: string, content: object, seconds: number): string {
  const sealed: Sealed = { content, id: newSecret(), until: Date.now() + seconds * 1000 }
  return Buffer.from(boxOf(secrets, today()).seal(owner(purpose), JSON.stringify(sealed))).toString('base64url')
}

/** Undefined if it was altered, is too old, or is for another purpose. */
export function openTicket<Content>(secrets: SecretBox, purpose: string, text: string): Ticket<Content> | undefined {
  try {
    const sealed = Buffer.from(text, 'base64url').toString()
    // A ticket of yesterday lives on past midnight, and the clock of another process may be in tomorrow.
    const box = [today(), today() - 1, today() + 1]
      .map((day) => boxOf(secrets, day))
      .find(({ keyIds }) => keyIds.includes(keyIdOf(sealed)))
    if (box === undefined) return undefined
    const opened = box.openOnce(owner(purpose), sealed)
    const { content, id, until } = JSON.parse(opened) as Sealed
    return until > Date.now() ? { content: content as Content, id, until: new Date(until) } : undefined
  } catch {
    return undefined
  }
}
