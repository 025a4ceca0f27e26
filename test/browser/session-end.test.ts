import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newPerson, type Person, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { newSite } from './records.ts'
import { browserTest, client, longBrowserTest, type Visited, visit } from './support.ts'

/** Opens a page in a session that the test may end. */
async function visitAs(person: Person, path: string): Promise<Visited> {
  const visited = await visit('/console/sign-in')
  const headers = await signIn(client, person)
  const [name = '', value = ''] = headers.cookie.split('=')
  await visited.page.context().addCookies([{ name, value, url: client.url, httpOnly: true, sameSite: 'Strict' }])
  await visited.page.goto(client.url + path)
  return { ...visited, headers }
}

const endSession = async ({ headers }: Visited) =>
  expect((await client.call('deleteSession', {}, { headers })).code).toBe(0)

async function enter(page: Page, { name, password }: Person): Promise<void> {
  await page.locator('.sign-in').getByLabel('Name').fill(name)
  await page.locator('.sign-in').getByLabel('Password').fill(password)
  await page.locator('.sign-in').getByRole('button', { name: 'Sign in' }).click()
}

describe('a session that ends', () => {
  browserTest('takes no form with it: the same person goes on, and what was sent is sent again', async () => {
    const app = await newApplication(client)
    const site = await newSite(app)
    const person = await newPerson(client, 'operator')
    const visited = await visitAs(person, `/console/sites/${app.appId}/${site.id}/edit`)
    const { page } = visited
    const name = newSerial('typed')
    await page.getByLabel('Site name').fill(name)
    await endSession(visited)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/console/sign-in')
    await page.locator('.sign-in-again').waitFor()
    expect(await page.getByLabel('Site name').isVisible()).toBe(false)
    await enter(page, person)
    await page.waitForURL(`**/console/sites/${app.appId}/${site.id}`)
    const { list } = (await client.call('pageSites', { siteName: name }, { token: app.token })).data
    expect(list.map(({ id }) => id)).toEqual([site.id])
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('leaves what was entered to nobody else', async () => {
    const app = await newApplication(client)
    const [person, other] = [await newPerson(client, 'operator'), await newPerson(client, 'operator')]
    const visited = await visitAs(person, `/console/sites/new?appId=${app.appId}`)
    const { page } = visited
    await page.getByLabel('Site name').fill('not for the others')
    await endSession(visited)
    await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
    await page.evaluate(() => new BroadcastChannel('forecourt.session').postMessage(true))
    await page.locator('.sign-in-again').waitFor()
    await enter(page, other)
    await page.getByLabel('Site name').waitFor()
    expect(await page.getByLabel('Site name').inputValue()).toBe('')
    expect(await page.locator('[data-away]').count()).toBe(0)
  })

  longBrowserTest('leaves nothing of the person on the way back', async () => {
    const app = await newApplication(client)
    const siteName = newSerial('seen')
    await newSite(app, { siteName })
    const person = await newPerson(client, 'operator')
    const visited = await visitAs(person, `/console/sites?appId=${app.appId}`)
    const { page } = visited
    await page.getByText(siteName).waitFor()
    await endSession(visited)
    // As a browser that has kept the whole page shows it again.
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await page.waitForURL('**/console/sign-in')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.getByText(siteName).count()).toBe(0)
  })

  longBrowserTest('leads an export to the sign-in, and not to a download that failed', async () => {
    const app = await newApplication(client)
    await newSite(app)
    const person = await newPerson(client, 'operator')
    const visited = await visitAs(person, `/console/sites?appId=${app.appId}`)
    const { page } = visited
    await page.getByRole('button', { name: 'Export' }).click()
    const link = page.locator('.exports').getByRole('link', { name: 'CSV' })
    await link.waitFor()
    await endSession(visited)
    let downloads = 0
    page.on('download', () => downloads++)
    await link.click()
    await page.waitForURL('**/console/sign-in')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(downloads).toBe(0)
  })

  longBrowserTest('ends in every window', async () => {
    const person = await newPerson(client, 'operator')
    const { page } = await visitAs(person, '/console/sites')
    await page.getByRole('heading', { name: 'Sites' }).waitFor()
    const second = await page.context().newPage()
    await second.goto(`${client.url}/console/devices`)
    await second.getByRole('button', { name: 'Your account' }).click()
    await second.getByText('Sign out').click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await second.close()
  })
})
