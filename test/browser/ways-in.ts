import { expect } from 'bun:test'
import type { CDPSession, Page } from 'playwright-core'
import { Client } from '../kit/client.ts'
import { embeddedConnection, withSql } from '../kit/database.ts'
import { type OwnProvider, startOpenIdProvider } from '../kit/openid-provider.ts'
import { type Service, startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { type Visit, type Visited, visit } from './support.ts'

/** Adds an authenticator to the browser; its person is always present and verified. */
export async function withAuthenticator(
  page: Page,
  use: (cdp: CDPSession, id: string) => Promise<void>,
): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  })
  try {
    await use(cdp, authenticatorId)
  } finally {
    await cdp.send('WebAuthn.disable')
    await cdp.detach()
  }
}

/** Signs in at the provider's own page, as somebody. */
export async function enterAtProvider(page: Page, login: string): Promise<void> {
  await enterAgain(page, login)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** The same, if the person has already allowed the provider to identify them to the service. */
export async function enterAgain(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('x')
  await page.getByRole('button', { name: 'Sign-in' }).click()
}

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByText('Sign out').click()
}

export const kept = async (page: Page): Promise<string[]> => {
  const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
  await codes.getByRole('listitem').nth(9).waitFor()
  const shown = await codes.getByRole('listitem').allTextContents()
  await codes.getByRole('button', { name: 'I’ve saved my codes' }).click()
  return shown
}

/** A service with a provider and a host name, at which passkeys work; operators need a second factor there. */
export class WaysIn {
  provider!: OwnProvider
  service!: Service
  /** A client for the service's public address, at which passkeys work. */
  through!: Client

  async start(): Promise<void> {
    this.provider = await startOpenIdProvider('localhost')
    this.service = await startService({
      env: { ...this.provider.env, FORECOURT_REQUIRE_SECOND_FACTOR: 'operator', FORECOURT_OIDC_NAME: 'Acme sign-on' },
    })
    this.through = new Client({ url: this.provider.publicUrl, operatorKey: this.service.operatorKey })
  }

  async stop(): Promise<void> {
    await this.service.stop()
    this.provider.stop()
  }

  /**
   * Opens a page of a service with single sign-on. The provider's page requests a font from another host, which is
   * blocked because no test needs it.
   */
  readonly open = async (path: string, options: Visit = {}): Promise<Visited> => {
    const visited = await visit(path, { through: this.through, ...options })
    await visited.page.route(/fonts\.googleapis/, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
    return visited
  }

  /** Makes the proofs of a person's sessions too old. */
  readonly endProofs = async (person: { id: number }): Promise<void> => {
    await withSql(
      embeddedConnection(this.service.dataDir),
      (sql) =>
        sql`update operator_session set confirmed_at = now() - interval '1 hour' where operator_id = ${person.id}`,
    )
  }

  /** Waits until an operation of the browser's session is refused for want of a proof. */
  readonly whenProofIsAsked = async (page: Page): Promise<void> => {
    const cookies = await page.context().cookies(this.through.url)
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const isAsked = async () => (await this.through.call('startTotp', {}, { headers: { cookie } })).code === 10035
    expect(await becomesTrue(isAsked)).toBe(true)
  }
}
