type CallerKind = 'application' | 'operator'

/** admin: everything; operator: all but accounts and keys; viewer: reads; developer: acts for its own applications. */
export const everyRole = ['admin', 'operator', 'viewer', 'developer'] as const
export type Role = (typeof everyRole)[number]

export interface Admission {
  method: 'GET' | 'POST'
  /** Empty if the operation needs no token. */
  callers: readonly CallerKind[]
  /** If they differ from what `rolesOf` derives. */
  roles?: readonly Role[]
  /** Sessions need a recent identity confirmation (contract §12.4). */
  asksProof?: true
  /** To sessions that lack their second factor: to all, or only to those that have to set one up. */
  openWithoutFactor?: 'always' | 'toSetUp'
}

/** `show`: the account has a factor that the session has not shown. */
export type FactorLack = 'setUp' | 'show'

export function isOpenWithout(lack: FactorLack, { openWithoutFactor }: Admission): boolean {
  return openWithoutFactor === 'always' || (lack === 'setUp' && openWithoutFactor === 'toSetUp')
}

/** All but developers read, admins and operators write, developers act as applications. */
export function rolesOf({ callers, method, roles }: Admission): readonly Role[] {
  if (!callers.includes('operator')) return []
  if (roles !== undefined) return roles
  const own: Role[] = callers.includes('application') ? ['developer'] : []
  return method === 'GET' ? ['admin', 'operator', 'viewer', ...own] : ['admin', 'operator', ...own]
}
