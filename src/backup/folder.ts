import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../runtime/user-error.ts'
import { explained } from './file.ts'
import { verifyBackup } from './format.ts'

// What else lies in the folder is left alone.

const namePattern = /^forecourt-\d{8}T\d{6}\.\d{3}Z\.fcb$/
/** A running backup writes all the time, so a partial file that has not grown for this long was left by a kill. */
const forgottenAfterMs = 3_600_000

/** Sorts by time: `forecourt-20261123T021500.000Z.fcb`, in UTC. */
export function nameAt(moment: Date): string {
  return `forecourt-${moment.toISOString().replaceAll(/[-:]/g, '')}.fcb`
}

/** For its owner only. Removes what killed backups left in it. */
export function prepareFolder(folder: string): Promise<void> {
  return explained(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const left = (await readdir(folder)).filter(
      (name) => name.endsWith('.partial') && namePattern.test(name.slice(0, -'.partial'.length)),
    )
    for (const name of left) {
      const path = join(folder, name)
      const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? { mtimeMs: Number.POSITIVE_INFINITY }
      if (Date.now() - mtimeMs > forgottenAfterMs) await rm(path, { force: true })
    }
  })
}

export interface Pruned {
  kept: string[]
  removed: string[]
  /** Newer than the oldest kept backup: they stay for inspection and do not count. */
  damaged: string[]
}

/** A damaged file never takes a good one's place. `taken` counts as the newest, because a clock can be set back. */
export function keepNewest(folder: string, taken: string, keep: number): Promise<Pruned> {
  return explained(folder, async () => {
    const others = (await readdir(folder)).filter((name) => namePattern.test(name) && name !== taken)
    const newestFirst = [taken, ...others.sort().reverse()]
    const pruned: Pruned = { kept: [], removed: [], damaged: [] }
    for (const name of newestFirst) {
      const path = join(folder, name)
      if (pruned.kept.length < keep) {
        pruned[(await isWhole(path)) ? 'kept' : 'damaged'].push(name)
        continue
      }
      await rm(path, { force: true })
      pruned.removed.push(name)
    }
    return pruned
  })
}

async function isWhole(path: string): Promise<boolean> {
  let file: FileHandle | undefined
  try {
    file = await open(path)
    await verifyBackup(file, () => {})
    return true
  } catch (error) {
    if (error instanceof UserError || (error as NodeJS.ErrnoException).code !== undefined) return false
    throw error
  } finally {
    await file?.close()
  }
}
