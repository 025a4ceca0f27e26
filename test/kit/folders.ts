import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const projectFolder = join(import.meta.dirname, '..', '..')

/** A new data folder that the user who runs the embedded database can reach. */
export function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-test-'))
  chmodSync(folder, 0o755)
  return folder
}

/** A folder on a real disk, where a commit takes time, so that a kill can interrupt it. */
export const onDisk = '/var/tmp'
