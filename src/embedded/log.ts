import { closeSync, constants, fchownSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerUser } from './user.ts'

const largestLogBytes = 4_000_000

/** The cluster's user could put a link in its place, which root must not follow. */
export function openServerLog(cluster: string, user: ServerUser | undefined): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const file = openSync(serverLog(cluster), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  const { uid, nlink } = fstatSync(file)
  if (user && uid === 0 && nlink === 1) fchownSync(file, user.uid, user.gid)
  return file
}

/** The server appends to the file, so it continues at the new end. */
export function keepLogSmall(cluster: string, user: ServerUser | undefined): void {
  const file = openServerLog(cluster, user)
  try {
    const { size, nlink } = fstatSync(file)
    if (size > largestLogBytes && nlink === 1) ftruncateSync(file)
  } finally {
    closeSync(file)
  }
}

/** Why a server has ended: the last error line after the first `from` bytes of its log. */
export function lastComplaint(cluster: string, from: number): string | undefined {
  const lines = readFileSync(serverLog(cluster)).subarray(from).toString().split('\n')
  const complaint = lines.findLast((line) => /(?:FATAL|PANIC|ERROR):|error while loading/.test(line))
  return complaint?.replace(/^.*?(?:FATAL|PANIC|ERROR):\s+/, '')
}

function serverLog(cluster: string): string {
  return join(cluster, 'server.log')
}
