import { InvalidArgumentError } from 'commander'
import { UsageError } from './usage-error.ts'

/** A whole number on the command line. */
export function wholeNumber(minimum: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && Number.isSafeInteger(value)) return value
    throw new InvalidArgumentError(`It must be a whole number, ${minimum} or more.`)
  }
}

/** An option that may be given several times. */
export function collect(text: string, given: string[] = []): string[] {
  return [...given, text]
}

/** The filters of `--filter name=value`. */
export function filtersOf(given: string[] = []): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`"${text}" is not a filter: write it as name=value`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}
