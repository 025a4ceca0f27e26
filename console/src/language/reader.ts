import { fill, type Values } from '../../../src/vocabulary/fill.ts'

/** Returns the function that reads texts of one language, with their values put in. */
export function readerOf(texts: Record<string, string>) {
  return (key: string, values?: Values): string => {
    const text = texts[key] ?? key
    return values === undefined ? text : fill(text, values)
  }
}
