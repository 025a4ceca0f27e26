import { createRequire } from 'node:module'

interface Common {
  /** Entries that are long enough for a password, at least 12 characters: leaked passwords, English words and names. */
  passwords: ReadonlySet<string>
  /** Frequent words and names of letters only, which people lengthen with digits and signs to make a password. */
  words: ReadonlySet<string>
}

type Dictionary = Record<string, string[]>

/** In the order of frequency; only the most frequent ones are words that people lengthen. */
const sortedLists = ['passwords-common', 'commonWords-en', 'wikipedia-en', 'lastnames-en']
const mostOfSorted = 1000

let known: Common | undefined

/** Common passwords from zxcvbn's lists, in lower case. Read at first use: many processes never set a password. */
export function commonPasswords(): Common {
  known ??= read()
  return known
}

function read(): Common {
  const require = createRequire(import.meta.url)
  const lists: Dictionary = {
    ...(require('@zxcvbn-ts/language-common') as { dictionary: Dictionary }).dictionary,
    ...(require('@zxcvbn-ts/language-en') as { dictionary: Dictionary }).dictionary,
  }
  const isWord = (text: string) => /^[a-z]{5,}$/.test(text)
  const wordsOf = ([name, list]: [string, string[]]) =>
    sortedLists.includes(name) ? list.filter(isWord).slice(0, mostOfSorted) : []
  return {
    passwords: new Set(Object.values(lists).flatMap((list) => list.filter((text) => text.length >= 12))),
    words: new Set([...Object.entries(lists).flatMap(wordsOf), ...(lists['firstnames-en'] as string[]).filter(isWord)]),
  }
}
