import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { diskFull } from '../database/system-fault.ts'
import { UserError } from '../runtime/user-error.ts'
import { give, type Place } from './cluster-folder.ts'
import { goneWithin, postgresProcessesIn, signal } from './processes.ts'
import { sync } from './record.ts'
import type { ServerUser } from './user.ts'

/** Made under another name until it is on the disk: a folder with the cluster's name is never deleted. */
export async function makeCluster(place: Place, binFolder: string): Promise<void> {
  const making = `${makingPrefix(place.cluster)}${randomBytes(8).toString('hex')}`
  const passwordFile = join(making, 'password')
  const draft = join(making, 'cluster')
  try {
    mkdirSync(making, { mode: 0o700 })
    writeFileSync(passwordFile, place.record.password, { mode: 0o600 })
    give(passwordFile, place.user)
    give(making, place.user)
    await runInitdb(join(binFolder, 'initdb'), draft, passwordFile, place)
    renameSync(draft, place.cluster)
    sync(dirname(place.cluster))
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

export async function removeHalfMade(cluster: string): Promise<void> {
  const parent = dirname(cluster)
  if (!existsSync(parent)) return
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(basename(makingPrefix(cluster))))) {
    const making = join(realpathSync(parent), name)
    const draft = join(making, 'cluster')
    for (const folder of [making, draft]) await killProcessesIn(folder)
    await removeFolder(making)
  }
}

/** Tries again while a process that is about to end still writes there. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 50 && existsSync(folder); attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw fault
    }
    if (existsSync(folder)) await sleep(20)
  }
}

/** Ends the processes of a server that is dead; most are about to end by themselves. */
export async function endOrphansIn(cluster: string): Promise<void> {
  const orphans = postgresProcessesIn(cluster)
  await Promise.all(orphans.map((orphan) => goneWithin(orphan, 300)))
  await killProcessesIn(cluster)
}

/** Uncommitted work is lost, as when a server is killed. */
async function killProcessesIn(folder: string): Promise<void> {
  const left = postgresProcessesIn(folder)
  for (const one of left) signal(one, 'SIGKILL')
  await Promise.all(left.map((one) => goneWithin(one, 2000)))
}

/** This server could not read another major version. */
export function requireSameMajor({ cluster }: Place, version: string): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  const ours = String(Number.parseInt(version, 10))
  if (found === ours) return
  throw new UserError(
    `The database in ${cluster} was created by PostgreSQL ${found}, but this version of Forecourt includes PostgreSQL ${ours}: ` +
      'take a backup with the earlier version (forecourt backup FILE) and restore it into a new data folder with this one (forecourt restore FILE).',
  )
}

/** In a folder that the user can enter, and without this process's environment. */
export function runAs(user: ServerUser | undefined) {
  return {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    // Both Node and Bun also drop the supplementary groups when they change the user, so no helper program is needed.
    ...(user && { uid: user.uid, gid: user.gid }),
  }
}

async function runInitdb(initdb: string, draft: string, passwordFile: string, place: Place): Promise<void> {
  const child = spawn(
    initdb,
    [
      ...['-D', draft, '--username', place.record.user, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      // The order of code points, which in UTF-8 is that of bytes, on every machine and in every version.
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...['--data-checksums', '--no-instructions'],
    ],
    { ...runAs(place.user), cwd: dirname(draft), stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code === 0) return
  if (/No space left|quota exceeded/i.test(said)) throw diskFull(dirname(place.cluster))
  const reason = said.match(/(?:error|FATAL|PANIC):\s+(.+)/)?.[1] ?? said.trim().split('\n')[0]
  throw new UserError(
    `Can’t create the embedded database in ${place.cluster}: ${reason || `initdb ended with ${code}`}.`,
  )
}

function makingPrefix(cluster: string): string {
  return `${cluster}.making-`
}
