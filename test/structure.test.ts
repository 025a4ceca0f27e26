import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { countMechanisms, mechanisms } from '../scripts/mechanisms.ts'
import { projectFolder } from './kit/folders.ts'

const root = join(projectFolder, 'src')
const consoleRoot = join(projectFolder, 'console', 'src')

type Graph = Map<string, Set<string>>

/** Each room of a folder (a folder or a file in it) with the others that it imports from. */
function roomsOf(folder: string, isCounted: (path: string) => boolean): Graph {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  const roomOf = (path: string) => path.split('/')[0] ?? ''
  const graph: Graph = new Map(sources.map((file) => [roomOf(file), new Set()]))
  for (const file of sources.filter(isCounted)) {
    const imported = readFileSync(join(folder, file), 'utf8').matchAll(/(?: from|^import| import\() ?'(\.[^']+)'/gm)
    const paths = [...imported].map(([, path = '']) => normalize(join(file, '..', path)))
    const others = paths.filter((path) => !path.startsWith('..') && isCounted(path)).map(roomOf)
    for (const other of others) if (other !== roomOf(file)) graph.get(roomOf(file))?.add(other)
  }
  return graph
}

// Imports from or by a contract.ts are not counted.
const service = roomsOf(root, (path) => path.includes('/') && !/(^|\/)contract\.ts$/.test(path))
const graph = new Map([...service].filter(([room]) => !room.endsWith('.ts')))
const consoleGraph = roomsOf(consoleRoot, () => true)

function reachableFrom(start: string, rooms = graph): Set<string> {
  const seen = new Set<string>()
  const look = (room: string) => {
    for (const next of rooms.get(room) ?? []) {
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
  expect(pathsIn(consoleRoot).filter((path) => ofService.has(path))).toEqual([])
})

/** The rooms of the console from below, as docs/architecture.md lists them. */
const consoleLayers = [
  ['browser', 'paths.ts'],
  ['language'],
  ['api'],
  ['ui'],
  ['map', 'pricing', 'regions', 'views', 'words'],
  [
    ...['acts', 'applications', 'billing-rules', 'deliveries', 'devices', 'events', 'imports', 'jobs', 'models'],
    ...['people', 'placements', 'prices', 'sites'],
  ],
  ['account', 'overview', 'refusals', 'service', 'sign-in'],
  ['routes.tsx'],
  ['frame'],
  ['boot.ts', 'declarations.d.ts', 'react.ts', 'schemaless.ts', 'start.tsx'],
]
const layerOf = (room: string) => consoleLayers.findIndex((layer) => layer.includes(room))

test('every room of the console is in a layer', () => {
  expect([...consoleGraph.keys()].toSorted()).toEqual(consoleLayers.flat().toSorted())
})

test.each(consoleLayers.flat())('console/src/%s imports no room above it', (room) => {
  expect([...(consoleGraph.get(room) ?? [])].filter((other) => layerOf(other) > layerOf(room))).toEqual([])
  const below = [...reachableFrom(room, consoleGraph)]
  expect(below.filter((other) => reachableFrom(other, consoleGraph).has(room))).toEqual([])
})

test('at most ten files lie directly in console/src', () => {
  const entries = readdirSync(consoleRoot, { withFileTypes: true })
  expect(entries.filter((entry) => !entry.isDirectory()).length).toBeLessThanOrEqual(10)
})

test.each(Object.entries(countMechanisms(root)))('%s: no more than before', (mechanism, count) => {
  const { most } = mechanisms[mechanism as keyof typeof mechanisms]
  expect(count).toBeLessThanOrEqual(most)
  expect(count).toBeGreaterThan(0)
})
