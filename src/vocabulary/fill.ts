export interface Words {
  en: string
  zh: string
}

export type Values = Record<string, string | number>

/** `{{name}}` becomes its value; `{{count:site|sites}}` the first word if the value is 1, else the second. */
export function fill(text: string, values: Values): string {
  return text.replace(/{{(\w+)(?::(.+?)\|(.+?))?}}/g, (_, name: string, one?: string, more?: string) => {
    const value = String(values[name] ?? '')
    return (value === '1' ? one : more) ?? value
  })
}
