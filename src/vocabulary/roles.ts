type CallerKind = 'application' | 'operator'

/**
 * The roles of operators. admin: everything; operator: everything but people and keys; viewer: reads; developer: what
 * an application may do itself, for the applications of which they are a member.
 */
export const everyRole = ['admin', 'operator', 'viewer', 'developer'] as const
export type Role = (typeof everyRole)[number]

/** An operation's declaration of its callers. */
export interface Admission {
  method: 'GET' | 'POST'
  /** Empty if the operation needs no token. */
  callers: readonly CallerKind[]
  /** The roles that may call the operation, if they differ from what `rolesOf` derives. */
  roles?: readonly Role[]
  /** Requires of a session a proof of its person that is not older than the setting allows (contract §12.4). */
  asksProof?: true
  /** Open to sessions that lack their second factor: to all of them, or only to those that have to set one up. */
  openWithoutFactor?: 'always' | 'toSetUp'
}

/** What a session lacks: its account has to set a second factor up, or has one that the session has not shown. */
export type FactorLack = 'setUp' | 'show'

/** Whether a session that lacks its second factor may call an operation. */
export function isOpenWithout(lack: FactorLack, { openWithoutFactor }: Admission): boolean {
  return openWithoutFactor === 'always' || (lack === 'setUp' && openWithoutFactor === 'toSetUp')
}

/** The roles that may call: all but developers read, admins and operators write, developers act as applications. */
export function rolesOf({ callers, method, roles }: Admission): readonly Role[] {
  if (!callers.includes('operator')) return []
  if (roles !== undefined) return roles
  const own: Role[] = callers.includes('application') ? ['developer'] : []
  return method === 'GET' ? ['admin', 'operator', 'viewer', ...own] : ['admin', 'operator', ...own]
}
