import type { Role } from '../../vocabulary/roles.ts'

/** Which values of a claim make a role, in the order in which roles are tried; `*` matches everyone. */
export type RoleRules = readonly { role: Role; values: readonly string[] }[]

/** The claim with this name; if there is none, the name is read as a path with dots. */
export function claimAt(claims: object, name: string): unknown {
  const members = claims as Record<string, unknown>
  if (Object.hasOwn(members, name)) return members[name]
  return name.split('.').reduce<unknown>((value, member) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, member)
    return isObject ? (value as Record<string, unknown>)[member] : undefined
  }, claims)
}

/** The role that a claim makes: a text, or a list of texts. Undefined for none. */
export function roleOf(claim: unknown, rules: RoleRules): Role | undefined {
  const values = (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === 'string')
  return rules.find(({ values: wanted }) => wanted.some((value) => value === '*' || values.includes(value)))?.role
}

/** Account names for a person of the provider, best first; `isFaulty` says which names are not allowed. */
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
