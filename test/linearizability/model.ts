/**
 * The responses of a correct service about one serial number, if requests came one after the other. The model is
 * written from the contract alone and shares no code with the service.
 */

/** A request about one serial number. */
export interface Request {
  action: 'create' | 'unbind' | 'transfer' | 'detail'
  /** The application that creates, unbinds or reads, or that receives the transfer. Undefined for an operator. */
  app: string | undefined
  /** A text that only this create sends, by which its record is recognised. */
  tag?: string
  /** The request's idempotency key. */
  key?: string
}

/** A response: its code, and for a success the record's owner and its tag. */
export interface Answer {
  code: number
  app?: string | undefined
  tag?: string | undefined
  isReplayed?: boolean
}

interface Held {
  app: string
  tag: string
}

/** The state of a serial number, and the first responses by key. Never changed in place. */
export interface Serial {
  held: Held | undefined
  kept: ReadonlyMap<string, Held>
}

export const untouched: Serial = { held: undefined, kept: new Map() }

const success = (held: Held): Answer => ({ code: 0, ...held })

function outcome(held: Held | undefined, { action, app, tag }: Request): [Answer, Held | undefined] {
  switch (action) {
    case 'create': {
      if (held !== undefined) return [{ code: held.app === app ? 20017 : 20013 }, held]
      const made = { app: String(app), tag: String(tag) }
      return [success(made), made]
    }
    case 'unbind':
      return held?.app === app && held !== undefined ? [success(held), undefined] : [{ code: 20002 }, held]
    case 'transfer': {
      if (held === undefined) return [{ code: 20002 }, held]
      if (held.app === app) return [{ code: 20017 }, held]
      const moved = { app: String(app), tag: held.tag }
      return [success(moved), moved]
    }
    case 'detail':
      return held !== undefined && (app ?? held.app) === held.app ? [success(held), held] : [{ code: 20002 }, held]
  }
}

/** The service's response to a request, and the state after it: the same object if nothing has changed. */
export function respond(serial: Serial, request: Request): [Answer, Serial] {
  const first = request.key === undefined ? undefined : serial.kept.get(request.key)
  if (first !== undefined) return [{ ...success(first), isReplayed: true }, serial]
  const [answer, held] = outcome(serial.held, request)
  // Only successes are stored under a key, and each success changes the state; so a response that leaves the state as it
  // was stores nothing.
  if (held === serial.held) return [answer, serial]
  const kept = new Map(serial.kept)
  if (request.key !== undefined) kept.set(request.key, { app: String(answer.app), tag: String(answer.tag) })
  return [answer, { held, kept }]
}

export function isSameAnswer(one: Answer, other: Answer): boolean {
  return (
    one.code === other.code &&
    one.app === other.app &&
    one.tag === other.tag &&
    (one.isReplayed ?? false) === (other.isReplayed ?? false)
  )
}
