import { InvalidArgumentError } from 'commander'
import { usageError } from '../runtime/user-error.ts'

export function wholeNumber(minimum: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && Number.isSafeInteger(value)) return value
    throw new InvalidArgumentError(`Must be a whole number of ${minimum} or more.`)
  }
}

/** Where the result goes to standard output. */
export function fileName(text: string): string {
  if (text === '-') throw new InvalidArgumentError('Must be a file: the result goes to standard output.')
  return text
}

export function collect(text: string, given: string[] = []): string[] {
  return [...given, text]
}

export function filtersOf(given: string[] = []): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw usageError(`"${text}" isn’t a filter; use name=value`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}
