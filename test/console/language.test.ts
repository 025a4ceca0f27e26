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

const isSource = /(?<!\.test)\.tsx?$/

/** The source files below a folder, by their paths. */
function sourcesOf(folder: string): [path: string, text: string][] {
  const names = readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
  const paths = names.filter((name) => isSource.test(name)).map((name) => join(folder, name))
  return paths.map((path) => [path, readFileSync(join(projectFolder, path), 'utf8')])
}

/** The string literals of a source. */
const literalsOf = (text: string) =>
  [...text.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)].map(
    ([, ...parts]) => parts.find((part) => part !== undefined) ?? '',
  )

test('no text of the Chinese console is English', () => {
  // `key: [English, Chinese]`
  const pair = /: \[\s*(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"),\s*([^\]]*?),?\s*\],/g
  const texts = sourcesOf('console/src').flatMap(([path, text]) =>
    [...text.matchAll(pair)].flatMap(([, zh = '']) => literalsOf(zh).map((words) => `${path}: ${words}`)),
  )
  expect(texts.length).toBeGreaterThan(1_000)
  expect(
    texts.filter((words) => /[a-z] [a-z]/i.test(words.replace(/^\S+ /, '')) && !/\p{Script=Han}/u.test(words)),
  ).toEqual([])
})

test('no count is followed by a noun that has only its plural', () => {
  const found = sourcesOf('console/src').flatMap(([, text]) =>
    [...text.matchAll(/.*{{count}} [a-z]+s\b.*/g)].map(([line]) => line.trim()),
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
  const files = folders.flatMap((folder) =>
    sourcesOf(folder).filter(([path]) => folder !== 'src' || /contract\.ts$|^src\/config\.ts$/.test(path)),
  )
  expect(files.length).toBeGreaterThan(300)
  const found = files.flatMap(([file, text]) =>
    literalsOf(text.replaceAll(/^\s*(\/\/|\/\*|\*|import).*$/gm, '')).flatMap((words) => {
      const sentence = words.replaceAll(/`[^`]*`|\{\{[^}]*\}\}|\$\{[^}]*\}/g, '')
      const isProse = /[a-z] [a-z]+ [a-z]/.test(sentence) && !/\bselect |\bwhere /.test(sentence)
      return isProse && replaced.test(sentence) && !allowed.some((known) => known.test(words))
        ? [`${file}: ${words}`]
        : []
    }),
  )
  expect(found).toEqual([])
})
