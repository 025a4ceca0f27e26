import { createRequire } from 'node:module'

interface Common {
  /** What is long enough to be a password here: leaked ones, and words and names of everyday English. */
  passwords: ReadonlySet<string>
  /** The 500 most common ones of letters alone in each list, which people lengthen with digits and signs. */
  words: ReadonlySet<string>
}

let known: Common | undefined

/** What zxcvbn's lists hold, in lower case. Read when a password is first set, because many a process never sets one. */
export function common(): Common {
  known ??= read()
  return known
}

function read(): Common {
  // Its own entry point makes an index of all that is too short for us.
  const byKind: Record<string, string[]> = createRequire(import.meta.url)('zxcvbn/lib/frequency_lists.js')
  const lists = Object.values(byKind)
  return {
    passwords: new Set(lists.flatMap((list) => list.filter((text) => text.length >= 12))),
    words: new Set(lists.flatMap((list) => list.filter((text) => /^[a-z]{5,}$/.test(text)).slice(0, 500))),
  }
}
