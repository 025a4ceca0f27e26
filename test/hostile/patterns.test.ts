import { expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'

// The contracts' regular expressions, tried with text on which an inefficient one would take extremely long.

/** Every pattern in a schema, at any depth. */
function patternsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'pattern' in schema && typeof schema.pattern === 'string' ? [schema.pattern] : []
  return [...own, ...Object.values(schema).flatMap(patternsOf)]
}

const patterns = [...new Set(operations.flatMap(({ body, query }) => [...patternsOf(body), ...patternsOf(query)]))]
const length = 60_000
const units = [...'aA0 .,-/:"\\\t中𝄞', ...['a ', '0.', '1,', '00:', '-1', 'a.', '/a', ':/', '%2', ' ,']]
const texts = units.flatMap((unit) => {
  const run = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
  return [run, `${run}!`, `!${run}`, `115.9,28.7${run}`, `https://${run}`, `00:00:00${run}\n`]
})

test('the contracts have patterns', () => {
  expect(patterns.length).toBeGreaterThan(5)
})

test.each(patterns)('%s takes no longer for hostile text than for any other', (pattern) => {
  const compiled = new RegExp(pattern, 'u')
  let slowest = 0
  for (const text of texts) {
    const started = performance.now()
    compiled.test(text)
    slowest = Math.max(slowest, performance.now() - started)
  }
  // A pattern that reads the text again for each of its characters takes minutes.
  expect(slowest).toBeLessThan(1_000)
})
