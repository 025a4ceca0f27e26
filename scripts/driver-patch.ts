import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../test/kit/folders.ts'

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8')

interface Hunk {
  numbers: number[]
  does: string
  issues: string[]
}

/** The hunks as docs/security/driver-patch.md describes them. */
export function describedHunks(): Hunk[] {
  const rows = read('docs/security/driver-patch.md').matchAll(/^\| (\d[\d, ]*) \| (.+) \| (.+) \|$/gm)
  return [...rows].map(([, numbers = '', does = '', issues = '']) => ({
    numbers: numbers.split(', ').map(Number),
    does,
    issues: [...issues.matchAll(/\((https:[^)]+)\)/g)].map(([, url = '']) => url),
  }))
}

/** The entry for the patched driver in a bill of materials (CycloneDX `pedigree`). */
export function driverPedigree(patch: string) {
  const hunks = describedHunks()
  const urls = [...new Set(hunks.flatMap(({ issues }) => issues))]
  const resolves = urls.map((url) => ({ type: 'defect', id: `#${url.split('/').at(-1)}`, source: { url } }))
  const diff = { text: { contentType: 'text/x-diff', content: read(patch) } }
  return { patches: [{ type: 'unofficial', diff, resolves }], notes: hunks.map(({ does }) => does).join('\n') }
}
