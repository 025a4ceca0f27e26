import type { Reason } from '../vocabulary/refusals.ts'

/** Chinese if it ranks above English, else English. */
export function preferredLanguage(acceptLanguage: string | null): keyof Reason {
  if (acceptLanguage === null || acceptLanguage.length > 1000) return 'en'
  let best: keyof Reason = 'en'
  let bestQuality = 0
  for (const part of acceptLanguage.split(',')) {
    const [range = '', ...parameters] = part.split(';')
    const primary = range.trim().toLowerCase().split('-')[0]
    const language = primary === 'zh' ? 'zh' : primary === 'en' || primary === '*' ? 'en' : undefined
    const weight = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean)
    const quality = weight === undefined ? 1 : Number(weight)
    if (language !== undefined && quality > bestQuality) {
      best = language
      bestQuality = quality
    }
  }
  return best
}
