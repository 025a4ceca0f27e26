import { expect } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { newApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { newSite } from './records.ts'
import { browserTest, client, longBrowserTest, visit, withoutStream } from './support.ts'

/** What stands between a browser and the service, or in its place. */
const outages: Record<string, (route: Route) => Promise<void>> = {
  'the service is overloaded': (route) =>
    route.fulfill({
      status: 503,
      headers: { 'x-request-id': 'r-1' },
      json: { code: 50003, msg: 'not available', data: null },
    }),
  'a proxy has no service behind it': (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway</html>' }),
  'a network asks for its own sign-in': (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<html>Welcome</html>' }),
  'there is no connection': (route) => route.abort(),
}

const notice = (page: Page) => page.getByRole('alert').filter({ hasText: /since \d\d:\d\d: / })

browserTest('a list says since when it is old, whatever stands between it and the service', async () => {
  const { appId } = await newApplication(client)
  const options = { role: 'operator', isPolling: true, isCutOff: true } as const
  const { page } = await visit(`/console/devices?appId=${appId}`, options)
  const refresh = page.getByRole('button', { name: 'Refresh' })
  for (const fail of Object.values(outages).slice(0, atScale(2, 4))) {
    await refresh.waitFor()
    // The button takes no click while it turns.
    await page.waitForLoadState('networkidle')
    await page.route('**/api/**', fail)
    await refresh.click()
    await notice(page).waitFor()
    expect(await notice(page).count()).toBe(1)
    await page.unroute('**/api/**')
    await notice(page).getByRole('button', { name: 'Try again' }).click()
    await notice(page).waitFor({ state: 'detached' })
  }
})

longBrowserTest('every kind of page says so, and comes back by itself', async () => {
  const app = await newApplication(client)
  const { appId, id } = await newSite(app)
  const { page: first } = await visit('/console', { role: 'admin' })
  const paths = ['', '/applications', `/sites/${appId}/${id}`, '/service', '/people', `/events?appId=${appId}`]
  const isTold = async (path: string) => {
    const page = await first.context().newPage()
    await withoutStream(page)
    await page.goto(`${client.url}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await page.route('**/api/**', (route) => route.fulfill({ status: 502, body: '' }))
    // As when the window gets the focus again.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 5_100)))
    await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
    await notice(page).waitFor()
    await page.unroute('**/api/**')
    await notice(page).waitFor({ state: 'detached' })
    await page.close()
  }
  await Promise.all(paths.map(isTold))
})

longBrowserTest('a page that is opened then offers to try again, and comes back by itself', async () => {
  const { page } = await visit('/console/account', { role: 'operator', isCutOff: true })
  await page.route('**/api/**', (route) => route.fulfill({ status: 503, body: '' }))
  await page.goto(`${client.url}/console/sites`)
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor()
})
