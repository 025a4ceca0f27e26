import { InvalidArgumentError } from 'commander'

/** A whole number on the command line. */
export function wholeNumber(minimum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum) return value
    throw new InvalidArgumentError(`It must be a whole number from ${minimum}.`)
  }
}

/** An option that may be given several times. */
export function collect(text: string, given: string[] = []): string[] {
  return [...given, text]
}
