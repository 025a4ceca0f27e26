import { isBackupLate } from '../backup/rules.ts'
import type { LastBackups } from '../backup/store.ts'
import type { Config } from '../config.ts'
import type { DatabaseHealth } from '../database/health.ts'
import { addressesOf } from '../database/open.ts'
import { connectionsOfProcess } from '../database/pools.ts'
import type { FindingCode } from '../vocabulary/findings.ts'
import { showMoment } from '../vocabulary/moments.ts'
import type { FindingRecord } from './contract.ts'
import { type DiskSpace, diskBounds, judgeDisk } from './disk.ts'

// Codes with values, which `forecourt doctor` and the console turn into sentences.

/** The alert rule has the same number. */
const certificateDays = 14
const clocksApartMs = 1_000

export interface Finding {
  code: FindingCode
  status: 'ok' | 'warn' | 'fail'
  values: Record<string, string | number | null>
}

export const ok = (code: FindingCode, values: Finding['values'] = {}): Finding => ({ code, status: 'ok', values })
export const warn = (code: FindingCode, values: Finding['values'] = {}): Finding => ({ code, status: 'warn', values })
export const fail = (code: FindingCode, values: Finding['values'] = {}): Finding => ({ code, status: 'fail', values })

/** Leaves out values that are null. */
export function showFinding({
  code,
  status,
  values,
}: Omit<Finding, 'code'> & Pick<FindingRecord, 'code'>): FindingRecord {
  const given = Object.entries(values).filter(([, value]) => value !== null)
  return { code, status, values: given.map(([name, value]) => ({ name, value: String(value) })) }
}

export function judgeHealth(health: DatabaseHealth, config: Pick<Config, 'workers' | 'databaseUrl'>): Finding[] {
  const { version, roundTripMs, autovacuum } = health
  return [
    ok('database', { version, roundTripMs }),
    judgeDurability(health),
    ...(autovacuum ? [] : [warn('vacuumOff')]),
    judgeConnections(health, config),
    judgeReplication(health),
    judgeClock(health),
  ]
}

export function judgeConnections(
  { connectionLimit: limit, connectionsInUse: inUse }: DatabaseHealth,
  { workers, databaseUrl }: Pick<Config, 'workers' | 'databaseUrl'>,
): Finding {
  const hosts = databaseUrl === undefined ? 1 : addressesOf(databaseUrl).length
  // With several hosts, each process has one more connection to each, to ask whether it is the primary.
  const each = connectionsOfProcess + (hosts > 1 ? 1 : 0)
  const values = { inUse, limit, workers, each, needed: workers * each }
  return limit >= values.needed ? ok('connections', values) : warn('connectionsFew', values)
}

export function judgeDurability({ fsync, fullPageWrites, synchronousCommit }: DatabaseHealth): Finding {
  const off = [
    fsync ? undefined : 'fsync',
    fullPageWrites ? undefined : 'full_page_writes',
    synchronousCommit === 'off' ? 'synchronous_commit' : undefined,
  ].filter((setting) => setting !== undefined)
  return off.length > 0 ? fail('durabilityOff', { settings: off.join(', ') }) : ok('durability', { synchronousCommit })
}

export function judgeReplication({ synchronousStandbys, standbys, synchronousNow }: DatabaseHealth): Finding {
  if (synchronousStandbys !== null && synchronousNow === 0)
    return fail('replicationLost', { names: synchronousStandbys })
  if (standbys === 0) return ok('replicationNone')
  if (synchronousNow === null) return ok('replicationHidden', { standbys })
  return ok('replication', { standbys, synchronous: synchronousNow })
}

export function judgeClock({ clockAheadMs, roundTripMs }: DatabaseHealth): Finding {
  const apart = Math.max(0, Math.abs(clockAheadMs) - roundTripMs)
  if (apart <= clocksApartMs) return ok('clock')
  return warn(clockAheadMs > 0 ? 'clockAhead' : 'clockBehind', { seconds: (apart / 1000).toFixed(1) })
}

/** The disk of a database elsewhere cannot be seen from here. */
export function judgeSpace(space: DiskSpace | undefined, bytesPerDay: number | null): Finding {
  if (space === undefined) return ok('diskElsewhere')
  const { code, days } = judgeDisk(space, bytesPerDay)
  const values = { freeBytes: space.freeBytes, sizeBytes: space.sizeBytes, days }
  switch (code) {
    case 'diskOk':
      return ok('disk', values)
    case 'diskFull':
      return fail(code, { ...values, boundBytes: diskBounds.leastFreeBytes })
    case 'diskLittle':
      return warn(code, { ...values, boundBytes: diskBounds.littleFreeBytes })
    default:
      return warn(code, values)
  }
}

/** Only `forecourt backup` can copy the service's own database. One elsewhere may have backups that leave no record. */
export function judgeBackups(
  last: LastBackups | undefined,
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  show = showMoment,
): Finding {
  if (last === undefined) return databaseUrl === undefined ? warn('backupMissing') : ok('backupNone')
  const { takenAt, failedAt, failure, bytes, isVerified } = last
  const values = {
    takenAt: takenAt && show(takenAt),
    bytes,
    isVerified: isVerified === null ? null : `${isVerified}`,
  }
  if (failedAt !== null) return fail('backupFailed', { ...values, failedAt: show(failedAt), failure })
  return isBackupLate(takenAt) ? warn('backupLate', values) : ok('backup', values)
}

/** What a failed backup says may name folders and hosts: it is for admins alone. */
export const withoutFailure = (finding: Finding): Finding => ({
  ...finding,
  values: { ...finding.values, failure: null },
})

/** An event that waits longer for its first attempt means that the sender is behind. */
const longLagSeconds = 60

export function judgeCallbacks(
  now: 'on' | 'paused',
  { on, held, stopped }: Record<'on' | 'held' | 'stopped', number>,
  dead: number,
  lagSeconds = 0,
): Finding[] {
  if (now === 'paused') return [warn('callbacksPaused')]
  const faults = [
    ...(held + stopped > 0 ? [warn('callbacksFailing', { held, stopped })] : []),
    ...(lagSeconds > longLagSeconds ? [warn('callbacksLate', { seconds: Math.round(lagSeconds) })] : []),
    ...(dead > 0 ? [warn('callbacksDead', { count: dead })] : []),
  ]
  return faults.length > 0 ? faults : [ok('callbacks', { count: on })]
}

export interface Certificate {
  host: string
  /** Null if it could not be read. */
  endsAt: Date | null
}

export function judgeCertificate({ host, endsAt }: Certificate, show = showMoment): Finding {
  if (endsAt === null) return ok('certificateUnknown', { host })
  const days = Math.floor((endsAt.getTime() - Date.now()) / 86_400_000)
  const values = { host, days: Math.max(0, days), endsAt: show(endsAt) }
  if (days < 0) return fail('certificateEnded', values)
  return days < certificateDays ? warn('certificateEnds', values) : ok('certificate', values)
}
