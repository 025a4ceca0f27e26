import { codeNames } from './api.ts'
import { ForecourtError, type ForecourtErrorName } from './error.ts'
import { blocksOf, Reconnects } from './event-stream.ts'
import type { FileAnswer } from './file.ts'

/** A stream of events over any number of connections: where it is, and when it connects again. */
export class FollowedStream {
  /** The input of the next connection. */
  position: { afterId?: string } = {}
  readonly reconnects = new Reconnects()
  private wasAccepted = false

  /** The events of one connection. Returns why the service has ended it, if it says so. */
  async *events(stream: FileAnswer, operation: string): AsyncGenerator<unknown, ForecourtError | undefined> {
    for await (const { id, event, data = '', retry } of blocksOf(stream)) {
      this.reconnects.succeeded()
      this.wasAccepted = true
      if (retry !== undefined) this.reconnects.heed(retry)
      if (event === 'closed') return closedBy(data, operation)
      if (event !== undefined) yield JSON.parse(data)
      // Behind the `yield`: an event counts once it was taken.
      if (id !== undefined) this.position = { afterId: id }
    }
    return undefined
  }

  /** Whether a stream that has lost its access gets a new token at once: if the one before was accepted. */
  mayRenew(): boolean {
    const { wasAccepted } = this
    this.wasAccepted = false
    return wasAccepted
  }
}

const statuses: Partial<Record<ForecourtErrorName, number>> = { tokenInvalid: 401, unavailable: 503 }

/** The refusal with which the service has ended a stream. */
function closedBy(text: string, operation: string): ForecourtError {
  const { code, msg } = JSON.parse(text) as { code: number; msg: string }
  const name = (codeNames as Record<number, ForecourtErrorName>)[code] ?? 'unknownRefusal'
  return new ForecourtError(msg, { code, name, status: statuses[name] ?? 403, operation })
}
