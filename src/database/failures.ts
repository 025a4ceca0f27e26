import { type Refusal, unavailable } from '../vocabulary/refusals.ts'

interface DatabaseError {
  name?: string
  code?: string
  /** The server's function that told it. */
  routine?: string
}

/** A wrong password or user, and a database that is not there. */
const lastingClasses = ['28', '3D']
/** SQLSTATE classes that say "not now": connection, resources, operator intervention, system error. */
const awayClasses = new Set(['08', '53', '57', '58', ...lastingClasses])
/** A certificate that does not fit. */
const certificateCodes = /^UNABLE_TO_|(^|_)CERT(_|$)/
/** The driver's own words for a connection that is not there. */
const connectionCodes = /^CONNECT(ION)?_/
/** Of the driver, of the network, and of TLS: a certificate that does not fit leads to no database. */
const driverCodes = /^(CONNECTION_|CONNECT_TIMEOUT|E[A-Z]+$|ERR_(TLS|SSL)_|UNABLE_TO_|([A-Z_]+_)?CERT(_|$))/

/** By which Citus tells, as an internal error, that a node, or its own server, has gone away within a transaction. */
const nodeLost = new Set([
  ...['MarkRemoteTransactionFailed', 'ReportResultError', 'ReportCopyError'],
  ...['FinishConnectionIO', 'ProcessWaitEvents'],
])

/** 50003 for errors that mean that the database is away or overloaded; undefined for every other error. */
export function databaseRefusal(error: unknown): Refusal | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, routine } = error as DatabaseError
  if (typeof code !== 'string') return undefined
  if (!isStatementError(error)) return isOfConnection(error, code) ? unavailable() : undefined
  const isAway = awayClasses.has(code.slice(0, 2)) || code === '25006' || code.startsWith('40')
  const isNodeLost = code === 'XX000' && nodeLost.has(routine ?? '')
  return isAway || isNodeLost ? unavailable() : undefined
}

/** Which kind of error of the database it is: the class of its SQLSTATE, or "connection"; undefined for any other error. */
export function failureClass(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (isStatementError(error)) return (error as DatabaseError).code?.slice(0, 2)
  return databaseRefusal(error) === undefined ? undefined : 'connection'
}

/** Whether a database that cannot be used now may be used soon; somebody must do something about the others first. */
export function mayPass(error: unknown): boolean {
  const { code = '' } = error as DatabaseError
  const isLasting = isStatementError(error) ? lastingClasses.includes(code.slice(0, 2)) : certificateCodes.test(code)
  return !isLasting && databaseRefusal(error) !== undefined
}

/** The database answered the statement with an error, so nothing of it was kept. */
function isStatementError(error: unknown): boolean {
  return (error as DatabaseError).name === 'PostgresError'
}

/** The database undid the transaction because of its neighbours (a deadlock, say): the same again can succeed. */
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
 * Whether a connection to the database failed. The driver adds the query that it ended to such an error; a code alone
 * tells nothing, for the file system has the same ones.
 */
function isOfConnection(error: object, code: string): boolean {
  return connectionCodes.test(code) || ('query' in error && driverCodes.test(code))
}
