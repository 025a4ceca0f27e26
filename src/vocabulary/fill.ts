/** A text in the languages of the guides and the console. */
export interface Words {
  en: string
  zh: string
}

export type Values = Record<string, string | number>

/**
 * Puts values into a text: `{{name}}` is replaced by the value of that name, and `{{count:site|sites}}` by the first word
 * if that value is 1, else by the second.
 */
export function fill(text: string, values: Values): string {
  return text.replace(/{{(\w+)(?::(.+?)\|(.+?))?}}/g, (_, name: string, one?: string, more?: string) => {
    const value = String(values[name] ?? '')
    return (value === '1' ? one : more) ?? value
  })
}
