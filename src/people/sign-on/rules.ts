import type { Role } from '../../vocabulary/roles.ts'

/** Roles are tried in this order; `*` matches everyone. */
export type RoleRules = readonly { role: Role; values: readonly string[] }[]

/** If there is no claim with this name, the name is read as a path with dots. */
export function claimAt(claims: object, name: string): unknown {
  const members = claims as Record<string, unknown>
  if (Object.hasOwn(members, name)) return members[name]
  return name.split('.').reduce<unknown>((value, member) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, member)
    return isObject ? (value as Record<string, unknown>)[member] : undefined
  }, claims)
}

export function roleOf(claim: unknown, rules: RoleRules): Role | undefined {
  const values = (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === 'string')
  return rules.find(({ values: wanted }) => wanted.some((value) => value === '*' || values.includes(value)))?.role
}

/** Account names for a person of the provider, best first. */
export function namesOf(
  { name, preferred_username }: Record<string, unknown>,
  subject: string,
  isFaulty: (name: string) => boolean,
): string[] {
  const made = (text: unknown) =>
    typeof text !== 'string'
      ? ''
      : text
          .replace(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
          .replace(/[\p{Z}#:]+/gu, ' ')
          .trim()
  const cut = (text: string) => [...text].slice(0, 56).join('').trim()
  const names = [name, preferred_username, subject].map((text) => cut(made(text)))
  return [...names.filter((text) => text !== '' && !isFaulty(text)), 'Person']
}
