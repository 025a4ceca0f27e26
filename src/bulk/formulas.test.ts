import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { defused, withoutQuote } from './formulas.ts'

test.each([
  ...[
    '=1+1',
    '+1',
    '-1+1',
    '@SUM(1)',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
    ' =1',
    '\u3000＝1',
    '\u00a0@x',
    '\t1',
    '\r=1',
  ],
  ...['+86 10', '-', '-73.9,=1', '-1 '],
])('%j gets a quote', (text) => expect(defused(text)).toBe(`'${text}`))

test.each([
  ...['', 'x', "'", "'x", 'a=1', '-5', '-73.9,40.7', '-73.987, -40.7', '+115.9,28.6', '115.9,28.6', '东门'],
  '{"a":"=1"}',
])('%j stays as it is', (text) => expect([defused(text), withoutQuote(text)]).toEqual([text, text]))

test('one that has the quote itself gets another, and each is taken off again', () => {
  expect(defused("'=1")).toBe("''=1")
  expect(withoutQuote("''=1")).toBe("'=1")
  const text = fc.string({ unit: fc.constantFrom("'", '=', '-', '＝', ' ', '\u3000', '1', ',', '.', '\t', 'x') })
  fc.assert(
    fc.property(text, (written) => {
      const cell = defused(written)
      expect(withoutQuote(cell)).toBe(written)
      expect(/^\s*[=@＝＠]/.test(cell)).toBe(false)
    }),
    { numRuns: 5_000 },
  )
})
