import { expect } from 'bun:test'
import { shownMoment } from '../conformance/support.ts'
import { newApplication } from '../kit/records.ts'
import { newDevice, newRule, newSite } from './records.ts'
import { browserTest, client, longBrowserTest, visit } from './support.ts'

const dayMs = 86_400_000

browserTest('the console takes tomorrow from the service’s clock, not from the browser’s', async () => {
  const app = await newApplication(client)
  const rule = await newRule(app, 1, 'Day')
  const { page } = await visit('/console/account', { role: 'operator', hasOwnClock: true })
  await page.clock.setSystemTime(Date.now() + 1.5 * dayMs)
  await page.goto(`${client.url}/console/billing-rules/${app.appId}/${rule}/prices`)
  await page.getByRole('button', { name: 'Tomorrow' }).click()
  const tomorrow = shownMoment(new Date(Date.now() + dayMs)).slice(0, 10)
  expect(await page.locator('.ant-picker input').first().inputValue()).toBe(`${tomorrow} 00:00:00`)
})

longBrowserTest('the console keeps a form when another language is chosen', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}/edit`, { role: 'operator', isPolling: true })
  await page.getByLabel('Site name').fill('typed before')
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitem', { name: '中文' }).click()
  const field = page.getByLabel('站点名称')
  await field.waitFor()
  await page.waitForLoadState('networkidle')
  expect(await field.inputValue()).toBe('typed before')
})

longBrowserTest('the console starts in a browser that forbids storage', async () => {
  const { page } = await visit('/console/account', { role: 'operator', hasOwnClock: true })
  await page.addInitScript(() => {
    for (const kind of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(globalThis, kind, {
        get: () => {
          throw new DOMException('denied', 'SecurityError')
        },
      })
    }
  })
  await page.goto(`${client.url}/console/sites`)
  await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor()
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitem', { name: '中文' }).click()
  await page.getByRole('heading', { level: 1, name: '站点' }).waitFor()
})

longBrowserTest('the console copies where the browser has no clipboard for pages', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const { page } = await visit('/console/account', { role: 'operator', hasOwnClock: true })
  await page.addInitScript(() => {
    const { clipboard } = navigator
    Object.assign(globalThis, { reading: () => clipboard.readText() })
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
  })
  await page.goto(`${client.url}/console/sites/${app.appId}/${site.id}`)
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click()
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
  const copied = await page.evaluate(() => (globalThis as unknown as { reading(): Promise<string> }).reading())
  expect(copied).toBe(String(site.id))
  // And where it refuses that too, the text is shown, selected.
  await page.evaluate(() => {
    document.execCommand = () => false
  })
  await page.getByRole('button', { name: 'Cop', exact: false }).first().click()
  const shown = page.getByRole('dialog').getByRole('textbox')
  await shown.waitFor()
  expect(await shown.inputValue()).toBe(String(site.id))
})

longBrowserTest('the console asks for nothing while a word is composed, nor by the key that ends it', async () => {
  const { page } = await visit('/console/sites', { role: 'admin' })
  const field = page.getByLabel('Site name')
  await field.click()
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('siteName') && asked.push(request.url()))
  const hand = await page.context().newCDPSession(page)
  const compose = async () => {
    for (const text of ['n', 'na', 'nan']) {
      await hand.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length })
      await page.waitForTimeout(150)
    }
  }
  await compose()
  expect(asked).toEqual([])
  await hand.send('Input.insertText', { text: '南' })
  await page.waitForURL(/siteName=%E5%8D%97/)

  await page.keyboard.press('Control+k')
  const find = page.getByRole('dialog').getByRole('combobox')
  await find.click()
  page.on('request', (request) => request.url().includes('/search') && asked.push(request.url()))
  await compose()
  expect(asked.filter((url) => /search|siteName=n/.test(url))).toEqual([])
  await hand.send('Input.insertText', { text: '' })
  await find.fill('Devices')
  await page.getByRole('option').first().waitFor()
  const before = page.url()
  for (const isComposing of [true, false]) {
    await find.evaluate((element, during) => {
      const key = { key: 'Enter', keyCode: 229, isComposing: during, bubbles: true, cancelable: true }
      element.dispatchEvent(new KeyboardEvent('keydown', key))
    }, isComposing)
  }
  await page.waitForTimeout(200)
  expect(page.url()).toBe(before)
  expect(await find.isVisible()).toBe(true)
})

longBrowserTest('the console keeps the page when a file is dropped beside its place', async () => {
  const { page } = await visit('/console/imports/new', { role: 'operator' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const isTaken = await page.evaluate(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['a'], 'a.csv'))
    return ['dragover', 'drop'].map(
      (type) => !document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })),
    )
  })
  expect(isTaken).toEqual([true, true])
})

longBrowserTest('the console loses only a part of a page whose file is gone, and gets it later', async () => {
  const app = await newApplication(client)
  // With a route from the beginning: the first one takes effect a moment after it is set.
  const options = { role: 'operator', hasOwnClock: true, isCutOff: true, isPolling: true } as const
  const { page } = await visit(`/console/sites?appId=${app.appId}`, options)
  await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor()
  await page.route('**/assets/palette-*.js', (route) => route.fulfill({ status: 404 }))
  await page.keyboard.press('Control+k')
  const notice = page.getByRole('alert').filter({ hasText: 'There may be a new version' })
  await notice.waitFor()
  await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor()
  await page.unroute('**/assets/palette-*.js')
  await notice.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('dialog').getByRole('combobox').waitFor()
})

longBrowserTest('the console counts characters, and cuts none of a longer text', async () => {
  const app = await newApplication(client)
  const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
  const field = page.getByLabel('Site name')
  await field.fill('𠮷'.repeat(64))
  expect([...(await field.inputValue())].length).toBe(64)
  expect(await page.getByText(/of at most/).count()).toBe(0)
  await field.fill('𠮷'.repeat(65))
  await page.getByText('65 of at most 64 characters. Shorten the text.').waitFor()
  expect([...(await field.inputValue())].length).toBe(65)
})

longBrowserTest('the console finds a serial number of full width or with signs that nobody sees', async () => {
  const app = await newApplication(client)
  const { appId } = app
  const { deviceNo } = await newDevice(app)
  const wide = [...deviceNo].map((sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)).join('')
  const { page } = await visit(`/console/devices?appId=${appId}`, { role: 'operator' })
  for (const text of [wide, `\u200b${deviceNo}\u200d`]) {
    await page.getByLabel('Serial number').fill(text)
    await page.waitForURL(new RegExp(`deviceNo=${deviceNo}`))
    await page.getByText('1 total').waitFor()
    await page.getByLabel('Serial number').fill('')
    await page.waitForURL((url) => !url.search.includes('deviceNo'))
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(text)
    await page.getByRole('option').filter({ hasText: deviceNo }).first().waitFor()
    await page.keyboard.press('Escape')
  }
})
