import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOperatorKey } from '../../src/people/operators/contract.ts'
import { deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { startSignOn } from '../../src/people/sign-on/contract.ts'
import { Client } from '../harness.ts'
import { type OwnProvider, startOpenIdProvider } from '../openid-provider.ts'
import { becomesTrue, type OwnDatabase, rememberedMs, Workplace } from './support.ts'

// Single sign-on at an independent provider (oidc-provider), with a minimal browser that follows redirects, keeps
// cookies and submits forms.

const place = new Workplace()
let database: OwnDatabase
let client: Client
let publicUrl: string
let provider: OwnProvider
afterAll(async () => {
  provider.stop()
  await place.clear()
}, 60_000)

beforeAll(async () => {
  provider = await startOpenIdProvider()
  publicUrl = provider.publicUrl
  database = await place.findDatabase()
  client = new Client(await place.startService({ env: { ...provider.env, DATABASE_URL: database.url() } }))
}, 120_000)

class Browser {
  private readonly cookies = new Map<string, string>()

  /** Follows redirects and forms from an address until it reaches the service, or a page without a form. */
  async visit(address: string): Promise<{ url: string; text: string }> {
    let url = address
    let form: URLSearchParams | undefined
    for (let step = 0; step < 20; step++) {
      const answer = await this.load(url, form)
      const location = answer.headers.get('location')
      if (location !== null) {
        url = new URL(location, url).href
        form = undefined
        if (url.startsWith(publicUrl)) return { url, text: '' }
        continue
      }
      const text = await answer.text()
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
      if (action === undefined) return { url, text }
      const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
      const members = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
      form = new URLSearchParams({ ...members, login: 'alice', password: 'x', logout: 'yes' })
      url = new URL(action, url).href
    }
    throw new Error(`the provider leads nowhere: ${url}`)
  }

  private async load(url: string, form: URLSearchParams | undefined): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const post = form === undefined ? {} : { method: 'POST', body: form }
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie }, ...post })
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]?.split('=') ?? []
      this.cookies.set(name, value)
    }
    return answer
  }
}

/** Signs in, or confirms a session; returns where the service sends the browser, and the session's cookie. */
async function signOn(browser: Browser, purpose: string, session = '') {
  const started = await client.call(startSignOn, { purpose }, { headers: { cookie: session } })
  const [flow = ''] = (started.headers.get('set-cookie') ?? '').split(';')
  const { url } = await browser.visit(started.data.authorizationUrl)
  const cookie = [flow, session].filter(Boolean).join('; ')
  const back = await fetch(url, { redirect: 'manual', headers: { cookie } })
  const cookies = back.headers.getSetCookie().map((set) => set.split(';')[0] ?? '')
  return {
    location: back.headers.get('location'),
    session: cookies.find((cookie) => cookie.startsWith('forecourt_session=')) ?? '',
  }
}

const codeOf = async (session: string) => (await client.call(getSession, {}, { headers: { cookie: session } })).code

test('a person signs in at it, confirms, and signs out there and everywhere', async () => {
  const browser = new Browser()
  const first = await signOn(browser, 'signIn')
  expect(first.location).toBe('/console')
  const { data } = await client.call(getSession, {}, { headers: { cookie: first.session } })
  // Its claims of roles are only in the userinfo response.
  expect(data).toMatchObject({ name: 'Person alice', role: 'operator', method: 'signOn' })
  const second = await signOn(browser, 'signIn')
  expect(await codeOf(second.session)).toBe(0)

  const headers = { cookie: second.session }
  const proofEnds = async () => (await client.call(getSession, {}, { headers })).data.confirmedUntil
  const ofSignIn = await proofEnds()
  await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
  expect(await becomesTrue(async () => (await proofEnds()) !== ofSignIn, rememberedMs)).toBe(true)
  expect((await signOn(browser, 'confirm', second.session)).location).toBe('/console')
  const { confirmedUntil, createTime } = (await client.call(getSession, {}, { headers })).data
  expect((confirmedUntil ?? '') > (createTime ?? '')).toBe(true)
  expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10003)

  const { signOutUrl } = (await client.call(deleteSession, {}, { headers: { cookie: first.session } })).data
  await browser.visit(signOutUrl ?? '')
  // The provider tells the service of the other session's end.
  expect(await becomesTrue(async () => (await codeOf(second.session)) === 10002)).toBe(true)
})
