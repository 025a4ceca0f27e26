import { firstLanguage } from '../language/first.ts'

// Asks for the page's first data while the browser loads the console's script.

/** What a page asks for first, by the page's path, where the address sets no filter. */
const firstRequests: Record<string, string> = {
  '/console': '/api/platform/v1/overview/detail',
  '/console/sites': '/api/charging/v1/siteManageThird/page?pageSize=20',
  '/console/devices': '/api/device/entrance/guard/page?pageSize=20',
}

const early = new Map<string, Promise<Response>>()
const page = location.pathname.replace(/\/$/, '')

if (!/^\/console\/(sign-in|set-up)/.test(page)) {
  begin('/api/platform/v1/session/detail')
  const first = firstRequests[page]
  if (first !== undefined && location.search === '') begin(first)
}

function begin(url: string): void {
  const response = fetch(url, { redirect: 'manual', headers: { 'accept-language': firstLanguage() } })
  // The caller that takes the response handles its failure. Without this, the browser reports the failure as unhandled.
  response.catch(() => {})
  early.set(url, response)
}

/**
 * Sends a request, or returns the response to the same request if it was sent early; that response is used once. A write
 * discards the early responses: after a sign-in they would be the refusals from before it. So does a session that is
 * refused: no page takes them then.
 */
export const fetchOrTake: typeof fetch = async (url, request) => {
  if (request?.method !== 'GET') forget()
  const sent = early.get(String(url))
  early.delete(String(url))
  const response = await (sent ?? fetch(url, request))
  if (response.status === 401) forget()
  return response
}

function forget(): void {
  // An unread body keeps its connection open.
  for (const sent of early.values()) sent.then(({ body }) => body?.cancel()).catch(() => {})
  early.clear()
}
