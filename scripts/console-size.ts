import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

// How much script the console's first load takes, compressed by Brotli as browsers ask for it: the frame of all pages,
// before any page's own chunk.
//
//   bun scripts/console-size.ts

const most = 180_000
const folder = join(import.meta.dirname, '..', 'console', 'dist')

const page = readFileSync(join(folder, 'index.html'), 'utf8')
const scripts = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(([, file = '']) => file)
const sizeOf = (file: string) => {
  const sizes = [file, `${file}.br`].map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size)
  return sizes[1] ?? sizes[0] ?? 0
}
const total = scripts.reduce((sum, file) => sum + sizeOf(file), 0)
console.log(
  `first load: ${(total / 1000).toFixed(0)} kB of compressed script in ${scripts.length} files, at most ${most / 1000} kB`,
)
if (scripts.length === 0 || total > most) process.exit(1)
