import type { Row } from 'postgres'
import { findOperatorAccess, isLivingAt } from '../../../callers/store.ts'
import { lockApplication } from '../../../database/application-lock.ts'
import type { Statements } from '../../../database/open.ts'
import type { RefusalName } from '../../../vocabulary/refusals.ts'
import { type Admission, rolesOf } from '../../../vocabulary/roles.ts'
import { applicationsOf, type Job } from '../store.ts'

export async function lockApplicationsOf(tx: Statements, job: Job): Promise<void> {
  for (const appId of applicationsOf(job)) await lockApplication(tx, appId)
}

/**
 * Returns why the caller may no longer write, or undefined. Needs the locks of the job's applications. `admission` is
 * the operation on one row. A token or session that expires doesn't stop its jobs.
 */
export async function findAccessLoss(tx: Statements, job: Job, admission: Admission): Promise<RefusalName | undefined> {
  const [given] = await tx`
    select token_hash, token_until, token_generation, operator_id, operator_key_id, session_id, session_until
    from import where id = ${job.id}`
  if (given === undefined) return undefined
  return given.token_hash === null ? lossOfOperator(tx, given, job.appId, admission) : lossOfToken(tx, given, job.appId)
}

/** Operators may still write for a frozen application. */
async function lossOfOperator(
  tx: Statements,
  given: Row,
  appId: string | null,
  admission: Admission,
): Promise<RefusalName | undefined> {
  if (appId !== null) {
    const [found] = await tx`select 1 from application where app_id = ${appId}`
    if (found === undefined) return 'applicationNotFound'
  }
  const access = await findOperatorAccess(tx, given.operator_id, given.operator_key_id)
  if (access === undefined || (await isSessionEnded(tx, given))) return 'tokenInvalid'
  const mayWrite = rolesOf(admission).includes(access.role)
  const isOwn = access.applications === null || (appId !== null && access.applications.has(appId))
  return mayWrite && isOwn ? undefined : 'notPermitted'
}

/** Tells whether the session was ended; expiry stops nothing. */
async function isSessionEnded(tx: Statements, { session_id, session_until }: Row): Promise<boolean> {
  if (session_id === null) return false
  const [row] = await tx`
    select ${session_until}::timestamptz > clock_timestamp()
      and not exists (select 1 from operator_session where id = ${session_id}) as is_ended`
  return row?.is_ended === true
}

async function lossOfToken(tx: Statements, given: Row, appId: string | null): Promise<RefusalName | undefined> {
  const [found] = await tx`
    select a.status, a.token_generation as generation, ${given.token_until}::timestamptz <= clock_timestamp() as is_over,
      exists (select 1 from access_token t
        where t.token_hash = ${given.token_hash} and ${tx.unsafe(isLivingAt('clock_timestamp()'))}) as is_living
    from application a where a.app_id = ${appId}`
  if (found === undefined) return 'applicationNotFound'
  if (found.status === 2) return 'applicationFrozen'
  const hasAccess = found.is_living || (found.is_over && found.generation === given.token_generation)
  return hasAccess ? undefined : 'tokenInvalid'
}
