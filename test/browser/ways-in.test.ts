import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import { createOperator, getOperator, pageOperators } from '../../src/people/operators/contract.ts'
import { startTotp } from '../../src/people/second-factor/contract.ts'
import { createSession } from '../../src/people/sessions/contract.ts'
import { becomesTrue, embeddedConnection, withSql } from '../faults/support.ts'
import { Client, type Service, startService } from '../harness.ts'
import { type OwnProvider, startOpenIdProvider } from '../openid-provider.ts'
import { codeOf, newGenerator, newPassword, newPerson, type Person, signIn } from '../people.ts'
import {
  browserTest,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  narrow,
  newSerial,
  picture,
  type Visit,
  type Visited,
  visit,
} from './support.ts'

// The ways into the console: single sign-on, passkeys, codes, and the proofs that some operations need. The tests need
// a service with a provider and a host name; there, operators need a second factor.

let provider: OwnProvider
let service: Service
/** A client for the service's public address, at which passkeys work. */
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

/** Adds an authenticator to the browser; its person is always present and verified. */
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
  // The page that is being left may also have a field with this name.
  await heading(page, 'Sign in').waitFor()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/**
 * Opens a page of a service with single sign-on. The provider's page requests a font from another host, which is
 * blocked because no test needs it.
 */
async function open(path: string, options: Visit = {}): Promise<Visited> {
  const visited = await visit(path, { through, ...options })
  await visited.page.route(/fonts\.googleapis/, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  return visited
}

/** Signs in at the provider's own page, as somebody. */
async function enterAtProvider(page: Page, login: string): Promise<void> {
  await enterAgain(page, login)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** The same, if the person has already allowed the provider to identify them to the service. */
async function enterAgain(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('x')
  await page.getByRole('button', { name: 'Sign-in' }).click()
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByText('Sign out').click()
}

/** Makes the proofs of a person's sessions too old. */
async function endProofs(person: { id: number }): Promise<void> {
  await withSql(
    embeddedConnection(service.dataDir),
    (sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour' where operator_id = ${person.id}`,
  )
}

/** Waits until an operation of the browser's session is refused for want of a proof. */
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
    const visited = await open('/console/account')
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
      await codes.getByRole('button', { name: 'Copy' }).click()
      await page.getByText('Copied.').waitFor()
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text)
      await page.evaluate(() => {
        window.print = () => document.body.setAttribute('data-printed', '')
      })
      await codes.getByRole('button', { name: 'Print' }).click()
      await page.locator('body[data-printed]').waitFor()
      for (const code of await kept(page)) expect(text).toContain(code)
      // The service's time, with its zone.
      expect(text).toMatch(/made \d{4}-\d\d-\d\d \d\d:\d\d \(Asia\/Shanghai\)/)
      await page.getByRole('cell', { name: 'My laptop', exact: true }).waitFor()
      await page.getByText('10 of 10 left.').waitFor()

      // Otherwise the authenticator would sign in as soon as the browser offers to fill the fields.
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
    const visited = await open('/console/sites')
    const { page } = visited
    await enterByPassword(visited, person)
    await page.getByText('You need a second factor here.').waitFor()
    await page.getByRole('button', { name: 'Set up a code generator' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up a code generator' })
    const code = dialog.getByRole('img', { name: 'QR code for the app' })
    await code.waitFor()
    // Drawn in the page: nothing was loaded for it.
    expect(await code.evaluate((picture) => [picture.tagName, picture.querySelectorAll('image, use').length])).toEqual([
      'svg',
      0,
    ])
    await expectSoundInBothShades(visited, 'Your account', 'generator')
    const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
    await dialog.getByLabel('Code of your code generator').fill(codeOf(secret))
    // The codes are shown once, also where the page hears of the factor before it hears that the session is not limited.
    await page.route('**/session/detail', async (route) => {
      await Bun.sleep(500)
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Turn it on' }).click()
    const [recovery = ''] = await kept(page)
    await page.unroute('**/session/detail')
    // The session is no longer limited, and the page that the person wanted is open.
    await heading(page, 'Sites').waitFor()

    await signOut(page)
    await enterByPassword(visited, person)
    await page.getByLabel('Code of your code generator').waitFor()
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recovery.toUpperCase())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(page, 'Overview').waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('9 of 10 left.').waitFor()
    expect(visited.faults).toEqual([])
  })
})

describe('single sign-on', () => {
  browserTest('leads to the page that was wanted, says why it refuses, and signs out there too', async () => {
    const visited = await open('/console/sites')
    const { page } = visited
    const begin = page.getByRole('button', { name: 'Acme sign-on' })
    await begin.click()
    await enterAtProvider(page, newSerial('stranger'))
    const refusal = page.getByRole('alert')
    await refusal.getByText('The provider knows you, but you have no access here.').waitFor()
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

describe('in the long run', () => {
  longBrowserTest(
    'the sign-in page offers sign-on first, then a passkey, then a password, to be filled in',
    async () => {
      const { page, faults } = await open('/console/sign-in')
      const first = page.getByRole('button', { name: 'Acme sign-on' })
      const then = page.getByRole('button', { name: 'Passkey', exact: true })
      await then.waitFor()
      const tops = await Promise.all(
        [first, then, page.getByLabel('Name'), page.getByLabel('Password')].map(
          async (part) => (await part.boundingBox())?.y,
        ),
      )
      expect(tops.toSorted((one, other) => Number(one) - Number(other))).toEqual(tops)
      const filledAs = (label: string) => page.getByLabel(label).getAttribute('autocomplete')
      expect([await filledAs('Name'), await filledAs('Password')]).toEqual(['username webauthn', 'current-password'])
      const { name, password } = await newPerson(through, 'viewer')
      const answer = await through.call(createSession, { name, password })
      await newGenerator(through, { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' })
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByLabel('Code of your code generator').waitFor()
      expect(await filledAs('Code of your code generator')).toBe('one-time-code')
      expect(faults).toEqual([])
    },
  )

  longBrowserTest('a passkey that the browser fills in signs in without a click', async () => {
    const person = await newPerson(through, 'viewer')
    const visited = await open('/console/account')
    const { page } = visited
    await withAuthenticator(page, async () => {
      // A browser without a window has no autofill.
      if (!(await page.evaluate(() => PublicKeyCredential.isConditionalMediationAvailable()))) return
      await enterByPassword(visited, person)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
      await kept(page)
      await signOut(page)
      await heading(page, 'Overview').waitFor()
      expect(visited.faults).toEqual([])
    })
  })

  longBrowserTest('a passkey that nobody shows leaves a sentence, and the password', async () => {
    const person = await newPerson(through, 'viewer')
    const visited = await open('/console/sign-in')
    const { page } = visited
    await withAuthenticator(page, async (cdp, authenticatorId) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
      await page.getByRole('button', { name: 'Passkey', exact: true }).click()
      await page.getByText('No passkey was used').waitFor()
      await enterByPassword(visited, person)
      await heading(page, 'Overview').waitFor()
      expect(visited.faults).toEqual([])
    })
  })

  longBrowserTest('a proof by single sign-on comes from a window of its own, and the act goes on', async () => {
    const visited = await open('/console/account')
    const { page } = visited
    const login = newSerial('duty')
    await page.getByRole('button', { name: 'Acme sign-on' }).click()
    await enterAtProvider(page, login)
    await page.getByText('Acme sign-on made this account, and decides its role.').waitFor()
    const person = (await through.operate(pageOperators, { name: login })).data.list[0]
    expect(person).toMatchObject({ source: 2, isLinked: true })
    await endProofs({ id: person?.id ?? 0 })
    await whenProofIsAsked(page)
    await page.getByRole('button', { name: 'Set up a code generator' }).click()
    const proof = page.getByRole('dialog', { name: 'Is it you?' })
    await proof.getByRole('button', { name: 'Acme sign-on' }).waitFor()
    // The account has no password: none is asked for, and none can be changed.
    expect(await proof.getByLabel('Password').count()).toBe(0)
    expect(await page.getByRole('heading', { name: 'Change your password' }).count()).toBe(0)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      proof.getByRole('button', { name: 'Acme sign-on' }).click(),
    ])
    await picture(page, 'proof')
    await enterAgain(popup, login)
    await page.getByRole('dialog', { name: 'Set up a code generator' }).waitFor()
    await proof.waitFor({ state: 'hidden' })
    expect(await becomesTrue(() => popup.isClosed())).toBe(true)
    await page.getByRole('button', { name: 'Cancel' }).click()

    // What the provider manages is not offered.
    expect(await page.getByRole('button', { name: /^(Unlink|Link with)/ }).count()).toBe(0)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('an account is linked, unlinked, and told when another has the identity', async () => {
    const [one, other] = [await newPerson(through, 'admin'), await newPerson(through, 'viewer')]
    const visited = await open('/console/account')
    const { page } = visited
    const login = newSerial('duty')
    await enterByPassword(visited, one)
    await page.getByRole('button', { name: 'Link with Acme sign-on' }).click()
    await enterAtProvider(page, login)
    await page.getByText('This account is linked with Acme sign-on.').waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'account-linked')

    await page.context().clearCookies()
    await page.goto(`${through.url}/console/account`)
    await enterByPassword(visited, other)
    await page.getByRole('button', { name: 'Link with Acme sign-on' }).click()
    await enterAtProvider(page, login)
    await page.getByRole('alert').getByText('The identity belongs to another account').waitFor()
    await page.getByText('Code 10064').waitFor()

    await page.context().clearCookies()
    await page.goto(`${through.url}/console/account`)
    await enterByPassword(visited, one)
    await page.getByRole('button', { name: 'Unlink' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('This account is not linked with Acme sign-on.').waitFor()
    await page.getByRole('button', { name: 'Link with Acme sign-on' }).waitFor()
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('a set-up link takes single sign-on in place of a password', async () => {
    const made = await through.operate(createOperator, { name: newSerial('person'), role: 'viewer' })
    const visited = await open(String(made.data.setUpPath))
    const { page } = visited
    await page.getByRole('button', { name: 'Acme sign-on' }).waitFor()
    await expectSoundInBothShades(visited, 'Set up your account', 'set-up')
    await page.getByRole('button', { name: 'Acme sign-on' }).click()
    await enterAtProvider(page, newSerial('duty'))
    await heading(page, 'Overview').waitFor()
    expect((await through.operate(getOperator, { id: made.data.id })).data).toMatchObject({ source: 1, isLinked: true })
  })

  longBrowserTest('a set-up link of a role that needs a factor leads to it', async () => {
    const made = await through.operate(createOperator, { name: newSerial('person'), role: 'operator' })
    const { page } = await open(String(made.data.setUpPath))
    const password = newPassword()
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('The same again').fill(password)
    await page.getByRole('button', { name: 'Set up and sign in' }).click()
    await page.getByText('You need a second factor here.').waitFor()
    await leadTo(page, '/console/sites')
    await page.getByText('You need a second factor here.').waitFor()
  })

  longBrowserTest('codes prove who one is; few recovery codes are told, and renewed', async () => {
    const person = await newPerson(through, 'viewer')
    const { secret, recoveryCodes } = await newGenerator(through, await signIn(through, person))
    const { name, password } = person
    for (const code of recoveryCodes.slice(0, 7)) await through.call(createSession, { name, password, code })
    const visited = await open('/console/account')
    const { page } = visited
    await enterByPassword(visited, person)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCodes[7] ?? '')
    await page.getByLabel('Recovery code').press('Enter')
    await page.locator('.ant-message').getByText('You have 2 recovery codes left.').waitFor()
    await page.locator('.factor').getByText('You have 2 recovery codes left.').waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'account-few-codes')
    await endProofs(person)
    await whenProofIsAsked(page)
    await page.getByRole('button', { name: 'Renew the recovery codes' }).click()
    const renewing = page.getByRole('dialog').getByRole('button', { name: 'Renew the recovery codes' })
    await renewing.click()
    const proof = page.getByRole('dialog', { name: 'Is it you?' })
    // Who cancels the proof has done nothing wrong.
    await proof.getByRole('button', { name: 'Cancel' }).click()
    await proof.waitFor({ state: 'detached' })
    expect(await page.getByText('10035').count()).toBe(0)
    await renewing.click()
    await proof.getByLabel('Password').fill(password)
    await proof.getByLabel('Code of your code generator').fill(codeOf(secret))
    await picture(page, 'proof-code')
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await kept(page)
    await page.getByText('10 of 10 left.').waitFor()
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('an admin sees how people come in, and resets a second factor with a reason', async () => {
    const person = await newPerson(through, 'viewer')
    await newGenerator(through, await signIn(through, person))
    const signedOn = await open('/console/sites')
    const login = newSerial('duty')
    await signedOn.page.getByRole('button', { name: 'Acme sign-on' }).click()
    await enterAtProvider(signedOn.page, login)
    await heading(signedOn.page, 'Sites').waitFor()

    const visited = await visit('/console/people', { role: 'admin', through })
    const { page } = visited
    const find = (name: string) => leadTo(page, `/console/people?name=${name}`)
    await find(login)
    await page.getByText('1 in all').waitFor()
    await page.getByRole('row').filter({ hasText: login }).getByText('Single sign-on').waitFor()
    expect(await page.getByRole('button', { name: /^Reset / }).count()).toBe(0)
    await page.getByRole('button', { name: /^Edit Person/ }).click()
    await page.getByText('The sign-on provider decides the role').waitFor()
    expect(await page.getByRole('radio', { name: /^Viewer/ }).isDisabled()).toBe(true)
    await picture(page, 'operator-managed')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    await find(person.name)
    await page.getByRole('button', { name: `More for ${person.name}` }).waitFor()
    await expectSoundInBothShades(visited, 'People and keys', 'people')
    await page.getByRole('button', { name: `More for ${person.name}` }).click()
    await page.getByRole('menuitem', { name: 'Reset second factor' }).click()
    const dialog = page.getByRole('dialog', { name: `Reset the second factor of ${person.name}?` })
    await dialog.getByLabel('Reason').fill('the phone is lost')
    await dialog.getByRole('button', { name: 'Reset second factor' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('row').filter({ hasText: person.name }).getByText('None').waitFor()
    await signIn(through, person)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('they fit a phone, in Chinese, in the dark', async () => {
    const options = { language: 'zh', viewport: narrow, isDark: true } as const
    const made = await through.operate(createOperator, { name: newSerial('person'), role: 'viewer' })
    const setUp = await open(String(made.data.setUpPath), options)
    await setUp.page.getByRole('button', { name: 'Acme sign-on' }).waitFor()
    await expectSoundInBothShades(setUp, '设置账号', 'set-up-phone')

    const person = await newPerson(through, 'viewer')
    const visited = await open('/console/account', options)
    const { page } = visited
    await page.getByRole('button', { name: '通行密钥', exact: true }).waitFor()
    await expectSoundInBothShades(visited, '登录', 'sign-in-phone')
    await page.getByLabel('用户名').fill(person.name)
    await page.getByLabel('密码', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: '登录', exact: true }).click()
    await withAuthenticator(page, async () => {
      await page.getByRole('button', { name: '添加通行密钥' }).click()
      await page.getByRole('dialog').getByRole('button', { name: '添加通行密钥' }).click()
      await page.getByRole('dialog').getByRole('listitem').nth(9).waitFor()
      await expectSoundInBothShades(visited, '我的账号', 'recovery-codes-phone')
      await page.emulateMedia({ media: 'print' })
      await picture(page, 'recovery-codes-printed')
      expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(false)
      await page.emulateMedia({ media: 'screen' })
      await page.getByRole('button', { name: '我已保存' }).click()
      await page.getByRole('button', { name: '设置验证器' }).click()
      await page.getByRole('img', { name: '供验证器应用扫描的二维码' }).waitFor()
      await expectSoundInBothShades(visited, '我的账号', 'generator-phone')
      await page.getByRole('button', { name: '取消' }).click()
      await page.getByRole('cell', { name: '仅一台设备' }).waitFor()
      await expectSoundInBothShades(visited, '我的账号', 'account-phone')
    })
  })

  longBrowserTest(
    'where only admins sign in by password, and sign-on shows our factor too, the pages say so',
    async () => {
      const strict = await startOpenIdProvider('localhost')
      const own = await startService({
        env: { ...strict.env, FORECOURT_PASSWORDS: 'admins', FORECOURT_SIGN_ON_SECOND_FACTOR: 'ours' },
      })
      try {
        const toStrict = new Client({ url: strict.publicUrl, operatorKey: own.operatorKey })
        const visited = await open('/console/sites', { through: toStrict })
        const { page } = visited
        await page.getByText('or, for admins only, by password').waitFor()
        const login = newSerial('duty')
        await page.getByRole('button', { name: 'Single sign-on' }).click()
        await enterAtProvider(page, login)
        await page.getByRole('button', { name: 'Set up a code generator' }).click()
        const dialog = page.getByRole('dialog', { name: 'Set up a code generator' })
        const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
        await dialog.getByLabel('Code of your code generator').fill(codeOf(secret, -1))
        await dialog.getByRole('button', { name: 'Turn it on' }).click()
        await kept(page)
        await heading(page, 'Sites').waitFor()

        await page.context().clearCookies()
        await page.goto(`${toStrict.url}/console/sites`)
        await page.getByRole('button', { name: 'Single sign-on' }).click()
        await enterAtProvider(page, login)
        await page.getByText('Show your second factor').waitFor()
        await expectSoundInBothShades(visited, 'Your account', 'show-factor')
        await page.getByLabel('Code of your code generator').fill(codeOf(secret, 1))
        await page.getByRole('button', { name: 'Show it' }).click()
        await heading(page, 'Sites').waitFor()
        expect(visited.faults).toEqual([])
      } finally {
        await own.stop()
        strict.stop()
      }
    },
  )
})
