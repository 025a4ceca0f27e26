import { permitted } from '../callers/access-control.ts'
import { actorOf, type Caller } from '../callers/caller.ts'
import { requireStillActingFor } from '../callers/permissions.ts'
import type { Operation } from '../vocabulary/operation.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { Admission } from '../vocabulary/roles.ts'
import type { HttpRequest } from './message.ts'
import type { Route } from './route-table.ts'
import type { ServeOptions } from './serve-options.ts'

const tokenTrustedForMs = 50

/** Who the caller is now, and whether it may still act for the application that `input` names. */
export function standsFor({ handler, appIdIn }: Route, { present }: ServeOptions, caller: Caller, input: unknown) {
  if (handler.operation.callers.length === 0) return undefined
  return async () => {
    const now = await present(caller)
    if (appIdIn !== undefined) requireStillActingFor(caller, now, (input as { appId?: string | null }).appId)
  }
}

type Looked = Admission & Pick<Operation, 'takes' | 'dependsOnRole'>

/** For a caller that was admitted a while ago; undefined if it was just now. Throws 10002, 10003 and 10005. */
export function requireStill(
  operation: Looked,
  request: HttpRequest,
  options: ServeOptions,
  admittedAt: number,
  before: Caller,
  named: string | null | undefined,
): Promise<void> | undefined {
  if (performance.now() - admittedAt <= tokenTrustedForMs || operation.callers.length === 0) return undefined
  return lookAgain(operation, request, options, before, named)
}

async function lookAgain(
  operation: Looked,
  request: HttpRequest,
  options: ServeOptions,
  before: Caller,
  named: string | null | undefined,
): Promise<void> {
  const now = permitted(operation, await options.authenticate(request))
  if (operation.dependsOnRole && rightsOf(now) !== rightsOf(before)) {
    throw new Refusal('notPermitted', { actor: actorOf(now) })
  }
  // The handler itself checks the applications that a JSON body names.
  if (operation.method === 'GET' || operation.takes !== undefined) requireStillActingFor(before, now, named)
}

const rightsOf = (caller: Caller) => (caller.kind === 'operator' ? `${caller.role} ${caller.lacks}` : caller.kind)
