import { expect } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { enterByPassword, press } from './hand.ts'
import { newSite } from './records.ts'
import { browserTest, client, longBrowserTest, visit } from './support.ts'

/** Opens a page about a new site in the session of a new operator, which `end` ends. */
async function visitAsNew(pathOf: (site: SiteRecord) => string) {
  const site = await newSite(await newApplication(client), { siteName: newSerial('seen') })
  const person = await newPerson(client, 'operator')
  const { page } = await visit('/console/sign-in')
  const headers = await signIn(client, person)
  const [name = '', value = ''] = headers.cookie.split('=')
  await page.context().addCookies([{ name, value, url: client.url, httpOnly: true, sameSite: 'Strict' }])
  await page.goto(client.url + pathOf(site))
  const end = async () => expect((await client.call('deleteSession', {}, { headers })).code).toBe(0)
  return { page, person, site, end }
}

const listOf = ({ appId }: SiteRecord) => `/console/sites?appId=${appId}`

browserTest('a session that ends takes no form with it: its person goes on, and the form is sent again', async () => {
  const pathOf = ({ appId, id }: SiteRecord) => `/console/sites/${appId}/${id}`
  const { page, person, site, end } = await visitAsNew((of) => `${pathOf(of)}/edit`)
  const name = newSerial('typed')
  await page.getByLabel('Site name').fill(name)
  await end()
  await press(page, 'Save')
  await page.waitForURL('**/console/sign-in')
  await page.locator('.sign-in-again').waitFor()
  expect(await page.getByLabel('Site name').isVisible()).toBe(false)
  await enterByPassword(page, person)
  await page.waitForURL(`**${pathOf(site)}`)
  expect((await client.operate('getSite', { appId: site.appId, id: site.id })).data.siteName).toBe(name)
})

longBrowserTest('a session that ends leaves what was entered to nobody else', async () => {
  const { page, end } = await visitAsNew(({ appId }) => `/console/sites/new?appId=${appId}`)
  await page.getByLabel('Site name').fill('not for the others')
  await end()
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
  await page.evaluate(() => new BroadcastChannel('forecourt.session').postMessage(true))
  await page.locator('.sign-in-again').waitFor()
  await enterByPassword(page, await newPerson(client, 'operator'))
  await page.getByLabel('Site name').waitFor()
  expect(await page.getByLabel('Site name').inputValue()).toBe('')
  expect(await page.locator('[data-away]').count()).toBe(0)
})

longBrowserTest('a session that ends leaves nothing of the person on the way back', async () => {
  const { page, site, end } = await visitAsNew(listOf)
  await page.getByText(site.siteName).waitFor()
  await end()
  // As a browser that has kept the whole page shows it again.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await page.waitForURL('**/console/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByText(site.siteName).count()).toBe(0)
})

longBrowserTest('a session that ends leads an export to the sign-in, and not to a download that failed', async () => {
  const { page, end } = await visitAsNew(listOf)
  await press(page, 'Export')
  const link = page.locator('.exports').getByRole('link', { name: 'CSV' })
  await link.waitFor()
  await end()
  let downloads = 0
  page.on('download', () => downloads++)
  await link.click()
  await page.waitForURL('**/console/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(downloads).toBe(0)
})

longBrowserTest('a session that ends does so in every window', async () => {
  const { page } = await visitAsNew(listOf)
  await page.getByRole('heading', { name: 'Sites' }).waitFor()
  const second = await page.context().newPage()
  await second.goto(`${client.url}/console/devices`)
  await press(second, 'Your account')
  await second.getByText('Sign out').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await second.close()
})
