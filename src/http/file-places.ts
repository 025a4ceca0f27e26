import { limits } from '../vocabulary/limits.ts'
import { Refusal, unavailable } from '../vocabulary/refusals.ts'

// The places of files that are being sent or received, by caller and application.

export interface FileOwner {
  actor: string
  appId: string | undefined
}

const holders = ({ actor, appId }: FileOwner) =>
  appId === undefined || actor === `application:${appId}` ? [actor] : [actor, `application:${appId}`]

interface PlaceLimits {
  ofOne: number
  /** No limit by default. */
  atOnce?: number
  /** If those beyond `atOnce` are the first of their owners. */
  inAll?: number
}

class FilePlaces {
  private readonly limits: Required<PlaceLimits>
  private readonly heldBy = new Map<string, number>()
  private held = 0

  constructor(given: PlaceLimits) {
    const most = Number.POSITIVE_INFINITY
    this.limits = { atOnce: most, inAll: most, ...given }
  }

  /**
   * Returns the function that gives the place back; repeated calls do nothing. Throws 10007 if the caller or application
   * has all of its places, and 50003 if no place is left.
   */
  take(owner: FileOwner): () => void {
    const { ofOne, atOnce, inAll } = this.limits
    const names = holders(owner)
    const own = Math.max(...names.map((name) => this.heldBy.get(name) ?? 0))
    if (own >= ofOne) throw new Refusal('tooManyRequests', { headers: { 'retry-after': '5' } })
    if (this.held >= (own === 0 ? inAll : atOnce)) throw unavailable(5)
    this.add(names, 1)
    let isLeft = false
    return () => {
      if (!isLeft) this.add(names, -1)
      isLeft = true
    }
  }

  private add(names: readonly string[], count: 1 | -1): void {
    this.held += count
    for (const name of names) {
      const held = (this.heldBy.get(name) ?? 0) + count
      if (held > 0) this.heldBy.set(name, held)
      else this.heldBy.delete(name)
    }
  }
}

export const uploads = new FilePlaces({
  ofOne: limits.filesAtOnceOfOne,
  atOnce: limits.filesAtOnce,
  inAll: limits.filesInAll,
})
export const downloads = new FilePlaces({ ofOne: limits.downloadsOfOne })
