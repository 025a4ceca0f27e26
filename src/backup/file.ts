import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { UserError } from '../runtime/user-error.ts'

/**
 * Gets its name once all of it is on the disk; until then it is `<name>.partial`, for its owner alone. Of a link, the
 * target is replaced. Devices, pipes and sockets are refused: a rename would replace them.
 */
export class PartialFile {
  private readonly path: string
  /** What it leads to. */
  private readonly target: string
  private readonly partial: string
  private readonly file: FileHandle
  private readonly inode: number

  private constructor(path: string, target: string, partial: string, file: FileHandle, inode: number) {
    this.path = path
    this.target = target
    this.partial = partial
    this.file = file
    this.inode = inode
  }

  static async create(path: string): Promise<PartialFile> {
    return explained(path, async () => {
      requireFile(path, await stat(path).catch(() => undefined))
      const target = await targetOf(path)
      const partial = `${target}.partial`
      // A partial file of another process: its mode could differ, and that process may still write to it.
      const left = await lstat(partial).catch(() => undefined)
      if (!left?.isSymbolicLink()) requireFile(partial, left)
      await rm(partial, { force: true })
      const file = await open(partial, 'wx', 0o600)
      return new PartialFile(path, target, partial, file, (await file.stat()).ino)
    })
  }

  write(piece: Buffer): Promise<void> {
    return explained(this.path, async () => {
      for (let written = 0; written < piece.length; ) {
        written += (await this.file.write(piece, written)).bytesWritten
      }
    })
  }

  /** Before the file gets its name. */
  async read<Answer>(run: (file: FileHandle) => Promise<Answer>): Promise<Answer> {
    return explained(this.path, async () => {
      await this.file.sync()
      const file = await open(this.partial, 'r')
      try {
        return await run(file)
      } finally {
        await file.close()
      }
    })
  }

  /** What had this name is replaced. */
  finish(): Promise<void> {
    return explained(this.path, async () => {
      await this.file.sync()
      if (!(await this.isOurs()))
        throw new UserError(`Another command is writing ${this.path}: give each its own file.`)
      requireFile(this.path, await lstat(this.target).catch(() => undefined))
      await this.file.close()
      await rename(this.partial, this.target)
      const folder = await open(dirname(this.target), constants.O_RDONLY)
      await folder.sync()
      await folder.close()
    })
  }

  /** Does nothing once the file has its name. Another command's partial file is left alone. */
  async abandon(): Promise<void> {
    // While the file is open, no other can have its inode.
    if (await this.isOurs()) await rm(this.partial, { force: true }).catch(() => {})
    await this.file.close().catch(() => {})
  }

  private async isOurs(): Promise<boolean> {
    return (await lstat(this.partial).catch(() => undefined))?.ino === this.inode
  }
}

/** Over all links; the file need not exist. */
async function targetOf(path: string): Promise<string> {
  for (let target = resolve(path), links = 0; links < mostLinks; links++) {
    const there = await lstat(target).catch(() => undefined)
    if (!there?.isSymbolicLink()) return there === undefined ? target : await realpath(target)
    target = resolve(dirname(target), await readlink(target))
  }
  throw new UserError(`${path} leads through too many links.`)
}

/** As many as Linux follows. */
const mostLinks = 40

/** A rename would replace what is no file. Throws `UserError`. */
function requireFile(path: string, there: Stats | undefined): void {
  if (there === undefined || there.isFile()) return
  if (there.isDirectory()) throw new UserError(`${path} is a folder. Specify a file in it.`)
  throw new UserError(
    `${path} is not a file but a device, a pipe or a socket: write to standard output (\`-\`) instead.`,
  )
}

export function openBackup(path: string): Promise<FileHandle> {
  return explained(path, async () => {
    const file = await open(path, 'r')
    if ((await file.stat()).isFile()) return file
    await file.close()
    throw new UserError(`${path} is not a file; \`-\` reads a backup from standard input.`)
  })
}

/** To a file without a name: a backup is verified as a whole before any of it is restored. */
export function spool(input: Readable): Promise<FileHandle> {
  const folder = tmpdir()
  const path = join(folder, `forecourt-${randomBytes(8).toString('hex')}`)
  return explained(path, async () => {
    await mkdir(folder, { recursive: true })
    const file = await open(path, 'wx+', 0o600)
    await rm(path)
    for await (const piece of input) {
      for (let written = 0; written < piece.length; ) written += (await file.write(piece, written)).bytesWritten
    }
    return file
  })
}

/** Turns a fault of the path into one clear sentence. */
export async function explained<Answer>(path: string, run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run()
  } catch (fault) {
    const { code, syscall, message } = fault as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined) throw fault
    throw new UserError(`${path} ${faultWords[code] ?? `cannot be used: ${message}`}.`)
  }
}

const faultWords: Record<string, string> = {
  ENOENT: 'does not exist, or its folder does not exist',
  EACCES: 'cannot be accessed: permission denied',
  EPERM: 'cannot be accessed: permission denied',
  ENOSPC: 'does not fit: the disk is full',
  EDQUOT: 'does not fit: the quota is used up',
  EROFS: 'cannot be written: the disk is read-only',
  EISDIR: 'is a folder; specify a file in it',
  ENOTDIR: 'cannot be created: a part of its path is not a folder',
  EFBIG: 'is larger than its file system allows',
}
