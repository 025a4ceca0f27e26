import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { createOperator, getOperator, pageOperators, updateOperator } from '../../src/people/operators/contract.ts'
import { createSession, deleteSession, pageSessions } from '../../src/people/sessions/contract.ts'
import { getSite, saveSite } from '../../src/sites/contract.ts'
import { becomesTrue } from '../faults/support.ts'
import { Client, newApplication, siteBody, startService } from '../harness.ts'
import { type OwnProvider, startOpenIdProvider } from '../openid-provider.ts'
import { codeOf, newGenerator, newPerson, signIn } from '../people.ts'
import { browserTest, expectSoundInBothShades, longBrowserTest, newSerial, picture } from './support.ts'
import { enterAgain, enterAtProvider, enterByPassword, heading, kept, WaysIn } from './ways-in.ts'

// Single sign-on in the console.

const ways = new WaysIn()
const { open, endProofs, whenProofIsAsked } = ways
let through: Client
let provider: OwnProvider

beforeAll(async () => {
  await ways.start()
  ;({ through, provider } = ways)
}, 120_000)
afterAll(() => ways.stop(), 60_000)

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

describe('a form that is open', () => {
  browserTest('waits for its person, who signs in again by single sign-on, and is sent', async () => {
    const { appId, token } = await newApplication(through)
    const { id } = (await through.call(saveSite, siteBody(appId), { token })).data
    const visited = await open(`/console/sites/${appId}/${id}/edit`)
    const { page } = visited
    const login = newSerial('duty')
    await page.getByRole('button', { name: 'Acme sign-on' }).click()
    await enterAtProvider(page, login)
    const name = newSerial('typed')
    await page.getByLabel('Site name').fill(name)
    const person = (await through.operate(pageOperators, { name: login })).data.list[0]
    const { list } = (await through.operate(pageSessions, { operatorId: person?.id ?? 0 })).data
    await through.operate(deleteSession, { id: list[0]?.id ?? 0 })
    await page.getByRole('button', { name: 'Save' }).click()
    const again = page.locator('.sign-in-again')
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      again.getByRole('button', { name: 'Acme sign-on' }).click(),
    ])
    // The provider remembers its person.
    expect(await becomesTrue(() => popup.isClosed())).toBe(true)
    await page.waitForURL(`**/console/sites/${appId}/${id}`)
    expect((await through.call(getSite, { id }, { token })).data.siteName).toBe(name)
  })

  browserTest('waits for the second factor that its session lacks, and is sent', async () => {
    const { appId, token } = await newApplication(through)
    const { id } = (await through.call(saveSite, siteBody(appId), { token })).data
    const person = await newPerson(through, 'developer', [appId])
    const visited = await open(`/console/sites/${appId}/${id}/edit`)
    const { page } = visited
    await enterByPassword(visited, person)
    const name = newSerial('typed')
    await page.getByLabel('Site name').fill(name)
    const { secret } = await newGenerator(through, await signIn(through, person))
    // The role that asks for a factor.
    await through.operate(updateOperator, { id: person.id, role: 'operator', appIds: [] })
    await page.getByRole('button', { name: 'Save' }).click()
    const factor = page.locator('.sign-in-again')
    await factor.getByLabel('Code of your code generator').fill(codeOf(secret))
    expect(await page.getByLabel('Site name').isVisible()).toBe(false)
    await picture(page, 'factor-first')
    await factor.getByRole('button', { name: 'Show it' }).click()
    await page.waitForURL(`**/console/sites/${appId}/${id}`)
    expect((await through.call(getSite, { id }, { token })).data.siteName).toBe(name)
  })

  browserTest('waits while a second factor is set up, until the recovery codes are kept', async () => {
    const { appId, token } = await newApplication(through)
    const { id } = (await through.call(saveSite, siteBody(appId), { token })).data
    const person = await newPerson(through, 'developer', [appId])
    const visited = await open(`/console/sites/${appId}/${id}/edit`)
    const { page } = visited
    await enterByPassword(visited, person)
    const name = newSerial('typed')
    await page.getByLabel('Site name').fill(name)
    await through.operate(updateOperator, { id: person.id, role: 'operator', appIds: [] })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.sign-in-again').getByRole('button', { name: 'Set up a code generator' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up a code generator' })
    const secret = (await dialog.locator('.mono').first().innerText()).replace(/\s/g, '')
    await dialog.getByLabel('Code of your code generator').fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Turn it on' }).click()
    expect(await kept(page)).toHaveLength(10)
    await page.waitForURL(`**/console/sites/${appId}/${id}`)
    expect((await through.call(getSite, { id }, { token })).data.siteName).toBe(name)
  })
})

browserTest('a passkey at another address than the service’s own says where it works', async () => {
  const here = new Client({ url: `http://127.0.0.1:${new URL(through.url).port}`, operatorKey: through.operatorKey })
  const { page } = await open('/console/sign-in', { through: here })
  await page.getByRole('button', { name: 'Passkey', exact: true }).click()
  await page.getByText(`this page is at ${new URL(here.url).host}`).waitFor()
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
