import type { Logger } from 'pino'
import { limits } from '../vocabulary/limits.ts'

const windowMs = 60_000

export interface LineKind {
  level: 'info' | 'warn'
  line: string
  /** Logs at the end of a minute how many lines were left out. */
  rest: string
}

export const databaseAway: LineKind = {
  level: 'warn',
  line: 'the database did not respond',
  rest: 'database didn’t respond to more requests in this minute',
}

/** For lines that clients can cause: some of each kind a minute, and then how many more there were. */
export class BoundedLines {
  private readonly log: Logger
  private readonly counts = new Map<LineKind, number>()

  constructor(log: Logger) {
    this.log = log
  }

  note(kind: LineKind, fields: () => object): void {
    const count = this.counts.get(kind) ?? 0
    this.counts.set(kind, count + 1)
    if (count === 0) setTimeout(() => this.endMinute(kind), windowMs).unref()
    if (count < limits.refusalLinesAMinute) this.log[kind.level](fields(), kind.line)
  }

  private endMinute(kind: LineKind): void {
    const more = (this.counts.get(kind) ?? 0) - limits.refusalLinesAMinute
    this.counts.delete(kind)
    if (more > 0) this.log[kind.level]({ more }, kind.rest)
  }
}
