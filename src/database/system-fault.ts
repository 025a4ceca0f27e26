import { UserError } from '../runtime/user-error.ts'

interface SystemFault {
  code?: string
  path?: string
  syscall?: string
  message: string
}

/** Explains a system error (`E…`, of files or starting processes) in one sentence. Returns others unchanged. */
export function explainFault(fault: unknown, folder: string): unknown {
  if (fault instanceof UserError || !(fault instanceof Error)) return fault
  const { code, path, syscall, message }: SystemFault = fault
  if (!code || !/^E[A-Z0-9]+$/.test(code)) return fault
  const place = path ?? folder
  if (syscall?.startsWith('spawn'))
    return new UserError(
      `Can’t run the embedded PostgreSQL on this system: ${message}. Set DATABASE_URL to use another PostgreSQL.`,
    )
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(place)
  if (code === 'EROFS') return new UserError(`Can’t write to ${place}: the disk is read-only.`)
  if (code === 'EACCES' || code === 'EPERM') return new UserError(`Forecourt has no permission to use ${place}.`)
  if (code === 'ENOTDIR' || code === 'EEXIST') return new UserError(`The data folder ${folder} is not a folder.`)
  return new UserError(`Can’t use the data folder ${folder}: ${message}.`)
}

export function diskFull(place: string): UserError {
  return new UserError(`The disk that holds ${place} is full.`)
}
