import { tooManyRequests } from '../vocabulary/refusals.ts'

/** What one owner holds: an application, an account, or a source of requests without a caller. */
export interface Owner {
  readonly name: string
  count: number
}

/** The places of one owner, as a part of all. */
const partOfOne = 1 / 5
/** The places of all requests that have no known caller, as a part of all: strangers can invent any number of owners. */
const partOfStrangers = 1 / 2

/**
 * The places of requests under way in this process (contract §4.4). A request holds one from its arrival until it is
 * answered or its caller has gone. What it asked for does not begin after that, and what has begun is limited by the
 * turns, lanes and connections that it needs.
 *
 * A place counts for its owner once the owner is known, and until then for strangers.
 */
export class InFlight {
  count = 0
  readonly most: number
  readonly mostOfOne: number
  private readonly mostOfStrangers: number
  private strangers = 0
  private readonly owners = new Map<string, Owner>()

  constructor(most: number) {
    this.most = most
    this.mostOfOne = Math.max(1, Math.floor(most * partOfOne))
    this.mostOfStrangers = Math.max(1, Math.floor(most * partOfStrangers))
  }

  get isFull(): boolean {
    return this.count >= this.most
  }

  /** The places that are taken, by whom: all callers, those without a known caller, and the one with the most. */
  get taken() {
    let ofOne = 0
    for (const { count } of this.owners.values()) ofOne = Math.max(ofOne, count)
    return { all: this.count, strangers: this.strangers, one_caller: ofOne }
  }

  /** Counts a request of a caller who is not known, or not known yet. Throws 10007. */
  enterStranger(): void {
    if (this.strangers >= this.mostOfStrangers) throw tooManyRequests()
    this.strangers++
  }

  leaveStranger(): void {
    this.strangers--
  }

  /**
   * Takes a place of an owner. Throws 10007 when the owner has all of its places, unless `makeRoom` ends one of its
   * requests.
   */
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
