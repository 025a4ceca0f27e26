import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { headFault } from './head-fault.ts'
import { preferredLanguage } from './language.ts'
import type { HttpAnswer, HttpHandler, HttpRequest } from './message.ts'
import { readOnly } from './route-table.ts'
import { requestIdOf } from './serve.ts'
import { StaticAnswer } from './static-answer.ts'

/** The same from src/ and from dist/. */
const folder = join(import.meta.dirname, '..', '..', 'console', 'dist')

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}
const missing: HttpAnswer = {
  status: 503,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'The console hasn’t been built. Run "npm run build:console" and restart the service.\n',
}

const redirects: Record<string, (request: HttpRequest) => Record<string, string>> = {
  // A request for the bare address comes from a person.
  '/': () => ({ location: '/console' }),
  '/docs': (request) => inOwnLanguage(request),
  '/docs/': (request) => inOwnLanguage(request),
}

function inOwnLanguage(request: HttpRequest, guide = ''): Record<string, string> {
  return { location: `/docs/${preferredLanguage(request.header('accept-language'))}${guide}`, vary: 'accept-language' }
}

interface PageSettings {
  mapTileUrl: string | undefined
  securityContact: string | undefined
  publicUrl: string | undefined
}

/** Other requests go to the API. The files are read now: a change takes effect at the next start. */
export function withConsole(api: HttpHandler, { mapTileUrl, securityContact, publicUrl }: PageSettings): HttpHandler {
  const files = readFiles(securityHeaders(mapTileUrl))
  const contact = securityContact && (() => securityText(securityContact, publicUrl))
  return (request) => {
    const page = contact && request.path === securityPath ? contact : pageOf(request, files)
    if (page === undefined || headFault(request) !== undefined) return api(request)
    return answered(request, isRead(request) ? page() : readOnly(request))
  }
}

const securityPath = '/.well-known/security.txt'

/** RFC 9116: how to report a vulnerability of this installation. Valid for half a year from each request. */
function securityText(contact: string, publicUrl: string | undefined): HttpAnswer {
  const expires = new Date(Date.now() + 183 * 86_400_000).toISOString()
  const canonical = publicUrl === undefined ? [] : [`Canonical: ${new URL(securityPath, publicUrl).href}`]
  const lines = [`Contact: ${contact}`, `Expires: ${expires}`, 'Preferred-Languages: en, zh', ...canonical, '']
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: lines.join('\n') }
}

function pageOf(request: HttpRequest, files: Map<string, StaticAnswer>): (() => HttpAnswer) | undefined {
  const redirect = redirects[request.path]
  if (redirect !== undefined) return () => ({ status: 302, headers: redirect(request), body: '' })
  const name = fileOf(request.path)
  if (name === undefined) return undefined
  const [, guide] = /^\/docs(\/[\w-]+)$/.exec(request.path) ?? []
  if (guide !== undefined && !files.has(name) && files.has(`docs/en${guide}.html`)) {
    return () => ({ status: 302, headers: inOwnLanguage(request, guide), body: '' })
  }
  if (files.size === 0) return () => ({ ...missing, headers: { ...missing.headers } })
  // The console shows its own page for an unknown path; a missing asset or guide is 404.
  const file =
    files.get(name) ??
    (/^(assets|docs)\//.test(name) ? undefined : (files.get(`${name}.html`) ?? files.get('index.html')))
  return file && (() => file.answerTo(request))
}

function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function answered(request: HttpRequest, answer: HttpAnswer): Promise<HttpAnswer> {
  answer.headers['x-request-id'] = requestIdOf(request)
  answer.headers['cache-control'] ??= 'no-store'
  return Promise.resolve(answer)
}

function readFiles(security: Record<string, string>): Map<string, StaticAnswer> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) !== '')
  const bytes = new Map(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name))]))
  return new Map(
    [...bytes].flatMap(([name, body]) => {
      if (/\.(br|gz)$/.test(name)) return []
      // Assets are named by their content; the pages that name them are asked for each time.
      const cacheControl = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
      const headers = {
        'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
        'cache-control': cacheControl,
        ...security,
      }
      const [br, gzip] = [bytes.get(`${name}.br`), bytes.get(`${name}.gz`)]
      return [[name, new StaticAnswer(body, headers, { ...(br && { br }), ...(gzip && { gzip }) })]]
    }),
  )
}

function fileOf(path: string): string | undefined {
  if (path.startsWith('/docs/')) return `${path.slice(1)}.html`
  if (path === '/console' || path === '/console/') return 'overview.html'
  if (!path.startsWith('/console/')) return undefined
  return path.slice('/console/'.length)
}

/** The pages run only their own scripts, cannot be framed, and send requests elsewhere only for the map's tiles. */
function securityHeaders(mapTileUrl: string | undefined): Record<string, string> {
  const tiles = mapTileUrl === undefined ? '' : ` ${new URL(mapTileUrl.replaceAll(/[{}]/g, '')).origin}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // The components write their styles into the page.
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob: https:${tiles}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}
