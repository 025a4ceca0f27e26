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
  /** Nobody listed means that no token is asked for. */
  callers: readonly CallerKind[]
  /** The operators who may call it, where `rolesOf` would not say so by itself. */
  roles?: readonly Role[]
}

/** The roles that may call: all but developers read, admins and operators write, developers act as applications. */
export function rolesOf({ callers, method, roles }: Admission): readonly Role[] {
  if (!callers.includes('operator')) return []
  if (roles !== undefined) return roles
  const own: Role[] = callers.includes('application') ? ['developer'] : []
  return method === 'GET' ? ['admin', 'operator', 'viewer', ...own] : ['admin', 'operator', ...own]
}
