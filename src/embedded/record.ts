import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { UserError } from '../runtime/user-error.ts'

/** The content of `<dataDir>/embedded.json`. */
export interface EmbeddedRecord {
  /** In the file relative, if it lies in the data folder, so that a project can be moved. */
  cluster: string
  socketDir: string
  /** Only part of the socket's file name: the server does not listen on the network. */
  port: number
  /** The owner of the schema, and the cluster's superuser. */
  user: string
  password: string
  /** No superuser: it has only the rights that `grantService` gives. */
  serviceUser: string
  servicePassword: string
  /** The first start has finished: a missing cluster has been lost. If not, the next start makes a new one. */
  complete: boolean
}

export function newRecord(cluster: string): EmbeddedRecord {
  const newPassword = () => randomBytes(32).toString('base64url')
  return {
    cluster,
    socketDir: '',
    port: 5432,
    user: 'forecourt',
    password: newPassword(),
    serviceUser: 'forecourt_service',
    servicePassword: newPassword(),
    complete: false,
  }
}

export function readRecord(dataDir: string): EmbeddedRecord | undefined {
  const path = recordPath(dataDir)
  if (!existsSync(path)) return undefined
  try {
    const { cluster, port, user, password, serviceUser, servicePassword, ...rest } = JSON.parse(
      readFileSync(path, 'utf8'),
    )
    if (cluster && port && user && password && serviceUser && servicePassword) {
      return { ...rest, cluster: resolve(dataDir, cluster), port, user, password, serviceUser, servicePassword }
    }
  } catch (fault) {
    if (!(fault instanceof SyntaxError)) throw fault
  }
  throw new UserError(`${path} is damaged: put a good copy back, because the database's password is in it.`)
}

/** Writes the record as a whole and durably: it is the only copy of the password. */
export function writeRecord(dataDir: string, record: EmbeddedRecord): void {
  const inside = relative(dataDir, record.cluster)
  const cluster = inside.startsWith('..') || isAbsolute(inside) ? record.cluster : inside
  const path = recordPath(dataDir)
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify({ ...record, cluster }, null, 2)}\n`, { mode: 0o600 })
  sync(draft)
  renameSync(draft, path)
  sync(dataDir)
}

export function recordPath(dataDir: string): string {
  return join(dataDir, 'embedded.json')
}

export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
