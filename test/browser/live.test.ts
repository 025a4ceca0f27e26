import { expect } from 'bun:test'
import type { Page, Request } from 'playwright-core'
import { pageDevices } from '../../src/devices/contract.ts'
import { streamEvents } from '../../src/events/contract.ts'
import { newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { row } from './hand.ts'
import { newDevice, newSite } from './records.ts'
import { browserTest, client, longBrowserTest, visit, watchShifts } from './support.ts'

// Pages of one application follow its events (contract §15).

/** The tab’s streams that are open, and how often each path was asked for. */
function watch(page: Page) {
  const streams = new Set<Request>()
  const asked: string[] = []
  const isStream = (request: Request) => request.url().includes(streamEvents.path)
  page.on('request', (request) => {
    asked.push(new URL(request.url()).pathname)
    if (isStream(request)) streams.add(request)
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as never, (one: Request) => streams.delete(one))
  return { streams, count: (path: string) => asked.filter((one) => one === path).length }
}

/** One after the other, because a list shows the devices of one batch in any order. */
async function newDevicesInTurn(app: TestApplication, count: number, prefix: string): Promise<string[]> {
  const serials: string[] = []
  for (let index = 0; index < count; index++) {
    serials.push((await newDevice(app, { deviceName: `${prefix} ${index}` })).deviceNo)
  }
  return serials
}

const report = ({ token }: TestApplication, deviceNo: string, state: object) =>
  client.call('reportDeviceState', { deviceNo, ...state }, { token })

/** The names in the order of the rows. */
const names = (page: Page) => page.locator('main tbody tr td[data-title]').allInnerTexts()

browserTest('rows change in place, and new ones wait behind a button or join at the top', async () => {
  const app = await newApplication(client)
  const serials = await newDevicesInTurn(app, 30, 'Gate')
  const { page } = await visit('/console/account', { role: 'operator' })
  const { streams, count } = watch(page)
  await page.goto(new URL(`/console/devices?appId=${app.appId}`, page.url()).href)
  await page.getByRole('row', { name: /Gate 29/ }).waitFor()
  expect(await becomesTrue(() => streams.size === 1, 5_000)).toBe(true)
  await sleep(1_500)

  // Selected, focused and scrolled: nothing of it changes.
  const chosen = row(page, /Gate 20/).getByRole('checkbox')
  await chosen.check()
  await page.evaluate(() => scrollTo(0, 200))
  const place = await page.evaluate(() => scrollY)
  const whatMoved = await watchShifts(page, true)
  const before = await names(page)
  await report(app, serials[25] ?? '', { status: 2, onlineStatus: 1 })
  await row(page, /Gate 25/)
    .getByText('Faulty')
    .waitFor({ timeout: 3_000 })
  await newDevicesInTurn(app, 3, 'New')
  const button = page.getByRole('button', { name: '3 new', exact: true })
  await button.waitFor({ timeout: 6_000 })
  // Also one that the new rows have pushed off the page.
  const last = (serials.length - before.length) as number
  await report(app, serials[last] ?? '', { status: 2, onlineStatus: 1 })
  await row(page, new RegExp(`Gate ${last}\\b`))
    .getByText('Faulty')
    .waitFor({ timeout: 4_000 })
  expect(await names(page)).toEqual(before)
  expect([await chosen.isChecked(), await page.evaluate(() => scrollY)]).toEqual([true, place])
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('checkbox')
  expect(await whatMoved()).toEqual([])

  await button.click()
  await page.getByRole('row', { name: /New 2/ }).waitFor()
  expect((await names(page)).slice(0, 4)).toEqual(['New 2', 'New 1', 'New 0', 'Gate 29'])
  expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0)

  // At the top of the first page.
  await page.evaluate(() => scrollTo(0, 0))
  await newDevice(app, { deviceName: 'Newest' })
  await page.getByRole('row', { name: /Newest/ }).waitFor({ timeout: 3_000 })
  expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0)

  // At most one read a second, and no polling beside it.
  const asked = count(pageDevices.path)
  const from = performance.now()
  for (let change = 0; change < 15; change++) {
    await client.call('updateDevice', { deviceNo: serials[25], deviceName: `Gate ${change}` }, { token: app.token })
    await sleep(70)
  }
  await sleep(1_100)
  const seconds = (performance.now() - from) / 1000
  expect(count(pageDevices.path) - asked).toBeWithin(1, Math.ceil(seconds) + 2)
  expect([streams.size, count(streamEvents.path)]).toEqual([1, 1])
})

longBrowserTest('a device’s page follows its events; a hidden tab gives its stream back, and reads anew', async () => {
  const app = await newApplication(client)
  const { deviceNo } = await newDevice(app, { deviceName: 'Shown gate' })
  const { page } = await visit('/console/account', { role: 'operator', hasOwnClock: true })
  const { streams } = watch(page)
  await page.goto(new URL(`/console/devices/${app.appId}/${deviceNo}`, page.url()).href)
  await page.getByRole('heading', { level: 1, name: 'Shown gate' }).waitFor()
  expect(await becomesTrue(() => streams.size === 1, 5_000)).toBe(true)
  await client.call('updateDevice', { deviceNo, deviceName: 'Renamed gate' }, { token: app.token })
  await page.getByRole('heading', { level: 1, name: 'Renamed gate' }).waitFor({ timeout: 3_000 })

  const show = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      const shown = { hidden, visibilityState: hidden ? 'hidden' : 'visible' }
      for (const [name, value] of Object.entries(shown))
        Object.defineProperty(document, name, { configurable: true, value })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    }, isHidden)
  await show(true)
  await page.clock.fastForward('00:20')
  expect(streams.size).toBe(1)
  await page.clock.fastForward('00:12')
  expect(await becomesTrue(() => streams.size === 0, 5_000)).toBe(true)
  await client.call('updateDevice', { deviceNo, deviceName: 'Gate of later' }, { token: app.token })
  await sleep(500)
  await show(false)
  await page.getByRole('heading', { level: 1, name: 'Gate of later' }).waitFor({ timeout: 5_000 })
  expect(await becomesTrue(() => streams.size === 1, 5_000)).toBe(true)
})

longBrowserTest('a tab that was opened in the background gives its stream back as well', async () => {
  const app = await newApplication(client)
  const { deviceNo } = await newDevice(app)
  const { page } = await visit('/console/account', { role: 'operator', hasOwnClock: true })
  const { streams } = watch(page)
  await page.addInitScript(() => {
    for (const [name, value] of Object.entries({ hidden: true, visibilityState: 'hidden' }))
      Object.defineProperty(document, name, { configurable: true, value })
  })
  await page.goto(new URL(`/console/devices/${app.appId}/${deviceNo}`, page.url()).href)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await becomesTrue(() => streams.size === 1, 5_000)).toBe(true)
  await page.clock.fastForward('00:32')
  expect(await becomesTrue(() => streams.size === 0, 5_000)).toBe(true)
})

longBrowserTest('the cards of a device and the counts of an application follow its events', async () => {
  const app = await newApplication(client)
  const { deviceNo } = await newDevice(app)
  const site = await newSite(app, { contacts: 'Zhang Wei' })
  const { page } = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'operator' })
  await page.getByText('This device has no site.').waitFor()
  await client.call('savePlacement', { deviceNo, siteId: site.id, laneType: 1 }, { token: app.token })
  await page.getByText('Zhang Wei').waitFor({ timeout: 5_000 })
  await client.call('saveSite', { ...siteBody(app.appId), siteName: 'Another' }, { token: app.token })
  await page.goto(new URL(`/console/applications/${app.appId}`, page.url()).href)
  const devices = page.getByTestId('figure-Devices')
  await devices.getByText('1', { exact: true }).waitFor()
  await newDevice(app)
  await devices.getByText('2', { exact: true }).waitFor({ timeout: 5_000 })
})

longBrowserTest('a page without a stream polls, and one of all applications has none', async () => {
  const app = await newApplication(client)
  const { deviceNo } = await newDevice(app, { deviceName: 'Polled gate' })
  const options = { role: 'operator', isPolling: true, hasOwnClock: true } as const
  const { page } = await visit(`/console/devices?appId=${app.appId}`, options)
  await page.getByRole('row', { name: /Polled gate/ }).waitFor()
  await report(app, deviceNo, { status: 2, onlineStatus: 1 })
  await page.clock.fastForward('00:10')
  await row(page, /Polled gate/)
    .getByText('Faulty')
    .waitFor()
  const { count } = watch(page)
  await page.goto(new URL('/console/devices', page.url()).href)
  await page.locator('main tbody tr').first().waitFor()
  await sleep(1_000)
  expect(count(streamEvents.path)).toBe(0)
})
