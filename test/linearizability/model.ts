/**
 * The responses of a correct service about one serial number, if requests came one after the other. The model knows
 * only the contract, nothing of the service's code.
 */

/** A request about one serial. */
export interface Request {
  action: 'create' | 'unbind' | 'transfer' | 'detail'
  /** The application that creates, unbinds or asks, or receives the transfer. Undefined for an operator. */
  app: string | undefined
  /** The mark of a create, unique to it, by which its record is recognised. */
  tag?: string
  /** Its idempotency key. */
  key?: string
}

/** What was answered: the code, and of a success whose the record is and which. */
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

/** A serial, and the first answers to keys. Never changed in place. */
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

/** What the service answers to a request, and what is there afterwards: the same object where nothing has changed. */
export function respond(serial: Serial, request: Request): [Answer, Serial] {
  const first = request.key === undefined ? undefined : serial.kept.get(request.key)
  if (first !== undefined) return [{ ...success(first), isReplayed: true }, serial]
  const [answer, held] = outcome(serial.held, request)
  // Only successes are kept, and each write that succeeds changes the serial.
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
