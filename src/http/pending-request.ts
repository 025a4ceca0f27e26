import type { Caller } from '../callers/caller.ts'
import { databaseRefusal, isConnectionLost } from '../database/failures.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import type { Reads } from '../database/reads.ts'
import { transaction } from '../database/transaction.ts'
import type { Company } from '../runtime/company.ts'
import type { Turns } from '../runtime/turns.ts'
import { type Refusal, unavailable } from '../vocabulary/refusals.ts'
import type { BodyReader, RequestTimeout } from './body.ts'
import type { InFlight, Owner } from './in-flight.ts'
import type { HttpRequest } from './message.ts'

export interface Shares {
  /** Past their number 50003, and past an owner's part 10007. */
  inFlight: InFlight
  reads: Reads
  /** Writes take turns by owner. */
  writes: Turns
  /** Writes out of turn, by operation: more at once of an owner. */
  outOfTurn(operation: string): Turns
  company: Company
  /** Many requests may wait for the same value, and would be answered in one turn of the event loop. */
  responses: Turns
  /** Large bodies take turns by caller: one that waits is not read yet. */
  largeBodies: Turns
}

/** A request under way. It is one object with shared methods, because there is one for each request. */
export class PendingRequest implements RequestTimeout, Pending {
  at: number
  late: () => Refusal = unavailable
  expire: () => void
  before: RequestTimeout['before']
  after: RequestTimeout['after']
  isAnswered = false
  caller: Caller | undefined
  body: unknown
  /** Checks the caller's access again; undefined for an operation that needs no caller. */
  stands: (() => Promise<void>) | undefined
  hasTurn = false
  readonly requestId: string
  private readonly request: HttpRequest
  private readonly shares: Shares
  private readonly bodies: BodyReader
  place: Owner | undefined
  /** In whose turn its work runs, even after it has given its place back. */
  private ownerName: string | undefined
  private hasPlace = false
  private isStranger = false
  isAborted = false
  private controller: AbortController | undefined

  constructor(request: HttpRequest, requestId: string, at: number, shares: Shares, bodies: BodyReader) {
    this.request = request
    this.requestId = requestId
    this.at = at
    this.shares = shares
    this.bodies = bodies
    this.expire = neverExpires
    this.before = undefined
    this.after = undefined
    this.caller = undefined
    this.body = undefined
    this.stands = undefined
    this.place = undefined
    this.ownerName = undefined
    this.controller = undefined
  }

  get isOver(): boolean {
    return this.isAnswered || this.request.isGone()
  }

  /** Made when first asked for: a listener for the end of a connection costs a tenth of a create. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController()
      this.controller = controller
      if (this.isAborted || this.request.isGone()) controller.abort()
      else this.request.onHangUp(() => controller.abort())
    }
    return this.controller.signal
  }

  /** A request without its body is not told that it was slow. */
  stop(): void {
    this.late = unavailable
  }

  abort(): void {
    this.isAborted = true
    this.controller?.abort()
  }

  /** A request whose caller has gone holds no place. */
  look(): void {
    if (this.isAborted || !this.request.isGone()) return
    this.abort()
    this.leave()
  }

  /** Gives it so much time from now on, unless the service stops. */
  extend(milliseconds: number): void {
    if (this.at > 0) this.at = performance.now() + milliseconds
  }

  enter(): void {
    this.shares.inFlight.count++
    this.hasPlace = true
  }

  /** A slow body of the owner makes room for it. Throws 10007. */
  own(name: string): void {
    this.ownerName = name
    if (!this.hasPlace) return
    const place = this.shares.inFlight.enter(name, (owner) => this.bodies.evictOf(owner))
    this.leaveOwner()
    this.place = place
  }

  /** Until `leaveStrangers`. Throws 10007. */
  enterStrangers(): void {
    this.shares.inFlight.enterStranger()
    this.isStranger = true
  }

  leaveStrangers(): void {
    if (this.isStranger) this.shares.inFlight.leaveStranger()
    this.isStranger = false
  }

  leave(): void {
    if (this.hasPlace) this.shares.inFlight.count--
    this.hasPlace = false
    this.leaveOwner()
    this.leaveStrangers()
  }

  private leaveOwner(): void {
    if (this.place !== undefined) this.shares.inFlight.leave(this.place)
    this.place = undefined
  }

  read<Answer>(read: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    return this.shares.reads.run(this.ownerName ?? '', this.signal, read)
  }

  transaction<Answer>(sql: Sql, run: (tx: Statements) => Promise<Answer>): Promise<Answer> {
    const write = () => transaction(sql, (tx) => this.whileStanding(() => run(tx)), '', this)
    return this.hasTurn || this.ownerName === undefined ? write() : this.shares.writes.run(this.ownerName, this, write)
  }

  /** On its own connection the check sees what others committed, not what this transaction does to its caller. */
  private async whileStanding<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    const answer = await run().catch(async (error: unknown) => {
      // The caller's end may have caused it: its account is gone, for example.
      if (!isConnectionLost(error)) await this.requireStanding()
      throw error
    })
    await this.requireStanding()
    return answer
  }

  async requireStanding(): Promise<void> {
    try {
      await this.stands?.()
    } catch (error) {
      // A connection that the check has lost is not the transaction's, which must be rolled back.
      throw databaseRefusal(error) ?? error
    }
  }

  /** Out of turn: beside the owner's others of this operation. */
  inTurn<Answer>(operationOutOfTurn: string | undefined, run: () => Promise<Answer>): Promise<Answer> {
    if (this.ownerName === undefined) return run()
    if (operationOutOfTurn !== undefined) {
      return this.shares.outOfTurn(operationOutOfTurn).run(this.ownerName, this, run)
    }
    return this.shares.writes.run(this.ownerName, this, () => {
      this.hasTurn = true
      return run()
    })
  }
}

const neverExpires = () => {}
