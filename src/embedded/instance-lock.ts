import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeDataFolder } from '../database/data-folder.ts'
import { explainFault } from '../database/system-fault.ts'
import { UserError } from '../runtime/user-error.ts'
import { findProcess, isRunning, type ProcessId } from './processes.ts'

interface Holder extends ProcessId {
  /** Random for every attempt, so that a holder is never taken for an earlier one. */
  nonce: string
}

/** Throws `UserError` if another live process has claimed the folder. */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const folder = resolve(dataDir)
  const path = join(folder, 'forecourt.lock')
  const mine = { ...thisProcess(), nonce: randomBytes(8).toString('hex') }
  let other: Holder | undefined
  try {
    makeDataFolder(folder)
    other = claim(path, mine)
  } catch (fault) {
    throw explainFault(fault, folder)
  }
  if (other) {
    throw new UserError(`Another Forecourt (process ${other.pid}) already uses the data folder ${folder}.`)
  }
  return { release: () => release(path, mine) }
}

export function lockHolder(dataDir: string): number | undefined {
  const holder = read(join(resolve(dataDir), 'forecourt.lock'))
  return holder !== undefined && isRunning(holder) ? holder.pid : undefined
}

/**
 * Undefined if this process now holds the lock; else the live process that holds or replaces it. Who replaces a stale
 * lock first takes a second lock, named after the stale one, and checks that the stale one is still there: otherwise
 * two processes could each remove the new lock of the other.
 */
function claim(path: string, mine: Holder): Holder | undefined {
  for (;;) {
    if (create(path, mine)) return undefined
    const holder = read(path)
    if (!holder) continue
    if (isRunning(holder)) return holder
    const guard = `${path}.${holder.nonce}`
    const rival = claim(guard, mine)
    if (rival) return rival
    try {
      if (read(path)?.nonce !== holder.nonce) continue
      withDraft(path, mine, (draft) => renameSync(draft, path))
      return undefined
    } finally {
      unlinkSync(guard)
    }
  }
}

/** False if the file exists. It appears with its content, so that no process reads half a lock. */
function create(path: string, mine: Holder): boolean {
  try {
    withDraft(path, mine, (draft) => linkSync(draft, path))
    return true
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw fault
  }
}

function withDraft(path: string, mine: Holder, use: (draft: string) => void): void {
  const draft = `${path}.${mine.nonce}.new`
  writeFileSync(draft, JSON.stringify(mine))
  try {
    use(draft)
  } finally {
    ignoreMissing(() => unlinkSync(draft))
  }
}

function read(path: string): Holder | undefined {
  const text = ignoreMissing(() => readFileSync(path, 'utf8'))
  if (text === undefined) return undefined
  try {
    const { pid, started, nonce } = JSON.parse(text)
    if (Number.isInteger(pid) && typeof started === 'string' && /^[0-9a-f]+$/.test(nonce))
      return { pid, started, nonce }
  } catch {}
  // Only a power failure leaves a lock without content, and it leaves no holder either.
  return { pid: 0, started: '', nonce: 'damaged' }
}

function release(path: string, mine: Holder): void {
  if (read(path)?.nonce === mine.nonce) ignoreMissing(() => unlinkSync(path))
}

function thisProcess(): ProcessId {
  const found = findProcess(process.pid)
  if (!found) throw new UserError('Can’t lock the data folder: the start time of this process can’t be read.')
  return found
}

function ignoreMissing<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}
