import { randomBytes } from 'node:crypto'
import { finishSignOn } from '../../src/people/sign-on/contract.ts'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { type Lies, TestProvider } from '../kit/provider.ts'
import { freePort } from '../kit/replicated.ts'
import type { Service } from '../kit/service.ts'
import { Workplace } from '../kit/workplace.ts'

export const newSubject = () => `person-${randomBytes(6).toString('hex')}`

/** The claims of a person. */
export const claimsOf = (groups: string | string[] = 'ops', sub = newSubject()) => ({ sub, name: sub, groups })

/** How somebody goes to the provider; of the first service, where no other one is named. */
interface Way {
  purpose?: string
  setUpToken?: string | undefined
  returnTo?: string
  headers?: Record<string, string>
  service?: Client
}

/** The public address of the strict service: one with a name, where passkeys are. */
export const namedUrl = 'http://localhost:9'

/** Services with single sign-on, and a provider that responds correctly until a test makes it lie. */
export class SignOnBed {
  readonly place = new Workplace()
  readonly provider = new TestProvider()
  database!: OwnDatabase
  service!: Service
  client!: Client
  strict: Service | undefined
  /** The settings that all its services have. */
  env: Record<string, string> = {}

  async start(settings: Record<string, string> = {}): Promise<void> {
    await this.provider.start()
    this.database = await this.place.findDatabase()
    this.env = {
      DATABASE_URL: this.database.url(),
      FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
      FORECOURT_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
      FORECOURT_OIDC_ISSUER: this.provider.issuer,
      FORECOURT_OIDC_CLIENT_ID: this.provider.clientId,
      FORECOURT_OIDC_CLIENT_SECRET: this.provider.clientSecret,
    }
    const roles = { FORECOURT_OIDC_ROLES: 'admin=chiefs;operator=ops,duty;viewer=guests' }
    const env = { ...this.env, ...roles, FORECOURT_OIDC_SESSION_HOURS: '2', ...settings }
    this.service = await this.place.startService({ env })
    this.client = new Client(this.service)
  }

  /** Starts the same service with our second factor, with passwords for admins only, and without roles. */
  async startStrict(): Promise<Client> {
    const strict = {
      FORECOURT_PUBLIC_URL: namedUrl,
      FORECOURT_SIGN_ON_SECOND_FACTOR: 'ours',
      FORECOURT_PASSWORDS: 'admins',
      FORECOURT_OIDC_NAME: 'Corp',
    }
    this.strict = await this.place.startService({ env: { ...this.env, ...strict } })
    return new Client(this.strict)
  }

  /** Makes the provider respond correctly, and forget what it was asked. */
  tellTruth(): void {
    this.provider.lies = {}
    this.provider.asked = []
  }

  async clear(): Promise<void> {
    this.provider.stop()
    await this.place.clear()
  }

  readonly begin = async (way: Way = {}) => {
    const { purpose = 'signIn', setUpToken, returnTo, headers = {}, service = this.client } = way
    const answer = await service.call('startSignOn', { purpose, setUpToken, returnTo }, { headers })
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
    return { answer, cookie, url: answer.data?.authorizationUrl ?? '' }
  }

  readonly callBack = async (query: Record<string, string>, cookie: string, service = this.client, headers = {}) => {
    const url = `${service.url}${finishSignOn.path}?${new URLSearchParams(query)}`
    const { status, headers: told } = await fetch(url, { redirect: 'manual', headers: { cookie, ...headers } })
    const location = new URL(told.get('location') ?? '', 'http://console')
    const session = told
      .getSetCookie()
      .map((each) => each.split(';')[0] ?? '')
      .find((each) => each.startsWith('forecourt_session='))
    return {
      status,
      path: location.pathname,
      refusal: Number(location.searchParams.get('refusal')),
      location,
      session,
      told,
    }
  }

  /** A person's complete way to the provider and back, in a browser with the session that began it, if one did. */
  readonly comes = async (claims: Record<string, unknown>, lies: Lies = {}, way: Way = {}) => {
    const { answer, cookie, url } = await this.begin(way)
    if (answer.code !== 0) throw new Error(answer.text)
    const cookies = [cookie, way.headers?.cookie].filter((each) => each !== undefined).join('; ')
    return this.callBack(this.provider.issue(url, claims, lies), cookies, way.service)
  }

  /** As `comes`; returns the headers that identify the session. */
  readonly signsOn = async (...way: Parameters<SignOnBed['comes']>) => ({
    cookie: (await this.comes(...way)).session ?? '',
  })

  /** As `comes`; returns the code with which the callback refuses the person, or 0. */
  readonly refusalOf = async (...way: Parameters<SignOnBed['comes']>) => (await this.comes(...way)).refusal

  /** Links the account of a session to a subject. */
  readonly link = (sub: string, headers: Record<string, string>, service?: Client) =>
    this.comes({ sub }, {}, { purpose: 'link', headers, ...(service && { service }) })

  /** Makes the proofs of all sessions an hour old. */
  readonly ageProofs = () => this.database.sql`update operator_session set confirmed_at = now() - interval '1 hour'`

  readonly askSession = (session: string | undefined, service = this.client) =>
    service.call('getSession', {}, { headers: { cookie: session ?? '' } })

  readonly ofSession = async (session: string | undefined, service?: Client) =>
    (await this.askSession(session, service)).data

  readonly codeOfSession = async (session: string | undefined) => (await this.askSession(session)).code
}
