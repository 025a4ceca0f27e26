import { expect } from 'bun:test'
import { browserTest, holdUp, longBrowserTest, visit } from './support.ts'

browserTest('a page that is opened asks for its data before its script is loaded, and once', async () => {
  const { page } = await visit('/console/account', { role: 'operator' })
  const session = '/api/platform/v1/session/detail'
  const first = {
    '/console/': ['Overview', '/api/platform/v1/overview/detail'],
    '/console/sites': ['Sites', '/api/charging/v1/siteManageThird/page?pageSize=20'],
    '/console/devices': ['Devices', '/api/device/entrance/guard/page?pageSize=20'],
  }
  let gate = Promise.withResolvers<void>()
  await holdUp(page, '**/assets/frame-*.js', () => gate.promise)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url().replace(new URL(page.url()).origin, '')))
  for (const [path, [title = '', request = '']] of Object.entries(first)) {
    asked.length = 0
    gate = Promise.withResolvers()
    const requested = page.waitForRequest((sent) => sent.url().endsWith(request))
    const loaded = page.goto(new URL(path, page.url()).href)
    await requested
    gate.resolve()
    await loaded
    await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor()
    await page.waitForLoadState('networkidle')
    const early = asked.filter((url) => url === request || url === session)
    expect(early.toSorted(), path).toEqual([session, request].toSorted())
  }
  await page.unroute('**/assets/frame-*.js')
})

longBrowserTest('a page that is opened has no start screen left over it, whichever file is there first', async () => {
  const { page } = await visit('/console/account', { role: 'operator' })
  const browser = page.context().browser() as NonNullable<ReturnType<ReturnType<typeof page.context>['browser']>>
  const state = await page.context().storageState()
  for (const path of ['/console/devices', '/console/sign-in']) {
    for (const late of ['frame-*.js', '{list,sign-in}-*.js', 'none']) {
      // A context of its own has nothing in its cache.
      const context = await browser.newContext({ storageState: state })
      const cold = await context.newPage()
      await holdUp(cold, `**/assets/${late}`, () => Bun.sleep(300))
      await cold.goto(new URL(path, page.url()).href)
      await cold.getByRole('heading', { level: 1 }).first().waitFor()
      await cold.waitForLoadState('networkidle')
      expect([path, late, await cold.locator('.boot').count()]).toEqual([path, late, 0])
      await context.close()
    }
  }
})

longBrowserTest('a page that is opened shows content before its script, which runs in a hidden tab too', async () => {
  const { page } = await visit('/console/account', { role: 'operator' })
  const address = new URL('/console/sites', page.url()).href
  await page.route('**/assets/frame-*.js', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: `performance.mark('frame runs');${await response.text()}` })
  })
  // The browser draws nothing without the page's style, so the script is loaded long before.
  await holdUp(page, '**/assets/frame-*.css', () => Bun.sleep(1_000))
  await page.goto(address)
  await page.getByRole('heading', { name: 'Sites', level: 1, exact: true }).waitFor()
  const timeOf = (name: string) => page.evaluate((of) => performance.getEntriesByName(of)[0]?.startTime, name)
  const [shownAt = 0, runsAt = 0] = [await timeOf('first-contentful-paint'), await timeOf('frame runs')]
  expect(shownAt).toBeGreaterThan(0)
  // A drawing is on the screen some milliseconds after it was made; the script must not run before it is made.
  expect(shownAt).toBeLessThan(runsAt + 200)
  await page.unroute('**/assets/frame-*.css')
  await page.addInitScript(() => {
    Object.defineProperty(Document.prototype, 'visibilityState', { get: () => 'hidden' })
    window.requestAnimationFrame = () => 0
  })
  await page.goto(address)
  await page.locator('h1', { hasText: 'Sites' }).waitFor({ state: 'attached' })
})

for (const [language, words, others] of [
  ['en', 'Open platform for EV-charging sites and entrance devices.', '充电站点与出入口设备的开放平台。'],
  ['zh', '充电站点与出入口设备的开放平台。', 'Open platform for EV-charging sites and entrance devices.'],
] as const) {
  longBrowserTest(`tells from its first drawing on what is loading, in the reader’s shade: ${language}`, async () => {
    const { page } = await visit('/console/account', { role: 'operator', language, isDark: true })
    const gate = Promise.withResolvers<void>()
    await holdUp(page, '**/assets/frame-*.js', () => gate.promise)
    // The style comes first, which alone would let the browser draw.
    await holdUp(page, '**/assets/boot-*.js', () => Bun.sleep(500))
    await page.goto(new URL('/console/sites', page.url()).href)
    await page.getByText(words).waitFor()
    expect(await page.getByText(others).isVisible()).toBe(false)
    const html = page.locator('html')
    const shown = [await html.getAttribute('data-shade'), await html.getAttribute('lang')]
    expect(shown).toEqual(['dark', language === 'zh' ? 'zh-CN' : 'en'])
    const firstDrawing = () => page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
    expect(await firstDrawing()).toBeGreaterThan(500)
    gate.resolve()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.getByText(words).isVisible()).toBe(false)
  })
}

longBrowserTest('a page that is opened says that it has broken if its file cannot be loaded', async () => {
  const { page } = await visit('/console/account', { role: 'operator', isCutOff: true })
  await page.route('**/assets/events-*.js', (route) => route.abort())
  await page.goto(new URL('/console/events', page.url()).href)
  await page.getByText('Something went wrong on this page. Other pages still work.').waitFor()
  await page.getByRole('link', { name: 'Forecourt' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1, exact: true }).waitFor()
  expect(await page.locator('.boot').count()).toBe(0)
  await page.reload()
  await page.locator('nav').getByRole('link', { name: 'Events' }).click()
  await page.getByText('Something went wrong on this page. Other pages still work.').waitFor()
  await page.unroute('**/assets/events-*.js')
})
