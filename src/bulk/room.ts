import { statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { readUsed, requireRoomIn } from '../database/usage.ts'
import { readRecord } from '../embedded/record.ts'
import { type Reason, Refusal } from '../vocabulary/refusals.ts'
import { readKeptBytes } from './jobs/store.ts'

/** Files must leave this share of the embedded database's disk free. */
const freeShare = 0.1
const retryAfterSeconds = 60

/**
 * Refuses a job with 10007 when the application's files, or all that it stored, reach their limit, or the embedded
 * database's disk is nearly full. Another database's disk is unknown here.
 */
export function roomFor(
  sql: Sql,
  { databaseUrl, dataDir, fileBytes }: Pick<Config, 'databaseUrl' | 'dataDir' | 'fileBytes'>,
): (appId: string | null) => Promise<void> {
  return async (appId) => {
    if (databaseUrl === undefined && (await isDiskNearlyFull(readRecord(dataDir)?.cluster ?? dataDir))) {
      throw noRoom({ en: 'the disk is nearly full', zh: '磁盘空间不足' })
    }
    const keptBytes = await readKeptBytes(sql, appId)
    if (keptBytes < fileBytes) {
      if (appId !== null) requireRoomIn(await readUsed(sql, appId), keptBytes, fileBytes)
      return
    }
    const held = `${fileBytes} bytes (FORECOURT_FILE_BYTES)`
    throw noRoom({
      en: `the storage limit is reached: waiting files and results use ${held}; results are deleted after 7 days`,
      zh: `等待处理的文件和保留的结果已达 ${fileBytes} 字节（FORECOURT_FILE_BYTES），7 天后删除`,
    })
  }
}

async function isDiskNearlyFull(folder: string): Promise<boolean> {
  try {
    const { bavail, blocks } = await statfs(folder)
    return bavail < blocks * freeShare
  } catch {
    return false
  }
}

function noRoom(reason: Reason): Refusal {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return new Refusal('tooManyRequests', { headers, errors: [{ field: 'body', reason }] })
}
