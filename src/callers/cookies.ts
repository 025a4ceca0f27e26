export interface RequestHead {
  method: string
  header(name: string): string | null
}

type Headers = Pick<RequestHead, 'header'>

interface Shape {
  name: string
  value: string
  sameSite: 'Strict' | 'Lax'
}

const token = '[A-Za-z0-9_-]{43}'
const ticket = '[A-Za-z0-9_-]{1,6000}'

const shapes = {
  session: { name: 'forecourt_session', value: token, sameSite: 'Strict' },
  /** Marks a browser that has signed in before. */
  browser: { name: 'forecourt_browser', value: token, sameSite: 'Strict' },
  /** A single sign-on that has started. `Lax`, because the provider's redirect carries no `Strict` cookie. */
  signOn: { name: 'forecourt_sign_on', value: ticket, sameSite: 'Lax' },
  /** A single sign-on that has come back, which a page finishes with its session. */
  arrival: { name: 'forecourt_arrival', value: ticket, sameSite: 'Strict' },
} as const satisfies Record<string, Shape>

type OwnCookie = keyof typeof shapes

/** The session cookie's name over plain http. */
export const sessionCookieName = shapes.session.name

const finder = (name: string, value: string) => new RegExp(`(?:^|;\\s*)${name}=(${value})(?:;|$)`)
const entries = Object.entries(shapes) as [OwnCookie, Shape][]
const finders = Object.fromEntries(
  entries.map(([which, { name, value }]) => [
    which,
    { host: finder(`__Host-${name}`, value), plain: finder(name, value) },
  ]),
) as Record<OwnCookie, { host: RegExp; plain: RegExp }>

/**
 * Handles all cookies, which no script can read. Over https their names begin with `__Host-`: browsers refuse such
 * cookies from another host and over http, so nobody can plant a session in another person's browser.
 */
export class Cookies {
  private readonly publicUrl: string | undefined

  /** Without `publicUrl`, the proxy or the browser says whether it is https. */
  constructor(publicUrl: string | undefined) {
    this.publicUrl = publicUrl
  }

  private isSecure(request: Headers): boolean {
    if (this.publicUrl !== undefined) return this.publicUrl.startsWith('https:')
    return request.header('x-forwarded-proto') === 'https' || request.header('origin')?.startsWith('https://') === true
  }

  find(request: Headers, which: OwnCookie): string | undefined {
    const cookies = request.header('cookie')
    if (cookies === null) return undefined
    const { host, plain } = finders[which]
    const value = host.exec(cookies)?.[1]
    return value !== undefined || this.isSecure(request) ? value : plain.exec(cookies)?.[1]
  }

  set(request: Headers, which: OwnCookie, value: string, seconds: number): string {
    const { name, sameSite } = shapes[which]
    const attributes = `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}`
    return this.isSecure(request) ? `__Host-${name}=${value}; ${attributes}; Secure` : `${name}=${value}; ${attributes}`
  }

  clear(request: Headers, which: OwnCookie): string {
    return this.set(request, which, '', 0)
  }

  /** Returns the session of a request. A change that another site's page sends does not count. */
  session(request: RequestHead): string | undefined {
    const { method } = request
    const session = this.find(request, 'session')
    if (session === undefined || method === 'GET' || method === 'HEAD') return session
    const site = request.header('sec-fetch-site')
    if (site !== null) return site === 'same-origin' ? session : undefined
    const origin = request.header('origin')
    return origin === null || hostOf(origin) === request.header('host') ? session : undefined
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
