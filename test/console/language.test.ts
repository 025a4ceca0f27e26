import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readerOf } from '../../console/src/language/reader.ts'
import { projectFolder } from '../harness.ts'

test('a text takes the singular for 1 alone, and leaves out what it was not given', () => {
  const read = readerOf({ gates: 'At {{name}} {{count}} {{count:gate stands|gates stand}}.' })
  const told = (count: number | string) => read('gates', { name: 'A', count })
  expect(told(1)).toBe('At A 1 gate stands.')
  expect([told(0), told(2), told('1,000')]).toEqual([
    'At A 0 gates stand.',
    'At A 2 gates stand.',
    'At A 1,000 gates stand.',
  ])
  expect(read('gates', {})).toBe('At   gates stand.')
})

test('no count is followed by a noun that has only its plural', () => {
  const folder = join(projectFolder, 'console', 'src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  const found = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/.*{{count}} [a-z]+s\b.*/g)].map(([line]) => line.trim()),
  )
  // These counts are limits, or always more than one.
  const never1 = [
    /^most: 'A rule can have up to/,
    /^mostShown:/,
    /^(noSuccess|countedFrom):/,
    /^tooMany:/,
    /^periodsInWords:/,
    /^all(Tables|Settings):/,
  ]
  expect(found.filter((line) => !never1.some((pattern) => pattern.test(line)))).toEqual([])
})
