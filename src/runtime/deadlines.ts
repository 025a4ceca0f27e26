/** A time by the monotonic clock, which may be moved meanwhile. */
export interface Deadline {
  at: number
  expire: () => void
  /** Called before `expire` if the process stops before this time. */
  stop?: () => void
  /** Called every quarter of a second. Must not throw. */
  look?(): void
  /** In the ring of watched deadlines; undefined while it is not watched. */
  before?: Deadline | undefined
  after?: Deadline | undefined
}

const precisionMs = 250
/** Bun ends pending bodies recursively: some four thousand in one turn of the event loop would end the process. */
const mostInOneTurn = 100

/**
 * One timer, with a precision of a quarter of a second. A timer for each request would cost more than its routing, and
 * so would a Set (1.2 µs to add and remove with 10,000 inside, against 0.15 µs): so each deadline knows its neighbours.
 */
export class Deadlines {
  /** The ring begins and ends here. */
  private readonly ends: Deadline
  private next: ReturnType<typeof setTimeout> | undefined

  constructor() {
    const ends: Deadline = { at: Number.POSITIVE_INFINITY, expire: () => {}, before: undefined, after: undefined }
    ends.before = ends
    ends.after = ends
    this.ends = ends
    this.sweepIn(precisionMs)
  }

  enter(deadline: Deadline): void {
    const { ends } = this
    const last = ends.before as Deadline
    deadline.before = last
    deadline.after = ends
    last.after = deadline
    ends.before = deadline
  }

  leave(deadline: Deadline): void {
    const { before, after } = deadline
    if (before === undefined || after === undefined) return
    before.after = after
    after.before = before
    deadline.before = undefined
    deadline.after = undefined
  }

  expireAll(): void {
    for (let deadline = this.ends.after as Deadline; deadline !== this.ends; deadline = deadline.after as Deadline) {
      deadline.stop?.()
      deadline.at = 0
    }
    clearTimeout(this.next)
    this.sweepIn(0)
  }

  stop(): void {
    clearTimeout(this.next)
  }

  private sweepIn(milliseconds: number): void {
    this.next = setTimeout(() => this.sweepIn(this.sweep() ? 1 : precisionMs), milliseconds)
    this.next.unref()
  }

  /** Returns whether more may have expired. */
  private sweep(): boolean {
    const now = performance.now()
    const due: Deadline[] = []
    for (let deadline = this.ends.after as Deadline; deadline !== this.ends; deadline = deadline.after as Deadline) {
      deadline.look?.()
      if (deadline.at <= now && due.push(deadline) === mostInOneTurn) break
    }
    for (const deadline of due) {
      // An expired deadline may have ended others.
      if (deadline.after === undefined) continue
      this.leave(deadline)
      deadline.expire()
    }
    return due.length === mostInOneTurn
  }
}
