import { statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { readRecord } from '../embedded/record.ts'

/** `doctor`, the overview, the service page and the alert rules judge by these (`test/monitoring.test.ts`). */
export const diskBounds = {
  /** Below this, the database will soon take no writes. */
  leastFreeBytes: 500_000_000,
  littleFreeBytes: 5_000_000_000,
  /** A disk that will be full sooner is a warning. */
  fewDays: 30,
} as const

export interface DiskSpace {
  freeBytes: number
  sizeBytes: number
}

export type DiskJudgement = 'diskOk' | 'diskFull' | 'diskFullSoon' | 'diskLittle'

export function judgeDisk(
  { freeBytes }: DiskSpace,
  bytesPerDay: number | null,
): { code: DiskJudgement; days: number | null } {
  const days = bytesPerDay !== null && bytesPerDay > 0 ? Math.floor(freeBytes / bytesPerDay) : null
  if (freeBytes < diskBounds.leastFreeBytes) return { code: 'diskFull', days }
  if (days !== null && days < diskBounds.fewDays) return { code: 'diskFullSoon', days }
  if (freeBytes < diskBounds.littleFreeBytes) return { code: 'diskLittle', days }
  return { code: 'diskOk', days }
}

/** A database elsewhere has its own disk: the service then sees that of its data folder. */
export const diskOwner = ({ databaseUrl }: Pick<Config, 'databaseUrl'>) =>
  databaseUrl === undefined ? 'database' : 'data_folder'

/** The folder is found once, when this is called. */
export function diskReader({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): () => Promise<DiskSpace> {
  const folder = (databaseUrl === undefined && readRecord(dataDir)?.cluster) || dataDir
  return async () => {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  }
}
