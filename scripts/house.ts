import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { countMechanisms } from './mechanisms.ts'

// Measures the house for docs/architecture.md: `bun scripts/house.ts [FOLDER]`, for this checkout or another one. A
// room is a folder of `src`; tests are not counted.

const source = join(process.argv[2] ?? join(import.meta.dirname, '..'), 'src')
const entries = readdirSync(source, { recursive: true, encoding: 'utf8' })
const paths = entries.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
const roomOf = (path: string) => path.split('/')[0] ?? path

const lines = new Map<string, number>()
const pairs = new Set<string>()
for (const path of paths) {
  const text = readFileSync(join(source, path), 'utf8')
  lines.set(path, text.split('\n').length - 1)
  for (const [, imported = ''] of text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
    const [from, to] = [roomOf(path), roomOf(normalize(join(path, '..', imported)))]
    if (from !== to && to !== '..') pairs.add(`${from} ${to}`)
  }
}

const rooms = new Map<string, number>()
for (const [path, count] of lines) rooms.set(roomOf(path), (rooms.get(roomOf(path)) ?? 0) + count)
const bySize = [...lines].sort(([, a], [, b]) => a - b)
const sum = [...lines.values()].reduce((total, count) => total + count, 0)
const isRoom = (name: string) => !name.endsWith('.ts')

console.log(
  `rooms ${[...rooms.keys()].filter(isRoom).length}, loose files ${[...rooms.keys()].filter((name) => !isRoom(name)).length}`,
)
console.log(`pairs of rooms or loose files of which one imports the other: ${pairs.size}`)
console.log(`files ${lines.size}, lines ${sum}`)
console.log(`median file ${bySize[bySize.length >> 1]?.[1]}, longest ${bySize.at(-1)?.[1]} (${bySize.at(-1)?.[0]})`)
for (const [room, count] of [...rooms].sort(([, a], [, b]) => b - a))
  console.log(`${String(count).padStart(6)} ${room}`)
for (const [mechanism, count] of Object.entries(countMechanisms(source)))
  console.log(`${String(count).padStart(6)} ${mechanism}`)
