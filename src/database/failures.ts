import { type Refusal, unavailable } from '../vocabulary/refusals.ts'

interface DatabaseError {
  name?: string
  code?: string
  /** The server's function that raised the error. */
  routine?: string
}

/** Waiting does not help: wrong password or user, missing database. */
const lastingClasses = ['28', '3D']
/** These SQLSTATE classes mean that it is away: connection, resources, operator intervention, system error. */
const awayClasses = new Set(['08', '53', '57', '58', ...lastingClasses])
const certificateCodes = /^UNABLE_TO_|(^|_)CERT(_|$)/
const connectionCodes = /^CONNECT(ION)?_/
/** These codes of the driver, the network and TLS mean that there is no connection. */
const driverCodes = /^(CONNECTION_|CONNECT_TIMEOUT|E[A-Z]+$|ERR_(TLS|SSL)_|UNABLE_TO_|([A-Z_]+_)?CERT(_|$))/

/** Citus reports a lost node, or the loss of its own server, as an internal error of these functions. */
const nodeLost = new Set([
  ...['MarkRemoteTransactionFailed', 'ReportResultError', 'ReportCopyError'],
  ...['FinishConnectionIO', 'ProcessWaitEvents'],
])

/** Returns 50003 if the database is away, read-only or overloaded, or rolled back because of other transactions. */
export function databaseRefusal(error: unknown): Refusal | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, routine } = error as DatabaseError
  if (typeof code !== 'string') return undefined
  if (!isStatementError(error)) return isOfConnection(error, code) ? unavailable() : undefined
  const isAway = awayClasses.has(code.slice(0, 2)) || code === '25006' || code.startsWith('40')
  const isNodeLost = code === 'XX000' && nodeLost.has(routine ?? '')
  return isAway || isNodeLost ? unavailable() : undefined
}

export function failureClass(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (isStatementError(error)) return (error as DatabaseError).code?.slice(0, 2)
  return databaseRefusal(error) === undefined ? undefined : 'connection'
}

/** Tells whether the database may recover by itself. Other errors wait for an operator. */
export function mayPass(error: unknown): boolean {
  const { code = '' } = error as DatabaseError
  const isLasting = isStatementError(error) ? lastingClasses.includes(code.slice(0, 2)) : certificateCodes.test(code)
  return !isLasting && databaseRefusal(error) !== undefined
}

/** Tells whether the database refused the statement, and so wrote nothing. */
function isStatementError(error: unknown): boolean {
  return (error as DatabaseError).name === 'PostgresError'
}

/** Tells whether the database rolled back because of other transactions (a deadlock, say): a retry can succeed. */
export function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && (error as DatabaseError).code?.startsWith('40') === true
}

/** Tells whether the error's connection is closed, or closes right after it. */
export function isConnectionLost(error: unknown): boolean {
  const code = (error as DatabaseError | undefined)?.code
  if (typeof code !== 'string') return false
  return isStatementError(error) ? /^(57P|08|25006)/.test(code) : isOfConnection(error as object, code)
}

/**
 * Tells whether a connection failed. Some codes also come from the file system; those need `query`, which the driver
 * adds.
 */
function isOfConnection(error: object, code: string): boolean {
  return connectionCodes.test(code) || ('query' in error && driverCodes.test(code))
}

export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03'
}
