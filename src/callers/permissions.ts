import { lockApplication } from '../database/application-lock.ts'
import type { Statements } from '../database/open.ts'
import { fieldFault, invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { actorOf, type Caller } from './caller.ts'
import { requireApplicationExists } from './store.ts'

/** Returns the actor for the log. Throws 10003 unless the caller may act for the application. */
export function requireActingFor(caller: Caller, appId: string): string {
  if (!mayActFor(caller, appId)) throw new Refusal('notPermitted')
  return actorOf(caller)
}

function mayActFor(caller: Caller, appId: string): boolean {
  if (caller.kind === 'application') return caller.appId === appId
  return caller.applications === null || caller.applications.has(appId)
}

/**
 * Throws 10003 if the caller lost the named application or, without a name, any that it had. An incomplete result would
 * look complete.
 */
export function requireStillActingFor(before: Caller, now: Caller, named: string | null | undefined): void {
  if (before.kind === 'application' || now.kind === 'application' || now.applications === null) return
  const appId = given(named)
  if (appId !== null) requireActingFor(now, appId)
  else if (before.applications === null) throw new Refusal('notPermitted')
  else for (const each of before.applications) requireActingFor(now, each)
}

/** Returns the applications that a caller may see; null means all. */
export function visibleApplications(caller: Caller): readonly string[] | null {
  if (caller.kind === 'application') return [caller.appId]
  return caller.applications && [...caller.applications].sort()
}

/** Returns the named application, else the caller's own. Throws 10003, and 10001 for an operator who names none. */
export function applicationOf(caller: Caller, named: string | null | undefined): string {
  const appId = given(named)
  if (appId !== null) {
    requireActingFor(caller, appId)
    return appId
  }
  if (caller.kind === 'application') return caller.appId
  throw invalidRequest([noApplication])
}

export const noApplication = fieldFault('appId', 'is required of an operator', '运营方必须指定应用')

/** Returns an existing application as `applicationOf` does. Throws 10001, 10003 and 10004. */
export async function requireApplicationOf(
  sql: Statements,
  caller: Caller,
  named: string | null | undefined,
): Promise<string> {
  const appId = applicationOf(caller, named)
  // A caller's own application exists, since it has a token.
  if (caller.kind === 'operator') await requireApplicationExists(sql, appId)
  return appId
}

/** Returns a list's applications, by default all visible ones; null means all. Throws as `requireApplicationOf`. */
export async function requireApplicationsOf(
  sql: Statements,
  caller: Caller,
  named: string | null | undefined,
): Promise<readonly string[] | null> {
  return given(named) === null ? visibleApplications(caller) : [await requireApplicationOf(sql, caller, named)]
}

/** Locks an application for a change; `Pending.transaction` checks the access at its end. Throws 10004. */
export async function lockApplicationFor(tx: Statements, caller: Caller, appId: string): Promise<void> {
  await lockApplication(tx, appId)
  if (caller.kind === 'operator') await requireApplicationExists(tx, appId)
}
