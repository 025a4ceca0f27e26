import { findLastBackups } from '../backup/store.ts'
import type { Context } from '../context.ts'
import { lately } from '../runtime/cached.ts'
import { certificateReader } from './certificate.ts'
import { type DiskSpace, diskReader } from './disk.ts'
import { type Finding, judgeBackups, judgeCertificate, judgeSpace } from './findings.ts'
import { type DatabaseSize, readDatabaseSize } from './store.ts'

/** What a service depends on. Values are kept for a while before they are read again. */
export interface Surroundings {
  /** The embedded database's; undefined for a database elsewhere, and while the disk does not respond. */
  disk(): Promise<DiskSpace | undefined>
  /** Undefined while the database does not respond. */
  size(): Promise<DatabaseSize | undefined>
  findings(): Promise<Finding[]>
}

const freshMs = 500
/** A proxy that does not respond is waited for in the background. */
const certificateFreshMs = 600_000
const certificateMs = 500

export function surroundingsOf({ sql, config }: Pick<Context, 'sql' | 'config'>): Surroundings {
  const timeoutMs = Math.min(1_000, config.statementTimeoutMs / 2)
  const isOwn = config.databaseUrl === undefined
  const disk: Surroundings['disk'] = isOwn
    ? lately(diskReader(config), { freshMs, timeoutMs: freshMs })
    : async () => undefined
  const size = lately(() => readDatabaseSize(sql), { freshMs: 30_000, timeoutMs })
  const readCertificate = certificateReader(config)
  const certificate =
    readCertificate && lately(readCertificate, { freshMs: certificateFreshMs, timeoutMs: certificateMs })
  // An object, because no backup at all is different from no response.
  const backups = lately(async () => ({ last: await findLastBackups(sql) }), { freshMs, timeoutMs })
  return {
    disk,
    size,
    async findings() {
      const [space, known, shown, taken] = await Promise.all([disk(), size(), certificate?.(), backups()])
      return [
        ...(space === undefined && isOwn ? [] : [judgeSpace(space, known?.bytesPerDay ?? null)]),
        ...(taken === undefined ? [] : [judgeBackups(taken.last, config)]),
        ...(shown === undefined ? [] : [judgeCertificate(shown)]),
      ]
    },
  }
}
