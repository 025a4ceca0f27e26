import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { referenceOf } from '../../console/src/paths.ts'
import { createApplication } from '../../src/applications/contract.ts'
import { createImport } from '../../src/bulk/contract.ts'
import { streamEvents } from '../../src/events/contract.ts'
import { pageSites, saveSite } from '../../src/sites/contract.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import { isLong } from '../kit/scale.ts'
import { shows } from './hand.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, narrow, visit } from './support.ts'

longBrowserTest('the guides can be read, in the light, in the dark and on a phone', async () => {
  const { page } = await visit('/docs', { language: 'zh' })
  await expectSound(page, 'Forecourt 开发者文档')
  await page.getByRole('link', { name: '快速开始' }).first().click()
  await expectSound(page, '快速开始')
  await page.getByRole('link', { name: 'English' }).click()
  await page.getByRole('link', { name: 'Errors', exact: true }).first().click()
  await expectSound(page, 'Errors')
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectSound(page, 'Errors')
  await page.setViewportSize(narrow)
  await expectSound(page, 'Errors')
})

browserTest('the documents are searched by the keyboard, and their code is copied', async () => {
  const { page } = await visit('/docs/en/pages')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.keyboard.press('/')
  await page.getByRole('searchbox', { name: 'Search guides and reference' }).fill('zzqqxx')
  await page.getByText('Nothing found.').waitFor()
  await page.getByRole('searchbox', { name: 'Search guides and reference' }).fill('unbind device batch')
  await page.getByRole('link', { name: /Unbind devices/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.getByRole('link', { name: /Unbind devices/ }).click()
  // The search result opens with its section unfolded.
  await page.getByText('unbindDevices', { exact: true }).waitFor()
  const details = page.locator('details').filter({ has: page.locator('#unbindDevices') })
  const command = details.locator('.code').first()
  await command.hover()
  await command.getByRole('button', { name: 'Copy' }).click()
  await command.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toStartWith('curl -s "$FORECOURT_URL/api/device/')
  await page.goto(`${client.url}/docs/zh/pages`)
  await page.getByRole('button', { name: '搜索' }).click()
  await page.getByRole('searchbox').fill('游标')
  await page.keyboard.press('Enter')
  await page.waitForURL(/docs\/zh\/pages/)
  await expectFramed(page, '分页与游标')
})

/** An operation of the reference, opened by a link to it, with its form shown. */
async function tryIt(page: Page, operation: { id: string; callers: readonly string[] }): Promise<Locator> {
  await page.goto(client.url + referenceOf(operation))
  const details = page.locator('details').filter({ has: page.locator(`#${operation.id}`) })
  await details.getByText(operation.id, { exact: true }).waitFor()
  await details.getByRole('button', { name: 'Try it' }).click()
  return details.locator('form')
}

browserTest('the API reference leads to an operation, and tries it with a token, and fits a phone', async () => {
  const app = await newApplication(client)
  const { page } = await visit(referenceOf(createApplication))
  await page.getByText('createApplication', { exact: true }).waitFor()
  await expectFramed(page, 'API reference for operators')
  const form = await tryIt(page, saveSite)
  // The page has thousands of elements, and a check of each takes half a minute.
  if (isLong) await expectSound(page, 'API reference for integrators')
  else await expectFramed(page, 'API reference for integrators')
  const send = form.getByRole('button', { name: 'Send' })
  const token = form.getByRole('textbox', { name: 'Access token or operator key' })
  const body = form.getByRole('textbox', { name: 'Body (JSON)' })
  const status = form.getByRole('status')
  const response = form.getByRole('region', { name: 'Response' })
  // The keyboard alone: the form takes the focus, and Enter sends.
  expect(await token.evaluate((field) => field === document.activeElement)).toBeTrue()

  // Without a token or a session the request is refused.
  await page.keyboard.press('Enter')
  await status.getByText(/^401 .* ms · X-Request-Id: \S+$/).waitFor()
  expect(JSON.parse((await response.textContent()) ?? '')).toMatchObject({ code: 10002 })

  await token.fill(app.token)
  await body.fill('{ "siteName": ')
  await send.click()
  await status.getByText(/^The body isn’t valid JSON, so nothing was sent\./).waitFor()
  expect(await body.getAttribute('aria-invalid')).toBe('true')
  expect(await body.evaluate((field) => field === document.activeElement)).toBeTrue()
  expect(await response.isVisible()).toBeFalse()

  const site = { ...siteBody(app.appId), siteName: 'Tried from the reference' }
  await body.fill(JSON.stringify(site))
  await send.click()
  await status.getByText(/^200 /).waitFor()
  expect(await body.getAttribute('aria-invalid')).toBeNull()
  const created = JSON.parse((await response.textContent()) ?? '')
  // Indented, for people.
  expect(await response.textContent()).toStartWith('{\n  "code": ')
  const read = await client.call('getSite', { id: created.data.id }, { token: app.token })
  expect(read.data).toMatchObject({ siteName: 'Tried from the reference' })

  // The token is there in the next form of the page; a parameter is part of the address.
  const list = await tryIt(page, pageSites)
  await list.getByRole('textbox', { name: 'siteName', exact: true }).fill('from the reference')
  await list.getByRole('button', { name: 'Send' }).click()
  await list.getByText('"totalIsExact": true').waitFor()
  expect(await list.getByRole('region', { name: 'Response' }).textContent()).toContain('"total": 1,')
  await page.setViewportSize({ width: 320, height: 700 })
  await expectFramed(page, 'API reference for integrators')
})

longBrowserTest('the API reference tries a file, a stream and a service that is gone', async () => {
  const app = await newApplication(client)
  const { page } = await visit('/docs/en', { isCutOff: true })
  const upload = await tryIt(page, createImport)
  await upload.getByRole('textbox', { name: 'Access token or operator key' }).fill(app.token)
  await upload.getByRole('textbox', { name: 'dryRun' }).fill('true')
  await upload.getByRole('textbox', { name: /^kind/ }).fill('devices')
  const file = { name: 'devices.ndjson', mimeType: 'application/octet-stream' }
  await upload.getByLabel('File').setInputFiles({ ...file, buffer: Buffer.from('{"deviceNo":"1"}\n') })
  await upload.getByRole('button', { name: 'Send' }).click()
  await upload.getByText('"dryRun": true').waitFor()
  // The media type follows the ending of the name.
  expect(await upload.getByRole('region', { name: 'Response' }).textContent()).toContain('"format": "ndjson"')

  const stream = await tryIt(page, streamEvents)
  await stream.getByRole('button', { name: 'Send' }).click()
  await stream.getByRole('region', { name: 'Response' }).getByText('retry:').waitFor()
  await client.call('saveSite', siteBody(app.appId), { token: app.token })
  // What arrives is shown while the stream stays open.
  await stream.getByText('event: site.created').waitFor()
  await stream.getByRole('button', { name: 'Stop' }).click()
  await shows(stream.getByRole('status'), /^200 .* Stopped\.$/)

  await page.route(`**${streamEvents.path}*`, (route) => route.abort())
  await stream.getByRole('button', { name: 'Send' }).click()
  await stream.getByText('No response. Check the connection and your values, then send again.').waitFor()
})

longBrowserTest('opening either part of the reference costs the main thread less than a second', async () => {
  for (const operation of [pageSites, createApplication]) {
    const { page } = await visit('/docs/en')
    const session = await page.context().newCDPSession(page)
    // Of the thread's own processor time, without what other work on the machine takes.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const spent = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
    }
    const before = await spent()
    await page.goto(client.url + referenceOf(operation))
    await page.getByText(operation.id, { exact: true }).waitFor()
    expect((await spent()) - before).toBeWithin(0.05, 1)
  }
})
