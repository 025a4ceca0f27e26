import { isBehindHttps } from '../../callers/cookies.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { Source } from '../sessions/sign-in.ts'

// The cookie of a sign-on that is under way. It is `SameSite=Lax`, because the browser comes back by a navigation from
// the provider's site, and browsers send no `SameSite=Strict` cookie with such a navigation.

const name = 'forecourt_sign_on'

/**
 * Whether the cookie is for https only. The settings decide it, because a navigation does not tell the scheme of its
 * page.
 */
const isSecure = (source: Source, publicUrl: string) => publicUrl.startsWith('https:') || isBehindHttps(source)

/** The tickets in a browser's cookies, that of the `__Host-` cookie first. */
export function flowTicket(source: Pick<Source, 'header'>): string | undefined {
  const cookies = source.header('cookie') ?? ''
  const find = (named: string) => new RegExp(`(?:^|;\\s*)${named}=([A-Za-z0-9_-]{1,6000})(?:;|$)`).exec(cookies)?.[1]
  return find(`__Host-${name}`) ?? find(name)
}

/** Sets the cookie with a ticket; without a ticket, deletes it. */
export function flowCookie(source: Source, publicUrl: string, ticket: string | null): string {
  const secure = isSecure(source, publicUrl)
  const seconds = ticket === null ? 0 : limits.signOnSeconds
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? '; Secure' : ''}`
  return `${secure ? '__Host-' : ''}${name}=${ticket ?? ''}; ${attributes}`
}

/** The source of a navigation. Its session's cookie is one for https if the service's address is https. */
export function navigation(source: Source, publicUrl: string): Source {
  if (!publicUrl.startsWith('https:')) return source
  return { ...source, header: (named) => (named === 'x-forwarded-proto' ? 'https' : source.header(named)) }
}
