import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readerOf } from '../../console/src/language/reader.ts'
import { projectFolder } from '../kit/folders.ts'

test('a text takes the singular for 1 alone, and leaves out what it was not given', () => {
  const read = readerOf({ gates: ['At {{name}} {{count}} {{count:gate stands|gates stand}}.', ''] }, 'en')
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
    /'A rule can have up to {{count}}/,
    /'Showing up to {{count}}/,
    /in the latest {{count}} deliveries|there were more than {{count}} deliveries/,
    /'{{count}} rows is too many/,
    /'{{count}} periods per day/,
    /^all(Tables|Settings):/,
  ]
  expect(found.filter((line) => !never1.some((pattern) => pattern.test(line)))).toEqual([])
})

// The terms that texts use instead: one word for each thing.
const replaced =
  /\b(stands?|nowhere|acts?|told|tells?|goes on|dead|held|code generator|one’s|Answers|Pages through|set-up|any more|at once|in force|moment|members?|divisions?)\b/i
const allowed = [
  /\bin a moment\b/,
  /\b(rows|uploads) at once\b/,
  /\bmembers? (of|yet)\b/,
  // The names of a setting, a command or a value, which stay, a key, and a word that people search for.
  /\bheldUntil\b|\(dead\)|^(act|delivery) [a-z]+ |^result of an act$|^divisions provinces /,
]

test('texts use the terms of the glossary', () => {
  const folders = ['console/src', 'src/cli', 'src/vocabulary', 'src/reference', 'src']
  const isText = /\.tsx?$/
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => isText.test(name) && !name.endsWith('.test.ts'))
      .filter((name) => folder !== 'src' || /contract\.ts$|^config\.ts$/.test(name))
      .map((name) => join(folder, name)),
  )
  expect(files.length).toBeGreaterThan(300)
  const found = files.flatMap((file) => {
    const text = readFileSync(join(projectFolder, file), 'utf8').replaceAll(/^\s*(\/\/|\/\*|\*|import).*$/gm, '')
    const literals = text.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)
    return [...literals].flatMap(([, ...parts]) => {
      const words = parts.find((part) => part !== undefined) ?? ''
      const sentence = words.replaceAll(/`[^`]*`|\{\{[^}]*\}\}|\$\{[^}]*\}/g, '')
      const isProse = /[a-z] [a-z]+ [a-z]/.test(sentence) && !/\bselect |\bwhere /.test(sentence)
      return isProse && replaced.test(sentence) && !allowed.some((known) => known.test(words))
        ? [`${file}: ${words}`]
        : []
    })
  })
  expect(found).toEqual([])
})
