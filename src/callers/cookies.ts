/** The part of a request that identifies its sender. */
export interface RequestHead {
  method: string
  header(name: string): string | null
}

/**
 * The cookies of the service's own pages: the session, and the mark of a browser that has signed in before. No script
 * can read them, and no other site can send them. Behind https their names begin with `__Host-`: browsers then refuse
 * them from a neighbouring host and over http, so nobody can plant a session in another person's browser.
 */
export const cookieNames = { session: 'forecourt_session', browser: 'forecourt_browser' } as const
type OwnCookie = keyof typeof cookieNames
type Headers = Pick<RequestHead, 'header'>

/** Whether the page came by https, as the proxy or the browser says. */
export function isBehindHttps(request: Headers): boolean {
  return request.header('x-forwarded-proto') === 'https' || request.header('origin')?.startsWith('https://') === true
}

export function ownCookieName(request: Headers, which: OwnCookie): string {
  return isBehindHttps(request) ? `__Host-${cookieNames[which]}` : cookieNames[which]
}

const cookieValue = (name: string) => new RegExp(`(?:^|;\\s*)${name}=([A-Za-z0-9_-]{43})(?:;|$)`)
const cookieShapes = {
  session: { host: cookieValue('__Host-forecourt_session'), plain: cookieValue('forecourt_session') },
  browser: { host: cookieValue('__Host-forecourt_browser'), plain: cookieValue('forecourt_browser') },
}

/** The value of a cookie. The plain one counts only over http, and only without a `__Host-` one, which no other host can set. */
export function ownCookie(request: Headers, which: OwnCookie): string | undefined {
  const cookies = request.header('cookie')
  if (cookies === null) return undefined
  const { host, plain } = cookieShapes[which]
  const value = host.exec(cookies)?.[1]
  return value !== undefined || isBehindHttps(request) ? value : plain.exec(cookies)?.[1]
}

/** The session of a request from the service's own pages. A session that another site's page sends does not count. */
export function ownSession(request: RequestHead): string | undefined {
  const { method } = request
  const session = ownCookie(request, 'session')
  if (session === undefined || method === 'GET' || method === 'HEAD') return session
  const site = request.header('sec-fetch-site')
  if (site !== null) return site === 'same-origin' ? session : undefined
  const origin = request.header('origin')
  return origin === null || hostOf(origin) === request.header('host') ? session : undefined
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
