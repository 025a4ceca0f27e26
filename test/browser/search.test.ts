import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newApplication, newSerial } from '../kit/records.ts'
import { isLong } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { press } from './hand.ts'
import { newDevice, newSite } from './records.ts'
import { browserTest, client, expectAccessible, longBrowserTest, visit } from './support.ts'

/** An application with a device and a site that have one word in their names. */
async function named() {
  const word = newSerial('Pass')
  const app = await newApplication(client, { appName: 'Pass and charge' })
  await newDevice(app, { deviceNo: `${word}-A`, deviceName: 'North gate' })
  await newDevice(app, { deviceNo: `${word}-B`, deviceName: 'South gate' })
  await newSite(app, { siteName: `Park ${word}` })
  return { word, appId: app.appId }
}

async function chooseOfViews(page: Page, name: string): Promise<void> {
  await press(page, 'Views')
  await page.getByRole('menuitem', { name }).click()
}

browserTest('by the keyboard alone anything is found, and the shortcuts are told', async () => {
  const { word, appId } = await named()
  const { page } = await visit('/console/refusals', { role: 'developer', appIds: [appId] })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'Search' })
  const field = dialog.getByRole('combobox', { name: 'Search' })
  await field.waitFor()
  await page.keyboard.type(word.slice(2).toLowerCase())
  const chosen = dialog.getByRole('option', { selected: true })
  await chosen.filter({ hasText: /gate/ }).waitFor()
  const found = (group: string) => dialog.getByRole('group', { name: group }).getByRole('option')
  await found('Sites').getByText(`Park ${word}`).waitFor()
  expect(await field.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'))
  await expectAccessible(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await chosen.filter({ hasText: `Park ${word}` }).waitFor()
  await page.keyboard.press('ArrowUp')
  const serial = await chosen.filter({ hasText: /gate/ }).locator('.mono').innerText()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/devices/${appId}/${serial}`)
  await dialog.waitFor({ state: 'detached' })
  // Finds a page by its name; Escape closes the search without opening anything.
  await page.getByRole('heading', { level: 1, name: /gate/ }).waitFor()
  await page.keyboard.press('/')
  await field.waitFor()
  await page.keyboard.type('deliv')
  await chosen.filter({ hasText: 'Deliveries' }).waitFor()
  // Other words for a page find it too.
  const others = { audit: 'Events', 'second factor': 'Your account', 通行密钥: 'Your account', 审计: 'Events' }
  for (const [words, title] of Object.entries(others)) {
    await field.fill(words)
    await found('Pages').getByText(title, { exact: true }).waitFor()
  }
  // A serial number holds no space, so that only names are looked through by it.
  const through = found('See all results')
  await field.fill('south')
  await through.nth(2).waitFor()
  await field.fill('South gate')
  await through.filter({ hasText: 'Devices with “South gate”' }).waitFor()
  expect(await through.allInnerTexts()).not.toContain('Devices with “South gate”')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await shortcuts.getByText('Show keyboard shortcuts').waitFor()
  await expectAccessible(page)
  // Single keys can be turned off, and then open nothing.
  await shortcuts.getByRole('checkbox').uncheck()
  await page.keyboard.press('Escape')
  await shortcuts.waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.press('Control+k')
  await field.waitFor()
  expect(await field.inputValue()).toBe('')
})

longBrowserTest('a slash that is typed stays typed, and the menu stays folded', async () => {
  const { word, appId } = await named()
  const { page } = await visit(`/console/devices?appId=${appId}`, { role: 'operator' })
  // In a text field, it opens nothing.
  await page.getByLabel('Serial number').focus()
  await page.keyboard.type(`${word}/`)
  expect(await page.getByLabel('Serial number').inputValue()).toBe(`${word}/`)
  expect(await page.getByRole('dialog').count()).toBe(0)
  // The menu stays folded, and its links keep their names.
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('button', { name: 'Collapse menu' }).click()
  expect((await menu.boundingBox())?.width).toBeLessThan(80)
  await page.reload()
  await menu.getByRole('link', { name: 'Billing rules' }).waitFor()
  expect((await menu.boundingBox())?.width).toBeLessThan(80)
  if (isLong) await expectAccessible(page)
  await menu.getByRole('button', { name: 'Expand menu' }).click()
  expect((await menu.boundingBox())?.width).toBeGreaterThan(200)
})

longBrowserTest('views of a list are saved by name in the account, applied, renamed and deleted', async () => {
  const { word, appId } = await named()
  const asked = `/console/devices?appId=${appId}&deviceNo=${word}-A`
  const { page, headers } = await visit(asked, { role: 'developer', appIds: [appId] })
  const north = page.getByRole('link', { name: 'North gate' })
  const south = page.getByRole('link', { name: 'South gate' })
  await north.waitFor()
  const columns = () => page.getByRole('columnheader').allInnerTexts()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Version' }).check()
  expect(await columns()).toContain('Version')
  await page.keyboard.press('Escape')
  await chooseOfViews(page, 'Save this view…')
  const saving = page.getByRole('dialog', { name: 'Save this view' })
  await saving.getByLabel('Name').fill('North')
  if (isLong) await expectAccessible(page)
  await page.keyboard.press('Enter')
  await saving.waitFor({ state: 'detached' })
  const [view] = (await client.call('pageViews', {}, { headers })).data.list
  expect(view).toMatchObject({ page: 'devices', name: 'North', query: `appId=${appId}&deviceNo=${word}-A` })
  // As in another browser, which has stored nothing.
  await page.evaluate(() => localStorage.clear())
  await page.goto(`${client.url}/console/devices?appId=${appId}`)
  await south.waitFor()
  expect(await columns()).not.toContain('Version')
  await chooseOfViews(page, 'North')
  await south.waitFor({ state: 'detached' })
  await north.waitFor()
  expect(await columns()).toContain('Version')
  expect(await page.getByLabel('Serial number').inputValue()).toBe(`${word}-A`)
  await chooseOfViews(page, 'Rename or delete…')
  const managing = page.getByRole('dialog', { name: 'Saved views of this list' })
  await managing.getByRole('textbox', { name: 'Rename North' }).fill('The north')
  await page.keyboard.press('Enter')
  await managing.getByRole('textbox', { name: 'Rename The north' }).waitFor()
  await managing.getByRole('button', { name: 'Delete The north' }).click()
  const asking = page.getByRole('dialog', { name: 'Delete view The north?' })
  await asking.getByRole('button', { name: 'Cancel' }).click()
  await asking.waitFor({ state: 'detached' })
  expect((await client.call('pageViews', {}, { headers })).data.total).toBe(1)
  await managing.getByRole('button', { name: 'Delete The north' }).click()
  await asking.getByText('The list itself doesn’t change').waitFor()
  await asking.getByRole('button', { name: 'Delete view' }).click()
  await managing.getByText('No saved views of this list').waitFor()
  expect(await becomesTrue(async () => (await client.call('pageViews', {}, { headers })).data.total === 0)).toBe(true)
})

longBrowserTest('views are of every list that has filters', async () => {
  const { appId } = await named()
  const { page, headers } = await visit('/console/account', { role: 'admin' })
  const ofRecords = ['applications', 'sites', 'devices', 'billing-rules', 'price-changes', 'regions', 'imports']
  const ofTabs = ['models', 'models?tab=inventory', 'events?tab=audit', `events?tab=feed&appId=${appId}`]
  const paths = [...ofRecords, ...ofTabs, 'acts', 'deliveries', 'refusals', 'people']
  for (const path of paths) {
    await page.goto(`${client.url}/console/${path}`)
    await chooseOfViews(page, 'Save this view…')
    await page.getByRole('dialog').getByLabel('Name').fill('Mine')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  const { list } = (await client.call('pageViews', { pageSize: 100 }, { headers })).data
  // Each under a name of its own.
  expect(new Set(list.map((view) => view.page)).size).toBe(paths.length)
})
