import { newSecret } from '../../callers/credentials.ts'
import type { SecretBox } from '../../secrets/box.ts'

// A ticket carries what a flow of two requests must not forget, sealed, with whoever takes part in it: until it is used nothing
// is stored, whoever asks, and every process opens it. That it works once is `useOnce`'s to see to.

interface Sealed {
  content: unknown
  id: string
  /** Milliseconds since 1970. */
  until: number
}

export interface Ticket<Content> {
  content: Content
  /** By which its use is noted: its text could be written in several ways. */
  id: string
  until: Date
}

const owner = (purpose: string) => `ticket ${purpose}`

/** Seals a ticket for one purpose. Its text has only characters that URLs and cookies take. */
export function sealTicket(secrets: SecretBox, purpose: string, content: object, seconds: number): string {
  const sealed: Sealed = { content, id: newSecret(), until: Date.now() + seconds * 1000 }
  return Buffer.from(secrets.seal(owner(purpose), JSON.stringify(sealed))).toString('base64url')
}

/** What a ticket carries; undefined for one that is altered, too old, or for another purpose. */
export function openTicket<Content>(secrets: SecretBox, purpose: string, text: string): Ticket<Content> | undefined {
  try {
    const opened = secrets.openOnce(owner(purpose), Buffer.from(text, 'base64url').toString())
    const { content, id, until } = JSON.parse(opened) as Sealed
    return until > Date.now() ? { content: content as Content, id, until: new Date(until) } : undefined
  } catch {
    return undefined
  }
}
