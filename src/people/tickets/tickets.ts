import { newSecret } from '../../callers/credentials.ts'
import type { SecretBox } from '../../secrets/box.ts'

// A ticket is the state of a flow of two requests, sealed and handed to the client, which sends it back with the second
// request. Nothing is stored until the ticket is used, so strangers cannot fill a table, and every process can open it.
// `useOnce` makes sure that a ticket works only once.

interface Sealed {
  content: unknown
  id: string
  /** Milliseconds since 1970. */
  until: number
}

export interface Ticket<Content> {
  content: Content
  /** The use of a ticket is stored under this id, and not under its text, which could be written in several ways. */
  id: string
  until: Date
}

const owner = (purpose: string) => `ticket ${purpose}`

/** Seals a ticket for one purpose. Its text has only characters that URLs and cookies take. */
export function sealTicket(secrets: SecretBox, purpose: string, content: object, seconds: number): string {
  const sealed: Sealed = { content, id: newSecret(), until: Date.now() + seconds * 1000 }
  return Buffer.from(secrets.seal(owner(purpose), JSON.stringify(sealed))).toString('base64url')
}

/** The content of a ticket; undefined if it was altered, is too old, or is for another purpose. */
export function openTicket<Content>(secrets: SecretBox, purpose: string, text: string): Ticket<Content> | undefined {
  try {
    const opened = secrets.openOnce(owner(purpose), Buffer.from(text, 'base64url').toString())
    const { content, id, until } = JSON.parse(opened) as Sealed
    return until > Date.now() ? { content: content as Content, id, until: new Date(until) } : undefined
  } catch {
    return undefined
  }
}
