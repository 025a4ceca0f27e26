import { afterAll, beforeAll, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { Client } from '../kit/client.ts'
import { type OwnProvider, startOpenIdProvider } from '../kit/openid-provider.ts'
import { codeOf, newGenerator, newPassword, newPerson, type Person, signIn } from '../kit/people.ts'
import { newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { enterByPassword, fillIn, press, setUp, shows } from './hand.ts'
import { browserTest, client, expectSound, holdUp, leadTo, longBrowserTest, narrow, visit } from './support.ts'
import { enterAgain, enterAtProvider, heading, kept, signOut, WaysIn, withAuthenticator } from './ways-in.ts'

// Single sign-on and second factors in the console: passkeys, codes, and the proofs that some operations need.

const ways = new WaysIn()
const { open, endProofs, whenProofIsAsked } = ways
let through: Client
let provider: OwnProvider

beforeAll(async () => {
  await ways.start()
  ;({ through, provider } = ways)
}, 120_000)
afterAll(() => ways.stop(), 60_000)

/** Confirms the generator that is being set up with its code, now or some steps from now. */
async function turnGeneratorOn(page: Page, step = 0): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'Set up authenticator app' })
  const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
  await dialog.getByLabel('Verification code').fill(codeOf(secret, step))
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  return secret
}

/** Signs in, or links an account, at the provider. */
async function signOn(page: Page, login: string, button = 'Acme sign-on'): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  await enterAtProvider(page, login)
}

browserTest('a passkey is added with recovery codes, signs in, proves who one is, and is removed', async () => {
  const person = await newPerson(through, 'viewer')
  const { page } = await open('/console/account')
  await withAuthenticator(page, async () => {
    await enterByPassword(page, person)
    await page.getByRole('button', { name: 'Add passkey' }).click()
    const naming = page.getByRole('dialog', { name: 'Add passkey' })
    await naming.getByLabel('Name').fill('My laptop')
    await naming.getByRole('button', { name: 'Add passkey' }).click()
    const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
    await codes.getByRole('listitem').nth(9).waitFor()
    await expectSound(page, 'Your account', 'recovery-codes')
    const [file] = await Promise.all([page.waitForEvent('download'), press(codes, 'Download')])
    const text = readFileSync(await file.path(), 'utf8')
    await codes.getByRole('button', { name: 'Copy' }).click()
    await page.getByText(/^Copied\.?$/).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text)
    await page.evaluate(() => {
      window.print = () => document.body.setAttribute('data-printed', '')
    })
    await codes.getByRole('button', { name: 'Print' }).click()
    await page.locator('body[data-printed]').waitFor()
    for (const code of await kept(page)) expect(text).toContain(code)
    // The service's time, with its zone.
    expect(text).toMatch(/generated \d{4}-\d\d-\d\d \d\d:\d\d \(Asia\/Shanghai\)/)
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
    const proof = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await proof.getByRole('button', { name: 'Passkey', exact: true }).click()
    await page.getByText('No passkeys yet.').waitFor()
  })
})

longBrowserTest('a generator comes first where the role asks for it, and a recovery code stands in', async () => {
  const person = await newPerson(through, 'operator')
  const { page } = await open('/console/sites')
  await enterByPassword(page, person)
  await page.getByText('Your role requires a second factor.').waitFor()
  await page.getByRole('button', { name: 'Set up authenticator app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up authenticator app' })
  const code = dialog.getByRole('img', { name: 'QR code for your authenticator app' })
  await code.waitFor()
  // Drawn in the page: nothing was loaded for it.
  const made = await code.evaluate((picture) => [picture.tagName, picture.querySelectorAll('image, use').length])
  expect(made).toEqual(['svg', 0])
  await expectSound(page, 'Your account', 'generator')
  // The codes are shown once, also where the page hears of the factor before it hears that the session is not limited.
  await holdUp(page, '**/session/detail', () => Bun.sleep(500))
  await turnGeneratorOn(page)
  const [recovery = ''] = await kept(page)
  await page.unroute('**/session/detail')
  // The session is no longer limited, and the page that the person wanted is open.
  await heading(page, 'Sites').waitFor()

  await signOut(page)
  await enterByPassword(page, person)
  await page.getByLabel('Verification code').waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(recovery.toUpperCase())
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await heading(page, 'Overview').waitFor()
  await leadTo(page, '/console/account')
  await page.getByText('9 of 10 left.').waitFor()
})

longBrowserTest('a passkey that nobody shows leaves a sentence, and the password', async () => {
  const person = await newPerson(through, 'viewer')
  const { page } = await open('/console/sign-in')
  await withAuthenticator(page, async (cdp, authenticatorId) => {
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.getByRole('button', { name: 'Passkey', exact: true }).click()
    await page.getByText('No passkey was used').waitFor()
    await enterByPassword(page, person)
    await heading(page, 'Overview').waitFor()
  })
})

longBrowserTest('a set-up link of a role that needs a factor leads to it', async () => {
  const made = await through.operate('createOperator', { name: newSerial('person'), role: 'operator' })
  const { page } = await open(String(made.data.setUpPath))
  await setUp(page, newPassword())
  await page.getByText('Your role requires a second factor.').waitFor()
  await leadTo(page, '/console/sites')
  await page.getByText('Your role requires a second factor.').waitFor()
})

longBrowserTest('codes prove who one is; few recovery codes are told, and renewed', async () => {
  const person = await newPerson(through, 'viewer')
  const { secret, recoveryCodes } = await newGenerator(through, await signIn(through, person))
  const { name, password } = person
  for (const code of recoveryCodes.slice(0, 7)) await through.call('createSession', { name, password, code })
  const { page } = await open('/console/account')
  await enterByPassword(page, person)
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(recoveryCodes[7] ?? '')
  await page.getByLabel('Recovery code').press('Enter')
  for (const place of ['.notices', '.factor']) await shows(page.locator(place), 'Only 2 recovery codes left.')
  await expectSound(page, 'Your account', 'account-few-codes')
  await endProofs(person)
  await whenProofIsAsked(page)
  await page.getByRole('button', { name: 'Generate new codes' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm it’s you' })
  const renewing = page.getByRole('dialog').getByRole('button', { name: 'Generate new codes' })
  await renewing.click()
  // Who cancels the proof has done nothing wrong.
  await proof.getByRole('button', { name: 'Cancel' }).click()
  await proof.waitFor({ state: 'detached' })
  expect(await page.getByText('10035').count()).toBe(0)
  await renewing.click()
  await fillIn(proof, { Password: password, 'Verification code': codeOf(secret) })
  await press(proof, 'Confirm')
  await kept(page)
  await page.getByText('10 of 10 left.').waitFor()
})

longBrowserTest('an admin sees how people come in, and resets a second factor with a reason', async () => {
  const person = await newPerson(through, 'viewer')
  await newGenerator(through, await signIn(through, person))
  const signedOn = await open('/console/sites')
  const login = newSerial('duty')
  await signOn(signedOn.page, login)
  await heading(signedOn.page, 'Sites').waitFor()

  // In a narrower window the list has no room for how people sign in.
  const viewport = { width: 1600, height: 900 }
  const { page } = await visit('/console/people', { role: 'admin', through, viewport })
  const find = (name: string) => leadTo(page, `/console/people?name=${name}`)
  await find(login)
  await page.getByText('1 total').waitFor()
  await page.getByRole('row').filter({ hasText: login }).getByText('Single sign-on').waitFor()
  expect(await page.getByRole('button', { name: /^Reset / }).count()).toBe(0)
  await page.getByRole('button', { name: /^Edit Person/ }).click()
  await page.getByText('The identity provider sets the role').waitFor()
  expect(await page.getByRole('radio', { name: /^Viewer/ }).isDisabled()).toBe(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  await find(person.name)
  await page.getByRole('button', { name: `More actions for ${person.name}` }).waitFor()
  await expectSound(page, 'Accounts and keys', 'people')
  await page.getByRole('button', { name: `More actions for ${person.name}` }).click()
  await page.getByRole('menuitem', { name: 'Reset second factor' }).click()
  const dialog = page.getByRole('dialog', { name: `Reset the second factor of ${person.name}?` })
  await dialog.getByLabel('Reason').fill('the phone is lost')
  await dialog.getByRole('button', { name: 'Reset second factor' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('row').filter({ hasText: person.name }).getByText('None').waitFor()
  await signIn(through, person)
})

longBrowserTest('second factors fit a phone, in Chinese, in the dark', async () => {
  const options = { language: 'zh', viewport: narrow, isDark: true } as const
  const made = await through.operate('createOperator', { name: newSerial('person'), role: 'viewer' })
  const first = await open(String(made.data.setUpPath), options)
  await first.page.getByRole('button', { name: 'Acme sign-on' }).waitFor()
  await expectSound(first.page, '设置账号', 'set-up-phone')

  const person = await newPerson(through, 'viewer')
  const { page } = await open('/console/account', options)
  await page.getByRole('button', { name: '通行密钥', exact: true }).waitFor()
  await expectSound(page, '登录', 'sign-in-phone')
  await fillIn(page, { 用户名: person.name, 密码: person.password })
  await page.getByRole('button', { name: '登录', exact: true }).click()
  await withAuthenticator(page, async () => {
    await page.getByRole('button', { name: '添加通行密钥' }).click()
    await page.getByRole('dialog').getByRole('button', { name: '添加通行密钥' }).click()
    await page.getByRole('dialog').getByRole('listitem').nth(9).waitFor()
    await expectSound(page, '我的账号', 'recovery-codes-phone')
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('button', { name: '我已保存' }).click()
    await page.getByRole('button', { name: '设置验证器' }).click()
    await page.getByRole('img', { name: '供验证器应用扫描的二维码' }).waitFor()
    await expectSound(page, '我的账号', 'generator-phone')
    await page.getByRole('button', { name: '取消' }).click()
    await page.getByRole('cell', { name: '仅一台设备' }).waitFor()
    await expectSound(page, '我的账号', 'account-phone')
  })
})

browserTest('single sign-on leads to the page that was wanted, says why it refuses, and signs out', async () => {
  const { page } = await open('/console/sites')
  await signOn(page, newSerial('stranger'))
  const refusal = page.getByRole('alert')
  await refusal.getByText('You signed in with the identity provider, but you have no access here.').waitFor()
  await refusal.getByText(/Error 10062 · Request ID: \S/).waitFor()
  await expectSound(page, 'Sign in', 'sign-on-refused')

  // The provider remembers who was there.
  await page.context().clearCookies()
  const login = newSerial('duty')
  await signOn(page, login)
  await heading(page, 'Sites').waitFor()
  await page.getByRole('button', { name: `Person ${login} Your account` }).click()
  await page.getByText('Sign out').click()
  await page.waitForURL((url) => url.href.startsWith(provider.env.FORECOURT_OIDC_ISSUER ?? ''))
})

/** Opens the form of a new site of an application, signs in, types a name; `isSaved` waits until the form was sent. */
async function typedForm({ appId, token }: TestApplication, enter: (page: Page) => Promise<void>) {
  const { id } = (await through.call('saveSite', siteBody(appId), { token })).data
  const path = `/console/sites/${appId}/${id}`
  const { page } = await open(`${path}/edit`)
  await enter(page)
  const name = newSerial('typed')
  await page.getByLabel('Site name').fill(name)
  const isSaved = async () => {
    await page.waitForURL(`**${path}`)
    return (await through.call('getSite', { id }, { token })).data.siteName === name
  }
  return { page, save: page.getByRole('button', { name: 'Save' }), isSaved }
}

longBrowserTest('an open form waits for its person, who signs in again by single sign-on, and is sent', async () => {
  const login = newSerial('duty')
  const form = await typedForm(await newApplication(through), (page) => signOn(page, login))
  const { page } = form
  const person = (await through.operate('pageOperators', { name: login })).data.list[0]
  const { list } = (await through.operate('pageSessions', { operatorId: person?.id ?? 0 })).data
  await through.operate('deleteSession', { id: list[0]?.id ?? 0 })
  await form.save.click()
  const again = page.locator('.sign-in-again').getByRole('button', { name: 'Acme sign-on' })
  const [popup] = await Promise.all([page.waitForEvent('popup'), again.click()])
  // The provider remembers its person.
  expect(await becomesTrue(() => popup.isClosed())).toBe(true)
  expect(await form.isSaved()).toBe(true)
})

longBrowserTest('an open form waits for the second factor that its session lacks, and is sent', async () => {
  const app = await newApplication(through)
  const person = await newPerson(through, 'developer', [app.appId])
  const form = await typedForm(app, (page) => enterByPassword(page, person))
  const { secret } = await newGenerator(through, await signIn(through, person))
  // The role that asks for a factor.
  await through.operate('updateOperator', { id: person.id, role: 'operator', appIds: [] })
  await form.save.click()
  const factor = form.page.locator('.sign-in-again')
  await factor.getByLabel('Verification code').fill(codeOf(secret))
  expect(await form.page.getByLabel('Site name').isVisible()).toBe(false)
  await factor.getByRole('button', { name: 'Confirm' }).click()
  expect(await form.isSaved()).toBe(true)
})

longBrowserTest('an open form waits while a second factor is set up, until recovery codes are kept', async () => {
  const app = await newApplication(through)
  const person = await newPerson(through, 'developer', [app.appId])
  const form = await typedForm(app, (page) => enterByPassword(page, person))
  await through.operate('updateOperator', { id: person.id, role: 'operator', appIds: [] })
  await form.save.click()
  await form.page.locator('.sign-in-again').getByRole('button', { name: 'Set up authenticator app' }).click()
  await turnGeneratorOn(form.page)
  expect(await kept(form.page)).toHaveLength(10)
  expect(await form.isSaved()).toBe(true)
})

longBrowserTest('a passkey at another address than the service’s own says where it works', async () => {
  const here = new Client({ url: `http://127.0.0.1:${new URL(through.url).port}`, operatorKey: through.operatorKey })
  const { page } = await open('/console/sign-in', { through: here })
  await page.getByRole('button', { name: 'Passkey', exact: true }).click()
  await page.getByText(`this page is at ${new URL(here.url).host}`).waitFor()
})

longBrowserTest('the sign-in page offers sign-on, then a passkey, then a password, to be filled in', async () => {
  const { page } = await open('/console/sign-in')
  const first = page.getByRole('button', { name: 'Acme sign-on' })
  const then = page.getByRole('button', { name: 'Passkey', exact: true })
  await then.waitFor()
  const parts = [first, then, page.getByLabel('Name'), page.getByLabel('Password')]
  const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y))
  expect(tops.toSorted((one, other) => Number(one) - Number(other))).toEqual(tops)
  const filledAs = (label: string) => page.getByLabel(label).getAttribute('autocomplete')
  expect([await filledAs('Name'), await filledAs('Password')]).toEqual(['username webauthn', 'current-password'])
  const person = await newPerson(through, 'viewer')
  await newGenerator(through, await signIn(through, person))
  await enterByPassword(page, person)
  await page.getByLabel('Verification code').waitFor()
  expect(await filledAs('Verification code')).toBe('one-time-code')
})

longBrowserTest('a proof by single sign-on comes from a window of its own, and the act goes on', async () => {
  const { page } = await open('/console/account')
  const login = newSerial('duty')
  await signOn(page, login)
  await page.getByText('Acme sign-on created this account and manages its role.').waitFor()
  const person = (await through.operate('pageOperators', { name: login })).data.list[0]
  expect(person).toMatchObject({ source: 2, isLinked: true })
  await endProofs({ id: person?.id ?? 0 })
  await whenProofIsAsked(page)
  await page.getByRole('button', { name: 'Set up authenticator app' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await proof.getByRole('button', { name: 'Acme sign-on' }).waitFor()
  // The account has no password: none is asked for, and none can be changed.
  expect(await proof.getByLabel('Password').count()).toBe(0)
  expect(await page.getByRole('heading', { name: 'Change password' }).count()).toBe(0)
  const [popup] = await Promise.all([page.waitForEvent('popup'), press(proof, 'Acme sign-on')])
  await enterAgain(popup, login)
  await page.getByRole('dialog', { name: 'Set up authenticator app' }).waitFor()
  await proof.waitFor({ state: 'hidden' })
  expect(await becomesTrue(() => popup.isClosed())).toBe(true)
  await page.getByRole('button', { name: 'Cancel' }).click()

  // What the provider manages is not offered.
  expect(await page.getByRole('button', { name: /^(Unlink|Link to)/ }).count()).toBe(0)
})

longBrowserTest('an account is linked, unlinked, and told when another has the identity', async () => {
  const [one, other] = [await newPerson(through, 'admin'), await newPerson(through, 'viewer')]
  const { page } = await open('/console/account')
  const login = newSerial('duty')
  await enterByPassword(page, one)
  await signOn(page, login, 'Link to Acme sign-on')
  await page.getByText('Your account is linked to Acme sign-on.').waitFor()
  await expectSound(page, 'Your account', 'account-linked')

  const comeAs = async (person: Person) => {
    await page.context().clearCookies()
    await page.goto(`${through.url}/console/account`)
    await enterByPassword(page, person)
  }
  await comeAs(other)
  await signOn(page, login, 'Link to Acme sign-on')
  await page.getByRole('alert').getByText('This identity is linked to another account').waitFor()
  await page.getByText('Error 10064').waitFor()

  await comeAs(one)
  await page.getByRole('button', { name: 'Unlink' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
  await page.getByText('Your account isn’t linked to Acme sign-on.').waitFor()
  await page.getByRole('button', { name: 'Link to Acme sign-on' }).waitFor()
})

longBrowserTest('a set-up link takes single sign-on in place of a password', async () => {
  const made = await through.operate('createOperator', { name: newSerial('person'), role: 'viewer' })
  const { page } = await open(String(made.data.setUpPath))
  await page.getByRole('button', { name: 'Acme sign-on' }).waitFor()
  await expectSound(page, 'Set up your account', 'set-up')
  await signOn(page, newSerial('duty'))
  await heading(page, 'Overview').waitFor()
  const { data } = await through.operate('getOperator', { id: made.data.id })
  expect(data).toMatchObject({ source: 1, isLinked: true })
})

longBrowserTest('that only admins sign in by password, or sign-on needs our factor too, is told', async () => {
  const strict = await startOpenIdProvider('localhost')
  const settings = { FORECOURT_PASSWORDS: 'admins', FORECOURT_SIGN_ON_SECOND_FACTOR: 'ours' }
  const own = await startService({ env: { ...strict.env, ...settings } })
  try {
    const toStrict = new Client({ url: strict.publicUrl, operatorKey: own.operatorKey })
    const { page } = await open('/console/sites', { through: toStrict })
    await page.getByText('or use your password (admins only)').waitFor()
    const login = newSerial('duty')
    await signOn(page, login, 'Single sign-on')
    await page.getByRole('button', { name: 'Set up authenticator app' }).click()
    const secret = await turnGeneratorOn(page, -1)
    await kept(page)
    await heading(page, 'Sites').waitFor()

    await page.context().clearCookies()
    await page.goto(`${toStrict.url}/console/sites`)
    await signOn(page, login, 'Single sign-on')
    await page.getByText('Confirm your second factor').waitFor()
    await expectSound(page, 'Your account', 'show-factor')
    await page.getByLabel('Verification code').fill(codeOf(secret, 1))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await heading(page, 'Sites').waitFor()
    // What the page still asks for would fail once its service has stopped.
    await page.goto(`${client.url}/docs/en`)
  } finally {
    await own.stop()
    strict.stop()
  }
})
