import { createRequire } from 'node:module'

interface Common {
  /** Entries that are long enough for a password, at least 12 characters: leaked passwords, English words and names. */
  passwords: ReadonlySet<string>
  /**
   * From each list the 500 most common entries of letters only, which people lengthen with digits and signs to make a
   * password.
   */
  words: ReadonlySet<string>
}

let known: Common | undefined

/** Common passwords from zxcvbn's lists, in lower case. Read at first use: many processes never set a password. */
export function commonPasswords(): Common {
  known ??= read()
  return known
}

function read(): Common {
  // Not the package's entry point, which would index all its entries, most of them too short to matter here.
  const byKind: Record<string, string[]> = createRequire(import.meta.url)('zxcvbn/lib/frequency_lists.js')
  const lists = Object.values(byKind)
  return {
    passwords: new Set(lists.flatMap((list) => list.filter((text) => text.length >= 12))),
    words: new Set(lists.flatMap((list) => list.filter((text) => /^[a-z]{5,}$/.test(text)).slice(0, 500))),
  }
}
