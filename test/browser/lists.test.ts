import { describe, expect } from 'bun:test'
import { createDevices } from '../../src/devices/contract.ts'
import { savePlacement } from '../../src/devices/placement/contract.ts'
import { deviceBody, newApplication, type TestApplication } from '../harness.ts'
import { newSite } from './site-support.ts'
import { browserTest, client, expectFramed, longBrowserTest, narrow, picture, visit } from './support.ts'

/** Creates devices of an application, whose names are numbered. */
async function newDevices(app: TestApplication, count: number): Promise<string[]> {
  const devices = Array.from({ length: count }, (_, index) => {
    const { appId, ...device } = deviceBody(app.appId, { deviceName: `Gate ${String(index).padStart(3, '0')}` })
    return device
  })
  const { code } = await client.call(createDevices, { devices }, { token: app.token })
  expect(code).toBe(0)
  return devices.map(({ deviceNo }) => String(deviceNo))
}

describe('a list', () => {
  browserTest(
    'is sorted by its headings, keeps a selection over its pages, and goes to a page by its number',
    async () => {
      const app = await newApplication(client)
      const [first = ''] = await newDevices(app, 45)
      const site = await newSite(app, { siteName: 'Riverside park' })
      await client.call(savePlacement, { deviceNo: first, siteId: site.id, laneType: 1 }, { token: app.token })
      const visited = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
      const { page } = visited
      const asked: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/placement/')) asked.push(request.url())
      })
      const names = () => page.locator('tbody td[data-title]').allTextContents()
      const heading = page.getByRole('columnheader', { name: 'Name' })
      await heading.getByRole('button').click()
      await page.getByRole('link', { name: 'Gate 000' }).waitFor()
      expect([await heading.getAttribute('aria-sort'), (await names())[0]]).toEqual(['ascending', 'Gate 000'])
      await heading.getByRole('button').click()
      await page.getByRole('link', { name: 'Gate 044' }).waitFor()
      expect(new URL(page.url()).searchParams.get('order')).toBe('desc')
      // A selection on one page is kept on the next page, where its bar stays visible.
      await page.getByRole('checkbox', { name: 'Select all' }).check()
      await page.getByText('20 selected').waitFor()
      await page.evaluate(() => scrollTo(0, 0))
      const bar = await page.locator('.pager').boundingBox()
      const height = page.viewportSize()?.height ?? 0
      expect((bar?.y ?? height) + (bar?.height ?? 0)).toBeLessThanOrEqual(height + 1)
      await picture(page, 'list-selection')
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByRole('link', { name: 'Gate 024' }).waitFor()
      await page.locator('tbody input[type=checkbox]').first().check()
      await page.getByText('21 selected').waitFor()
      await page.getByRole('button', { name: 'Transfer 21' }).waitFor()
      // By its number, and back.
      await page.getByLabel('Go to page').fill('3')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Gate 000' }).waitFor()
      expect(await names()).toHaveLength(5)
      await page.getByText('21 selected').waitFor()
      await page.getByRole('button', { name: 'Previous page' }).click()
      await page.getByRole('link', { name: 'Gate 024' }).waitFor()
      await page.getByRole('button', { name: 'Clear the selection' }).click()
      await page.getByText('21 selected').waitFor({ state: 'detached' })
      // Another filter begins at the first page, and the order stays.
      await page.getByLabel('Serial number').fill(first)
      await page.getByText('1 in all').waitFor()
      expect([...new URL(page.url()).searchParams.keys()].toSorted()).toEqual(['appId', 'deviceNo', 'order', 'sort'])
      expect(asked.every((url) => url.includes('deviceNos='))).toBe(true)
      expect(visited.faults).toEqual([])
    },
  )

  longBrowserTest('shows the site of each device by one request a page, at a width that has room for it', async () => {
    const app = await newApplication(client)
    const serials = await newDevices(app, 20)
    const site = await newSite(app, { siteName: 'Riverside park' })
    for (const deviceNo of serials.slice(0, 3)) {
      await client.call(savePlacement, { deviceNo, siteId: site.id, laneType: 1 }, { token: app.token })
    }
    const visited = await visit('/console/account', { role: 'viewer', viewport: { width: 1700, height: 1000 } })
    const { page } = visited
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/placement/')) asked.push(request.url())
    })
    await page.goto(new URL(`/console/devices?appId=${app.appId}`, page.url()).href)
    await page.getByRole('link', { name: 'Riverside park' }).nth(2).waitFor()
    expect(asked).toHaveLength(1)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest(
    'does not move while other rows are read, and a row is no higher on a phone than it need be',
    async () => {
      const app = await newApplication(client)
      await newDevices(app, 45)
      const visited = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
      const { page } = visited
      await page.getByText('45 in all').waitFor()
      await page.evaluate(() => {
        const shifts: number[] = []
        Object.assign(window, { shifts })
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value)
        }).observe({ type: 'layout-shift' })
      })
      // The response is delayed, so that the test sees what is shown meanwhile.
      let answer = () => {}
      await page.route('**/guard/page**', async (route) => {
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        await route.continue()
      })
      await page.getByLabel('Name', { exact: true }).fill('Gate 0')
      await page.waitForURL('**deviceName=Gate**')
      await page.locator('table[aria-busy=true]').waitFor()
      expect(await page.locator('tbody tr').count()).toBe(20)
      answer()
      await page.locator('table[aria-busy=false]').waitFor()
      await page.unroute('**/guard/page**', { behavior: 'ignoreErrors' } as never).catch(() => undefined)
      const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)
      expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.02)

      const phone = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator', viewport: narrow })
      await phone.page.getByText('45 in all').waitFor()
      const heights = await phone.page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight))
      expect(Math.max(...heights)).toBeLessThanOrEqual(96)
      await phone.page.getByLabel('Sorted by').waitFor()
      await expectFramed(phone, 'Devices')
      await picture(phone.page, 'list-phone')
      expect(visited.faults).toEqual([])
    },
  )
})
