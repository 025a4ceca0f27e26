import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createOperator } from '../../src/people/operators/contract.ts'
import { createSession } from '../../src/people/sessions/contract.ts'
import type { Client } from '../harness.ts'
import { codeOf, newGenerator, newPassword, newPerson, signIn } from '../people.ts'
import {
  browserTest,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  narrow,
  newSerial,
  picture,
  visit,
} from './support.ts'
import { enterAtProvider, enterByPassword, heading, kept, signOut, WaysIn, withAuthenticator } from './ways-in.ts'

// Second factors in the console: passkeys, codes, and the proofs that some operations need.

const ways = new WaysIn()
const { open, endProofs, whenProofIsAsked } = ways
let through: Client

beforeAll(async () => {
  await ways.start()
  ;({ through } = ways)
}, 120_000)
afterAll(() => ways.stop(), 60_000)

describe('a passkey', () => {
  browserTest('is added with recovery codes, signs in by itself, proves who one is, and is removed', async () => {
    const person = await newPerson(through, 'viewer')
    const visited = await open('/console/account')
    const { page } = visited
    await withAuthenticator(page, async () => {
      await enterByPassword(visited, person)
      await page.getByRole('button', { name: 'Add passkey' }).click()
      const naming = page.getByRole('dialog', { name: 'Add passkey' })
      await naming.getByLabel('Name').fill('My laptop')
      await naming.getByRole('button', { name: 'Add passkey' }).click()
      const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
      await codes.getByRole('listitem').nth(9).waitFor()
      await expectSoundInBothShades(visited, 'Your account', 'recovery-codes')
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        codes.getByRole('button', { name: 'Download' }).click(),
      ])
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
    await page.getByText('Your role requires a second factor.').waitFor()
    await page.getByRole('button', { name: 'Set up authenticator app' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up authenticator app' })
    const code = dialog.getByRole('img', { name: 'QR code for your authenticator app' })
    await code.waitFor()
    // Drawn in the page: nothing was loaded for it.
    expect(await code.evaluate((picture) => [picture.tagName, picture.querySelectorAll('image, use').length])).toEqual([
      'svg',
      0,
    ])
    await expectSoundInBothShades(visited, 'Your account', 'generator')
    const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
    await dialog.getByLabel('Verification code').fill(codeOf(secret))
    // The codes are shown once, also where the page hears of the factor before it hears that the session is not limited.
    await page.route('**/session/detail', async (route) => {
      await Bun.sleep(500)
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const [recovery = ''] = await kept(page)
    await page.unroute('**/session/detail')
    // The session is no longer limited, and the page that the person wanted is open.
    await heading(page, 'Sites').waitFor()

    await signOut(page)
    await enterByPassword(visited, person)
    await page.getByLabel('Verification code').waitFor()
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recovery.toUpperCase())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(page, 'Overview').waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('9 of 10 left.').waitFor()
    expect(visited.faults).toEqual([])
  })
})

describe('in the long run', () => {
  longBrowserTest('a passkey that the browser fills in signs in without a click', async () => {
    const person = await newPerson(through, 'viewer')
    const visited = await open('/console/account')
    const { page } = visited
    await withAuthenticator(page, async () => {
      // A browser without a window has no autofill.
      if (!(await page.evaluate(() => PublicKeyCredential.isConditionalMediationAvailable()))) return
      await enterByPassword(visited, person)
      await page.getByRole('button', { name: 'Add passkey' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click()
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

  longBrowserTest('a set-up link of a role that needs a factor leads to it', async () => {
    const made = await through.operate(createOperator, { name: newSerial('person'), role: 'operator' })
    const { page } = await open(String(made.data.setUpPath))
    const password = newPassword()
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('Repeat password').fill(password)
    await page.getByRole('button', { name: 'Set up and sign in' }).click()
    await page.getByText('Your role requires a second factor.').waitFor()
    await leadTo(page, '/console/sites')
    await page.getByText('Your role requires a second factor.').waitFor()
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
    await page.locator('.ant-message').getByText('Only 2 recovery codes left.', { exact: false }).waitFor()
    await page.locator('.factor').getByText('Only 2 recovery codes left.', { exact: false }).waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'account-few-codes')
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
    await proof.getByLabel('Password').fill(password)
    await proof.getByLabel('Verification code').fill(codeOf(secret))
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
    await page.getByText('1 total').waitFor()
    await page.getByRole('row').filter({ hasText: login }).getByText('Single sign-on').waitFor()
    expect(await page.getByRole('button', { name: /^Reset / }).count()).toBe(0)
    await page.getByRole('button', { name: /^Edit Person/ }).click()
    await page.getByText('The identity provider sets the role').waitFor()
    expect(await page.getByRole('radio', { name: /^Viewer/ }).isDisabled()).toBe(true)
    await picture(page, 'operator-managed')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    await find(person.name)
    await page.getByRole('button', { name: `More actions for ${person.name}` }).waitFor()
    await expectSoundInBothShades(visited, 'Accounts and keys', 'people')
    await page.getByRole('button', { name: `More actions for ${person.name}` }).click()
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
})
