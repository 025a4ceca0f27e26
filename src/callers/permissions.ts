import { lockApplication } from '../database/application-lock.ts'
import type { Statements } from '../database/open.ts'
import { type FieldFault, invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { actorOf, type Caller } from './caller.ts'
import { requireApplicationExists } from './store.ts'

/** Throws 10003 unless the caller may act for the application. Returns the actor for the event log. */
export function requireActingFor(caller: Caller, appId: string): string {
  if (!mayActFor(caller, appId)) throw new Refusal('notPermitted')
  return actorOf(caller)
}

function mayActFor(caller: Caller, appId: string): boolean {
  if (caller.kind === 'application') return caller.appId === appId
  return caller.applications === null || caller.applications.has(appId)
}

/**
 * Throws 10003 if the caller has lost access to an application since the request began: to the one that the request
 * names, or, if it names none, to any that the caller had then. Otherwise an incomplete result would look complete.
 */
export function requireStillActingFor(before: Caller, now: Caller, named: string | null | undefined): void {
  if (before.kind === 'application' || now.kind === 'application' || now.applications === null) return
  const appId = given(named)
  if (appId !== null) requireActingFor(now, appId)
  else if (before.applications === null) throw new Refusal('notPermitted')
  else for (const each of before.applications) requireActingFor(now, each)
}

/** The applications that a caller may see; null for all of them. */
export function visibleApplications(caller: Caller): readonly string[] | null {
  if (caller.kind === 'application') return [caller.appId]
  return caller.applications && [...caller.applications].sort()
}

/**
 * The application that a request is about: the one that it names, else the caller's own. Throws 10003 when the caller
 * may not act for it, and 10001 for an operator who names none.
 */
export function applicationOf(caller: Caller, named: string | null | undefined): string {
  const appId = given(named)
  if (appId !== null) {
    requireActingFor(caller, appId)
    return appId
  }
  if (caller.kind === 'application') return caller.appId
  throw invalidRequest([noApplication])
}

/** The fault of an operator's request that names no application. */
export const noApplication: FieldFault = {
  field: 'appId',
  reason: { en: 'is required of an operator', zh: '运营方必须指定应用' },
}

/** Like `applicationOf`, but the application must exist. Throws 10001, 10003 and 10004. */
export async function requireApplicationOf(
  sql: Statements,
  caller: Caller,
  named: string | null | undefined,
): Promise<string> {
  const appId = applicationOf(caller, named)
  // A caller's own application exists: the caller has a token of it.
  if (caller.kind === 'operator') await requireApplicationExists(sql, appId)
  return appId
}

/**
 * The applications that a page covers: the one that the request names, else all that the caller may see; null for all
 * applications. Throws as `requireApplicationOf` does.
 */
export async function requireApplicationsOf(
  sql: Statements,
  caller: Caller,
  named: string | null | undefined,
): Promise<readonly string[] | null> {
  return given(named) === null ? visibleApplications(caller) : [await requireApplicationOf(sql, caller, named)]
}

/**
 * Locks an application for a change. Whether the caller has lost access to it while it waited is asked when the transaction
 * ends (`Pending.transaction`): after a freeze, a rotation, a revocation, a sign-out or a change of role nothing is written.
 * Throws 10004.
 */
export async function lockApplicationFor(tx: Statements, caller: Caller, appId: string): Promise<void> {
  await lockApplication(tx, appId)
  if (caller.kind === 'operator') await requireApplicationExists(tx, appId)
}
