import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import { createOperator, createOperatorKey, pageOperators } from '../../src/people/operators/contract.ts'
import { startTotp } from '../../src/people/second-factor/contract.ts'
import { createSession } from '../../src/people/sessions/contract.ts'
import { becomesTrue, embeddedConnection, withSql } from '../faults/support.ts'
import { Client, type Service, startService } from '../harness.ts'
import { type OwnProvider, startOpenIdProvider } from '../openid-provider.ts'
import { codeOf, newPassword, newPerson, type Person, signIn } from '../people.ts'
import {
  browserTest,
  expectFramed,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  narrow,
  newSerial,
  picture,
  type Visited,
  visit,
} from './support.ts'

// The ways into the console: single sign-on, passkeys, codes, and the proofs that acts ask for. They need a service with a
// provider and an address by name; operators need a second factor there.

let provider: OwnProvider
let service: Service
/** The service at its public address, where passkeys are. */
let through: Client

beforeAll(async () => {
  provider = await startOpenIdProvider('localhost')
  service = await startService({
    env: { ...provider.env, FORECOURT_REQUIRE_SECOND_FACTOR: 'operator', FORECOURT_OIDC_NAME: 'Acme sign-on' },
  })
  through = new Client({ url: provider.publicUrl, operatorKey: service.operatorKey })
}, 120_000)
afterAll(async () => {
  await service.stop()
  provider.stop()
}, 60_000)

/** An authenticator in the browser, whose person is always there and verified. */
async function withAuthenticator(page: Page, use: (cdp: CDPSession, id: string) => Promise<void>): Promise<void> {
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

async function enterByPassword({ page }: Visited, { name, password }: Person): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Signs in at the provider's own page, as somebody. */
async function enterAtProvider(page: Page, login: string): Promise<void> {
  await page.route(/fonts\.g/, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('x')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByText('Sign out').click()
}

/** Ends the proofs of a person's sessions, as time does. */
async function endProofs(person: { id: number }): Promise<void> {
  await withSql(
    embeddedConnection(service.dataDir),
    (sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour' where operator_id = ${person.id}`,
  )
}

/** Waits until a session of the browser is asked for a proof. */
async function whenProofIsAsked(page: Page): Promise<void> {
  const cookies = await page.context().cookies(through.url)
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const isAsked = async () => (await through.call(startTotp, {}, { headers: { cookie } })).code === 10035
  expect(await becomesTrue(isAsked)).toBe(true)
}

const kept = async (page: Page): Promise<string[]> => {
  const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
  await codes.getByRole('listitem').nth(9).waitFor()
  const shown = await codes.getByRole('listitem').allTextContents()
  await codes.getByRole('button', { name: 'I have kept them' }).click()
  return shown
}

describe('a passkey', () => {
  browserTest('is added with recovery codes, signs in by itself, proves who one is, and is removed', async () => {
    const person = await newPerson(through, 'viewer')
    const visited = await visit('/console/account', { through })
    const { page } = visited
    await withAuthenticator(page, async () => {
      await enterByPassword(visited, person)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      const naming = page.getByRole('dialog', { name: 'Add a passkey' })
      await naming.getByLabel('Name').fill('My laptop')
      await naming.getByRole('button', { name: 'Add a passkey' }).click()
      const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
      await codes.getByRole('listitem').nth(9).waitFor()
      await expectSoundInBothShades(visited, 'Your account', 'recovery-codes')
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        codes.getByRole('button', { name: 'Download' }).click(),
      ])
      const text = readFileSync(await file.path(), 'utf8')
      for (const code of await kept(page)) expect(text).toContain(code)
      await page.getByRole('cell', { name: 'My laptop', exact: true }).waitFor()
      await page.getByText('10 of 10 left.').waitFor()

      // Else the authenticator signs in as soon as the browser offers to fill the fields.
      await page.evaluate(() => {
        PublicKeyCredential.isConditionalMediationAvailable = async () => false
      })
      await signOut(page)
      await page.getByRole('button', { name: 'Passkey', exact: true }).click()
      await heading(page, 'Overview').waitFor()
      await leadTo(page, '/console/account')
      await page.getByRole('cell', { name: 'Passkey', exact: true }).waitFor()

      await endProofs(person)
      await whenProofIsAsked(page)
      await page.getByRole('button', { name: 'Remove My laptop' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      const proof = page.getByRole('dialog', { name: 'Is it you?' })
      await proof.getByRole('button', { name: 'Passkey', exact: true }).click()
      await page.getByText('You have no passkey.').waitFor()
      expect(visited.faults).toEqual([])
    })
  })
})

describe('a code generator', () => {
  browserTest('is set up before anything else where the role asks for it, and a recovery code stands in', async () => {
    const person = await newPerson(through, 'operator')
    const visited = await visit('/console/sites', { through })
    const { page } = visited
    await enterByPassword(visited, person)
    await page.getByText('Your role asks for a second factor.').waitFor()
    await page.getByRole('button', { name: 'Set up a code generator' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up a code generator' })
    await dialog.getByRole('img', { name: 'QR code for the app' }).waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'generator')
    const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
    await dialog.getByLabel('Code of your code generator').fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Turn it on' }).click()
    const [code = ''] = await kept(page)
    // The session is whole, and the person where they wanted to.
    await heading(page, 'Sites').waitFor()

    await signOut(page)
    await enterByPassword(visited, person)
    await page.getByLabel('Code of your code generator').waitFor()
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(code.toUpperCase())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(page, 'Overview').waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('9 of 10 left.').waitFor()
    expect(visited.faults).toEqual([])
  })
})

describe('single sign-on', () => {
  browserTest('leads to the page that was wanted, says why it refuses, and signs out there too', async () => {
    const visited = await visit('/console/sites', { through })
    const { page } = visited
    const begin = page.getByRole('button', { name: 'Acme sign-on' })
    await begin.click()
    await enterAtProvider(page, newSerial('stranger'))
    const refusal = page.getByRole('alert')
    await refusal.getByText('The provider knows you, and you have no access here.').waitFor()
    await refusal.getByText(/Code 10062 · Request id \S/).waitFor()
    await expectSoundInBothShades(visited, 'Sign in', 'sign-on-refused')

    // The provider remembers who was there.
    await page.context().clearCookies()
    const login = newSerial('duty')
    await begin.click()
    await enterAtProvider(page, login)
    await heading(page, 'Sites').waitFor()
    await page.getByRole('button', { name: `Person ${login} Your account` }).click()
    await page.getByText('Sign out').click()
    await page.waitForURL((url) => url.href.startsWith(provider.env.FORECOURT_OIDC_ISSUER ?? ''))
    expect(visited.faults).toEqual([])
  })
})
