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

interface FilePlaces {
  /**
   * Returns the function that gives the place back; repeated calls do nothing. Throws 10007 if the caller or application
   * has all of its places, and 50003 if no place is left.
   */
  take(owner: FileOwner): () => void
}

const none = Number.POSITIVE_INFINITY

function filePlaces({ ofOne, atOnce = none, inAll = none }: PlaceLimits): FilePlaces {
  const heldBy = new Map<string, number>()
  let held = 0

  function add(names: readonly string[], count: 1 | -1): void {
    held += count
    for (const name of names) {
      const own = (heldBy.get(name) ?? 0) + count
      if (own > 0) heldBy.set(name, own)
      else heldBy.delete(name)
    }
  }

  return {
    take(owner) {
      const names = holders(owner)
      const own = Math.max(...names.map((name) => heldBy.get(name) ?? 0))
      if (own >= ofOne) throw new Refusal('tooManyRequests', { headers: { 'retry-after': '5' } })
      if (held >= (own === 0 ? inAll : atOnce)) throw unavailable(5)
      add(names, 1)
      let isLeft = false
      return () => {
        if (!isLeft) add(names, -1)
        isLeft = true
      }
    },
  }
}

export const uploads = filePlaces({
  ofOne: limits.filesAtOnceOfOne,
  atOnce: limits.filesAtOnce,
  inAll: limits.filesInAll,
})
export const downloads = filePlaces({ ofOne: limits.downloadsOfOne })
