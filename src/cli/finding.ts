import type { Finding as ServiceFinding } from '../service/findings.ts'
import { fill } from '../vocabulary/fill.ts'
import { findingWords } from '../vocabulary/findings.ts'

export interface Finding {
  name: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  todo: string | null
}

export const ok = (name: string, message: string): Finding => ({ name, status: 'ok', message, todo: null })
export const warn = (name: string, message: string, todo: string): Finding => ({ name, status: 'warn', message, todo })
export const fail = (name: string, message: string, todo: string): Finding => ({ name, status: 'fail', message, todo })

/** `more` follows the sentence. */
export function told({ code, status, values }: ServiceFinding, more?: string): Finding {
  const words: { check: string; en: string; withReason?: { en: string }; todo?: { en: string } } = findingWords[code]
  const shown = Object.entries(values).map(([name, value]) => {
    const isSize = /bytes$/i.test(name) && value !== null
    return [name, isSize ? inBytes(Number(value)) : (value ?? 'unknown')]
  })
  const say = (text: string) => fill(text, Object.fromEntries(shown))
  const sentence = say((values.failure == null ? undefined : words.withReason?.en) ?? words.en)
  const todo = status === 'ok' ? null : say(words.todo?.en ?? '')
  return { name: words.check, status, message: more === undefined ? sentence : `${sentence} ${more}`, todo }
}

export function inBytes(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  while (value >= 1000 && units.length > 1) {
    value /= 1000
    units.shift()
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[0]}`
}
