import { findLastBackups } from '../backup/store.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { lately } from '../runtime/metrics.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import { certificateReader } from './certificate.ts'
import { type DiskSpace, diskReader } from './disk.ts'
import { type Finding, judgeBackups, judgeCertificate, judgeSpace } from './findings.ts'
import { type DatabaseSize, readDatabaseSize } from './store.ts'

interface Parts {
  sql: Sql
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'publicUrl' | 'statementTimeoutMs'>
  isDistributed: boolean
  showMoment: ShowMoment
}

/**
 * What a service depends on: disk, database size, backups and certificate. Every value is kept for a while before it is
 * read again.
 */
export interface Surroundings {
  /** The embedded database's disk; undefined for a database elsewhere, and while the disk does not answer. */
  disk(): Promise<DiskSpace | undefined>
  /** Undefined while the database does not answer. */
  size(): Promise<DatabaseSize | undefined>
  /** Findings about disk, backups and certificate, as far as these are known. */
  findings(): Promise<Finding[]>
}

const freshMs = 500
/** How long the certificate's date is kept; a proxy that does not respond is waited for in the background. */
const certificateFreshMs = 600_000
const certificateMs = 500

export function surroundingsOf({ sql, config, isDistributed, showMoment }: Parts): Surroundings {
  const timeoutMs = Math.min(1_000, config.statementTimeoutMs / 2)
  const isOwn = config.databaseUrl === undefined
  const disk: Surroundings['disk'] = isOwn
    ? lately(diskReader(config), { freshMs, timeoutMs: freshMs })
    : async () => undefined
  const size = lately(() => readDatabaseSize(sql, isDistributed), { freshMs: 30_000, timeoutMs })
  const readCertificate = certificateReader(config)
  const certificate =
    readCertificate && lately(readCertificate, { freshMs: certificateFreshMs, timeoutMs: certificateMs })
  // Whether there was a backup at all is known only when the database has answered.
  const backups = lately(async () => ({ last: await findLastBackups(sql) }), { freshMs, timeoutMs })
  return {
    disk,
    size,
    async findings() {
      const [space, known, shown, taken] = await Promise.all([disk(), size(), certificate?.(), backups()])
      return [
        ...(space === undefined && isOwn ? [] : [judgeSpace(space, known?.bytesPerDay ?? null)]),
        ...(taken === undefined ? [] : [judgeBackups(taken.last, config, showMoment)]),
        ...(shown === undefined ? [] : [judgeCertificate(shown, showMoment)]),
      ]
    },
  }
}
