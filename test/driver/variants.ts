import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../kit/folders.ts'

/** One hunk of the driver's patch: its lines before and after, in one file of the driver. */
export interface Hunk {
  /** Counted from 1, as in docs/security/driver-patch.md. */
  number: number
  /** Relative to the driver's folder. */
  file: string
  before: string
  after: string
}

const installed = join(projectFolder, 'node_modules', 'postgres')

/** The hunks of `patches/postgres+*.patch` in their order. */
export function patchHunks(): Hunk[] {
  const patch = readFileSync(join(projectFolder, 'patches', 'postgres+3.4.9.patch'), 'utf8')
  const files = patch.split(/^diff --git .*$/m).slice(1)
  const hunks = files.flatMap((text) => {
    const file = /^\+\+\+ b\/node_modules\/postgres\/(.+)$/m.exec(text)?.[1] ?? ''
    return text
      .split(/^@@ .*$/m)
      .slice(1)
      .map((body) => {
        const lines = body.split('\n').filter((line) => line !== '')
        const side = (sign: '+' | '-') =>
          lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? [line.slice(1)] : [])).join('\n')
        return { file, before: side('-'), after: side('+') }
      })
  })
  return hunks.map((hunk, at) => ({ number: at + 1, ...hunk }))
}

/**
 * Copies the installed driver into `folder` without these hunks. Returns the path of the copy's module. Throws when the
 * installed driver does not contain a hunk: then it is unpatched, or patched by another version of the patch.
 */
export function driverWithout(hunks: readonly Hunk[], folder: string): string {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'src']) cpSync(join(installed, name), join(folder, name), { recursive: true })
  for (const { number, file, before, after } of hunks) {
    const path = join(folder, file)
    const parts = readFileSync(path, 'utf8').split(after)
    if (parts.length !== 2) throw new Error(`The installed driver does not hold hunk ${number} of the patch.`)
    writeFileSync(path, parts.join(before))
  }
  return join(folder, 'src', 'index.js')
}
