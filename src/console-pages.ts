import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { HttpAnswer, HttpHandler, HttpRequest } from './http/message.ts'

// The console's files, as its build left them beside the service. What they do goes through the API like anything else.

/** The same folder from src/ and from dist/. */
const folder = join(import.meta.dirname, '..', 'console', 'dist')

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

const notBuilt = 'The console has not been built. Run "npm run build:console", and start the service again.\n'

const toConsole: HttpAnswer = { status: 302, headers: { location: '/console' }, body: '' }

/** Answers the pages of the console and of the API reference, and leaves everything else to the API. */
export function withConsole(api: HttpHandler, mapTileUrl: string | undefined): HttpHandler {
  const files = new Set(existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [])
  const security = securityHeaders(mapTileUrl)
  return (request) => {
    // Whoever opens the bare address is a person.
    if (request.path === '/' && request.method === 'GET')
      return Promise.resolve({ ...toConsole, headers: { ...toConsole.headers } })
    const file = fileOf(request.path)
    if (file === undefined) return api(request)
    if (request.method !== 'GET' && request.method !== 'HEAD') return api(request)
    if (files.size === 0) {
      return Promise.resolve({ status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: notBuilt })
    }
    // A page of the console that is no file is the console's own business; a missing asset is missing.
    const isAsset = file.startsWith('assets/')
    if (isAsset && !files.has(file)) return api(request)
    return Promise.resolve(readAnswer(request, files.has(file) ? file : 'index.html', isAsset, files, security))
  }
}

/** The file that a path asks for; undefined for a path that is none of the console's. */
function fileOf(path: string): string | undefined {
  if (path === '/docs' || path === '/docs/') return 'docs.html'
  if (path === '/console' || path === '/console/') return 'index.html'
  if (!path.startsWith('/console/')) return undefined
  return path.slice('/console/'.length)
}

function readAnswer(
  request: HttpRequest,
  file: string,
  isAsset: boolean,
  files: ReadonlySet<string>,
  security: Record<string, string>,
): HttpAnswer {
  const accepted = request.header('accept-encoding') ?? ''
  const [encoding, suffix] =
    encodings.find(([name, ending]) => accepted.includes(name) && files.has(file + ending)) ?? []
  const body = readFileSync(join(folder, file + (suffix ?? '')))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers: Record<string, string> = {
    'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream',
    // The names of assets change with their content; the pages that name them are asked for each time.
    'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'accept-encoding',
    ...security,
  }
  if (request.header('if-none-match') === etag) return { status: 304, headers, body: '' }
  if (encoding !== undefined) headers['content-encoding'] = encoding
  return { status: 200, headers, body }
}

/** Only our own scripts run, nobody frames the pages, and nothing is sent elsewhere but to the map's tiles. */
function securityHeaders(mapTileUrl: string | undefined): Record<string, string> {
  const tiles = mapTileUrl === undefined ? '' : ` ${new URL(mapTileUrl.replaceAll(/[{}]/g, '')).origin}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // The components write their styles into the page.
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob: https:${tiles}`,
    "font-src 'self' data:",
    `connect-src 'self'${tiles}`,
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}
