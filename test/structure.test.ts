import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { projectFolder } from './harness.ts'

const root = join(projectFolder, 'src')

/** The folders of `src` that a folder imports from. Imports from or by a contract.ts are not counted. */
function importsOf(folder: string): Set<string> {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts') && !/(^|\/)contract\.ts$|\.test\.ts$/.test(file))
  const found = sources.flatMap((file) => {
    const imported = readFileSync(join(root, folder, file), 'utf8').matchAll(/ from '(\.[^']+)'/g)
    return [...imported].map(([, path = '']) => normalize(join(folder, file, '..', path)))
  })
  const others = found.filter((path) => path.includes('/') && !path.endsWith('/contract.ts'))
  return new Set(others.map((path) => path.split('/')[0] ?? '').filter((other) => other !== folder))
}

const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
const graph = new Map(folders.map(({ name }) => [name, importsOf(name)]))

function reachableFrom(start: string): Set<string> {
  const seen = new Set<string>()
  const look = (folder: string) => {
    for (const next of graph.get(folder) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      look(next)
    }
  }
  look(start)
  return seen
}

test.each([...graph.keys()])('nothing that src/%s stands on stands on it', (folder) => {
  expect([...reachableFrom(folder)].filter((below) => reachableFrom(below).has(folder))).toEqual([])
})

const common = ['vocabulary', 'runtime', 'database', 'embedded', 'callers', 'http', 'secrets']

test.each(common)('src/%s knows no feature', (folder) => {
  expect([...reachableFrom(folder)].filter((below) => !common.includes(below))).toEqual([])
})

test('every contract that declares operations is in the list of src/reference/operations.ts', () => {
  const list = readFileSync(join(root, 'reference/operations.ts'), 'utf8')
  const contracts = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /contract\.ts$/.test(file),
  )
  const declaring = contracts.filter((file) => / = operation\(/.test(readFileSync(join(root, file), 'utf8')))
  expect(declaring.length).toBeGreaterThan(20)
  expect(declaring.filter((file) => !list.includes(`'../${file}'`))).toEqual([])
})

test('no file of the console has the path of a file of the service', () => {
  const pathsIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => file.replace(/\.tsx?$/, ''))
  const ofService = new Set(pathsIn(root))
  expect(pathsIn(join(projectFolder, 'console', 'src')).filter((path) => ofService.has(path))).toEqual([])
})
