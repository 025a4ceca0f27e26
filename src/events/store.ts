import type { Statements } from '../database/open.ts'
import type { EventType } from './contract.ts'

export interface NewEvent {
  appId: string
  type: EventType
  time: Date
  /** Who did it, as `actorOf` names it. */
  actor: string
  /** What it is about: a serial number or an id; null for the application itself. */
  subject: string | null
  /** The record as its operation answers it, without secrets. */
  data: object
}

/** Writes one event in the change's own transaction, which must hold the application's lock. */
export async function insertEvent(tx: Statements, event: NewEvent): Promise<void> {
  await tx`
    insert into event (app_id, type, time, actor, subject, data)
    values (${event.appId}, ${event.type}, ${event.time}, ${event.actor}, ${event.subject},
      ${JSON.stringify(event.data)})`
}
