import { createRequire } from 'node:module'

interface Common {
  passwords: ReadonlySet<string>
  /** The most frequent leaked words and names: people lengthen them with digits and signs. */
  words: ReadonlySet<string>
}

const mostWords = 10_000

let known: Common | undefined

/** Common passwords from zxcvbn's lists, in lower case. Read at first use: many processes never set a password. */
export function commonPasswords(): Common {
  known ??= read()
  return known
}

function read(): Common {
  const require = createRequire(import.meta.url)
  const { dictionary } = require('@zxcvbn-ts/language-common') as { dictionary: { 'passwords-common': string[] } }
  const sorted = dictionary['passwords-common']
  return {
    passwords: new Set(sorted.filter((text) => text.length >= 12)),
    words: new Set(sorted.filter((text) => /^[a-z]{5,}$/.test(text)).slice(0, mostWords)),
  }
}
