import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProcessId {
  pid: number
  /** Distinguishes the process from a later one with the same number. Opaque. */
  started: string
}

/** Undefined also for a zombie. */
export function findProcess(pid: number): ProcessId | undefined {
  const started = process.platform === 'linux' ? startedByProc(pid) : startedByPs(pid)
  return started === undefined ? undefined : { pid, started }
}

export function isRunning(known: ProcessId): boolean {
  return findProcess(known.pid)?.started === known.started
}

export async function goneWithin(known: ProcessId, milliseconds: number): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (isRunning(known)) {
    if (performance.now() > end) return false
    await sleep(10)
  }
  return true
}

export function signal(known: ProcessId, name: NodeJS.Signals): void {
  if (!isRunning(known)) return
  try {
    process.kill(known.pid, name)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ESRCH') throw fault
  }
}

/** initdb, the server, and its children even when it is dead. */
export function postgresProcessesIn(folder: string): ProcessId[] {
  // Without /proc a folder's processes cannot be found; there, children end with their postmaster by themselves.
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, folder))
    .flatMap((pid) => findProcess(pid) ?? [])
}

/** And not another process with the same number. */
export function isPostgresIn(pid: number, folder: string): boolean {
  if (process.platform === 'linux') return worksIn(pid, folder)
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  return /postgres/.test(stdout) && stdout.includes(folder)
}

/** PostgreSQL shows it in the titles of all processes that serve this folder. */
export function serverName(folder: string): string {
  return `forecourt-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
}

function worksIn(pid: number, folder: string): boolean {
  try {
    // The folder's owner must own the process too, because this process may signal it.
    if (!['postgres', 'initdb'].includes(readFileSync(`/proc/${pid}/comm`, 'utf8').trim())) return false
    if (statSync(`/proc/${pid}`).uid !== statSync(folder).uid) return false
    return currentFolder(pid) === folder || titleNames(pid, folder)
  } catch {
    return false
  }
}

/** PostgreSQL's processes live in their data folder, wherever it was moved to. */
function currentFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // Root in a container commonly may not look at other users' processes so closely.
    return undefined
  }
}

function titleNames(pid: number, folder: string): boolean {
  const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return title.includes(folder) || (title[0] ?? '').startsWith(`postgres: ${serverName(folder)}:`)
}

/** In ticks since the boot, with the boot's ID, because ticks repeat after a reboot. */
function startedByProc(pid: number): string | undefined {
  try {
    // The program's name, the second field, may itself contain spaces and parentheses.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [state, ticks] = [fields[0], fields[19]]
    if (!ticks || state === 'Z' || state === 'X') return undefined
    return `${bootId()}/${ticks}`
  } catch {
    return undefined
  }
}

let knownBootId: string | undefined

// Some sandboxes have no boot ID; then the ticks alone must do.
function bootId(): string {
  try {
    knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    knownBootId = 'unknown'
  }
  return knownBootId
}

function startedByPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
  const [state, ...started] = stdout.trim().split(/\s+/)
  return started.length > 0 && !state?.startsWith('Z') ? started.join(' ') : undefined
}
