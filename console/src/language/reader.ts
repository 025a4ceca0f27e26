export type Values = Record<string, string | number>

/**
 * Returns the function that reads texts of one language. `{{name}}` in a text is replaced by the value of that name, and
 * `{{count:site|sites}}` by the first word if that value is 1, else by the second.
 */
export function readerOf(texts: Record<string, string>) {
  return (key: string, values?: Values): string => {
    const text = texts[key] ?? key
    return values === undefined
      ? text
      : text.replace(/{{(\w+)(?::(.+?)\|(.+?))?}}/g, (_, name: string, one?: string, more?: string) => {
          const value = String(values[name] ?? '')
          return (value === '1' ? one : more) ?? value
        })
  }
}
