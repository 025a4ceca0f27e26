import type { Logger } from 'pino'
import { actorOf, type Caller } from '../callers/caller.ts'
import { limits } from '../vocabulary/limits.ts'
import type { Operation } from '../vocabulary/operation.ts'
import type { Refusal, RefusalName } from '../vocabulary/refusals.ts'

const windowMs = 60_000

/** The refusals that can be signs of an attack, and that are recorded neither as events nor in the refusal log. */
const kinds: Partial<Record<RefusalName, { level: 'info' | 'warn'; line: string; rest: string }>> = {
  clientInvalid: {
    level: 'warn',
    line: 'a client secret was refused',
    rest: 'more client secrets were refused in this minute',
  },
  notPermitted: {
    level: 'info',
    line: 'a request was refused: its caller lacks the permission',
    rest: 'more requests were refused in this minute: their callers lack the permission',
  },
}

export interface RefusedRequest {
  refusal: Refusal
  requestId: string
  operation: Pick<Operation, 'id' | 'callers'> | undefined
  /** Undefined when it was refused before its caller was known. */
  caller: Caller | undefined
  address(): string
}

/** Logs failed client secrets and calls that are not permitted: some of each kind a minute, without their content. */
export class RefusalLines {
  private readonly log: Logger
  private readonly counts = new Map<RefusalName, number>()

  constructor(log: Logger) {
    this.log = log
  }

  note({ refusal, requestId, operation, caller, address }: RefusedRequest): void {
    const kind = kinds[refusal.refusal]
    if (kind === undefined) return
    const count = this.counts.get(refusal.refusal) ?? 0
    this.counts.set(refusal.refusal, count + 1)
    if (count === 0) setTimeout(() => this.endMinute(refusal.refusal), windowMs).unref()
    if (count >= limits.refusalLinesAMinute) return
    // Where an operation needs no token, the caller is unknown.
    const isKnown = caller !== undefined && operation?.callers.length !== 0
    const actor = isKnown ? actorOf(caller) : refusal.actor
    this.log[kind.level]({ requestId, operation: operation?.id, actor, address: address() }, kind.line)
  }

  private endMinute(name: RefusalName): void {
    const more = (this.counts.get(name) ?? 0) - limits.refusalLinesAMinute
    this.counts.delete(name)
    const kind = kinds[name]
    if (more > 0 && kind !== undefined) this.log[kind.level]({ more }, kind.rest)
  }
}
