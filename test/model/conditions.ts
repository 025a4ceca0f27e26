import fc from 'fast-check'
import type { ModelApplication } from './world.ts'

/** How a change states, with If-Match, which version of the record it expects. */
export type Condition = (typeof conditions)[number]
const conditions = ['none', 'right', 'any', 'among others', 'weak', 'nonsense', 'stale'] as const

export const condition = fc.oneof(
  { weight: 6, arbitrary: fc.constant('none' as const) },
  { weight: 6, arbitrary: fc.constantFrom(...conditions) },
)

/** The header of a condition, and whether the record meets the condition. `read` returns the record's entity tag. */
export async function conditionOn(
  app: ModelApplication,
  subject: string,
  condition: Condition,
  read: () => Promise<string | undefined>,
): Promise<{ headers: Record<string, string>; isMet: boolean }> {
  if (condition === 'none') return { headers: {}, isMet: true }
  const right = (await read()) ?? '"none"'
  const others = app.tags.filter((tag) => tag.subject === subject && tag.etag !== right)
  const headers = {
    right,
    any: '*',
    'among others': `"one", ${right},"two"`,
    weak: `W/${right}`,
    nonsense: 'nonsense',
    stale: others.at(-1)?.etag ?? '"older"',
  }
  const isMet = ['right', 'any', 'among others', 'weak'].includes(condition)
  return { headers: { 'if-match': headers[condition] }, isMet }
}
