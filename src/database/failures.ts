import { type Refusal, unavailable } from '../vocabulary/refusals.ts'

interface DatabaseError {
  name?: string
  code?: string
  /** The server's function that raised the error. */
  routine?: string
}

/** Classes that waiting does not mend: a wrong password or user, and a database that does not exist. */
const lastingClasses = ['28', '3D']
/** SQLSTATE classes that say "not now": connection, resources, operator intervention, system error. */
const awayClasses = new Set(['08', '53', '57', '58', ...lastingClasses])
/** A certificate that does not fit. */
const certificateCodes = /^UNABLE_TO_|(^|_)CERT(_|$)/
/** The driver's own codes for a lost or missing connection. */
const connectionCodes = /^CONNECT(ION)?_/
/** Codes of the driver, the network and TLS that mean that there is no connection to a database. */
const driverCodes = /^(CONNECTION_|CONNECT_TIMEOUT|E[A-Z]+$|ERR_(TLS|SSL)_|UNABLE_TO_|([A-Z_]+_)?CERT(_|$))/

/** The functions in which Citus reports a lost node, or the loss of its own server, as an internal error. */
const nodeLost = new Set([
  ...['MarkRemoteTransactionFailed', 'ReportResultError', 'ReportCopyError'],
  ...['FinishConnectionIO', 'ProcessWaitEvents'],
])

/**
 * 50003 for errors that mean that the database is away, read-only or overloaded, or that it rolled the transaction back
 * because of others. Undefined for every other error.
 */
export function databaseRefusal(error: unknown): Refusal | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, routine } = error as DatabaseError
  if (typeof code !== 'string') return undefined
  if (!isStatementError(error)) return isOfConnection(error, code) ? unavailable() : undefined
  const isAway = awayClasses.has(code.slice(0, 2)) || code === '25006' || code.startsWith('40')
  const isNodeLost = code === 'XX000' && nodeLost.has(routine ?? '')
  return isAway || isNodeLost ? unavailable() : undefined
}

/** The kind of a database error: the class of its SQLSTATE, or "connection". Undefined for any other error. */
export function failureClass(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (isStatementError(error)) return (error as DatabaseError).code?.slice(0, 2)
  return databaseRefusal(error) === undefined ? undefined : 'connection'
}

/** Whether the database may recover from this error by itself. The other errors wait for an operator. */
export function mayPass(error: unknown): boolean {
  const { code = '' } = error as DatabaseError
  const isLasting = isStatementError(error) ? lastingClasses.includes(code.slice(0, 2)) : certificateCodes.test(code)
  return !isLasting && databaseRefusal(error) !== undefined
}

/** The database answered the statement with an error, so it has written nothing of it. */
function isStatementError(error: unknown): boolean {
  return (error as DatabaseError).name === 'PostgresError'
}

/** Whether the database rolled the transaction back because of others (a deadlock, say): a retry can succeed. */
export function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && (error as DatabaseError).code?.startsWith('40') === true
}

/** Whether the connection that the error came by is closed, or closes right after it. */
export function isConnectionLost(error: unknown): boolean {
  const code = (error as DatabaseError | undefined)?.code
  if (typeof code !== 'string') return false
  return isStatementError(error) ? /^(57P|08|25006)/.test(code) : isOfConnection(error as object, code)
}

/**
 * Whether a connection to the database failed. Codes like CONNECT_TIMEOUT come from the driver alone. Other codes come
 * from the file system too: such an error is the database's only if it has `query`, which the driver adds.
 */
function isOfConnection(error: object, code: string): boolean {
  return connectionCodes.test(code) || ('query' in error && driverCodes.test(code))
}

/** Whether a statement was ended because it waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03'
}
