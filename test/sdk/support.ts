import { expect } from 'bun:test'
import { Forecourt, ForecourtError, type SiteRegistration } from '../../sdk/src/index.ts'
import { target } from '../kit/client.ts'
import { newApplication, siteBody } from '../kit/records.ts'

export const client = await target()
export const baseUrl = client.url

export async function newSdk(members?: Record<string, unknown>) {
  const app = await newApplication(client, members)
  return { ...app, forecourt: new Forecourt({ baseUrl, appId: app.appId, appSecret: app.appSecret }) }
}

/** A server whose responses a test determines, instead of the real service or before passing requests on. */
export function standIn(
  answer: (request: Request, nth: number) => Response | undefined | Promise<Response | undefined>,
) {
  const requests: { path: string; headers: Headers; body: string }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const { pathname, search } = new URL(request.url)
      requests.push({ path: pathname, headers: request.headers, body })
      const own = await answer(request, requests.length)
      if (own !== undefined) return own
      const { method, headers } = request
      return fetch(baseUrl + pathname + search, { method, headers, ...(method === 'POST' && { body }) })
    },
  })
  const stop = () => server.stop(true)
  return { url: `http://127.0.0.1:${server.port}`, requests, stop, [Symbol.asyncDispose]: stop }
}

/** A site's body as a program would write it. */
export const newSite = (appId: string) => siteBody(appId) as SiteRegistration

export const success = (data: unknown) => Response.json({ code: 0, msg: 'success', data })
export const refused = (status: number, headers = {}) =>
  Response.json({ code: 50003, msg: 'unavailable', data: null }, { status, headers })

export async function errorOf(promise: Promise<unknown>): Promise<ForecourtError> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(ForecourtError)
  return error as ForecourtError
}
