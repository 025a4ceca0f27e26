import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UserError } from '../runtime/user-error.ts'

/** PostgreSQL refuses to run as root. */
export interface ServerUser {
  name: string
  uid: number
  gid: number
}

/** `postgres` if the system has that user, else `nobody`; undefined unless the process runs as root. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = systemUsers()
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody')
  if (!user) {
    throw new UserError(
      'PostgreSQL can’t run as root, and this system has no user postgres or nobody: ' +
        'start Forecourt as an ordinary user, or set DATABASE_URL.',
    )
  }
  return user
}

/** The owner of its folder. */
export function clusterUser(cluster: string): ServerUser | undefined {
  const { uid, gid } = statSync(cluster)
  const own = process.getuid?.()
  const name = systemUsers().find((user) => user.uid === uid)?.name ?? `number ${uid}`
  if (own !== 0 && uid !== own) {
    throw new UserError(
      `The database in ${cluster} belongs to the user ${name}: start Forecourt as root or as ${name}.`,
    )
  }
  if (own === 0 && uid === 0) {
    const { name: needed } = serverUser() ?? { name: 'nobody' }
    throw new UserError(`PostgreSQL can’t run as root. Change the owner of ${cluster}: chown -R ${needed}.`)
  }
  return own === 0 ? { name, uid, gid } : undefined
}

/** Returns the first folder on the way to `path` that the user cannot enter; undefined if there is none. */
export function closedFolder(path: string, user: ServerUser): string | undefined {
  const real = realpathSync(path)
  return withAncestors(real).find((folder) => !allows(statSync(folder), user, execute))
}

export const read = 4
export const execute = 1

/** By the mode bits. The first class that the user belongs to decides, as in the kernel. */
export function allows(stats: Stats, user: ServerUser, wanted: number): boolean {
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0
  return ((stats.mode >> shift) & wanted) === wanted
}

function withAncestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...withAncestors(parent), path]
}

function systemUsers(): ServerUser[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid), gid: Number(gid) }))
}
