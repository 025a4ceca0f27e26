import { limits } from '../vocabulary/limits.ts'
import { tooManyRequests } from '../vocabulary/refusals.ts'

/** The owner of requests: an application, an account, or a source of requests without a caller. */
export interface Owner {
  readonly name: string
  count: number
}

/** One owner's part of all places. */
const partOfOne = 1 / 5
/** The part of all places for all strangers together, who can invent any number of owners. */
const partOfStrangers = 1 / 2

/** Contract §4.4. A request holds a place until it is answered or its caller has gone. */
export class InFlight {
  count = 0
  readonly most: number
  readonly mostOfOne: number
  /** An owner with more requests than this is a crowd: while there are others, few of them are carried out at once. */
  readonly crowd: number
  private readonly mostOfStrangers: number
  private strangers = 0
  private readonly owners = new Map<string, Owner>()

  constructor(most: number) {
    this.most = most
    this.mostOfOne = Math.max(1, Math.floor(most * partOfOne))
    this.crowd = Math.min(limits.crowd, this.mostOfOne / 2)
    this.mostOfStrangers = Math.max(1, Math.floor(most * partOfStrangers))
  }

  get isFull(): boolean {
    return this.count >= this.most
  }

  get taken() {
    let ofOne = 0
    for (const { count } of this.owners.values()) ofOne = Math.max(ofOne, count)
    return { all: this.count, strangers: this.strangers, one_caller: ofOne }
  }

  /** Counts a request whose caller is not known, or not known yet. Throws 10007. */
  enterStranger(): void {
    if (this.strangers >= this.mostOfStrangers) throw tooManyRequests()
    this.strangers++
  }

  leaveStranger(): void {
    this.strangers--
  }

  /** Throws 10007 if the owner has all of its places, unless `makeRoom` ends one of its requests. */
  enter(name: string, makeRoom: (owner: Owner) => boolean): Owner {
    let owner = this.owners.get(name)
    if (owner === undefined) {
      owner = { name, count: 0 }
      this.owners.set(name, owner)
    }
    if (owner.count >= this.mostOfOne && !makeRoom(owner)) throw tooManyRequests()
    owner.count++
    return owner
  }

  leave(owner: Owner): void {
    if (--owner.count === 0) this.owners.delete(owner.name)
  }
}
