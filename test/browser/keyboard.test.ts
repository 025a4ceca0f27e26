import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newPerson } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { becomes, becomesTrue } from '../kit/waits.ts'
import { newDevice, newDevices } from './records.ts'
import { client, longBrowserTest, visit } from './support.ts'

/** The element that has the focus, by what a screen reader says of it. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    const label = element?.getAttribute('aria-label') ?? (element as HTMLInputElement | null)?.labels?.[0]?.innerText
    return (label ?? element?.innerText ?? '').trim()
  })

/** Waits until an element has the focus. */
async function expectFocus(page: Page, words: string): Promise<void> {
  expect(await becomes(words, () => focused(page), 3_000)).toBe(words)
}

/** Opens a dialog by the keyboard, expects where the focus is in it, and that closing gives it back. */
async function expectDialog(page: Page, button: string, first: string, item?: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().focus()
  await page.keyboard.press('Enter')
  if (item !== undefined) {
    await page.getByRole('menuitem', { name: item, exact: true }).waitFor()
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'menuitem')
    for (let step = 0; step < 5; step++) {
      const present = await focused(page)
      if (present === item) break
      await page.keyboard.press('ArrowDown')
      // The menu moves the focus a frame later.
      await becomesTrue(async () => (await focused(page)) !== present, 1_500)
    }
    await page.keyboard.press('Enter')
  }
  await page.getByRole('dialog').waitFor()
  await expectFocus(page, first)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expectFocus(page, button)
}

longBrowserTest('the focus enters dialogs and menus where it should, and comes back', async () => {
  const { name } = await newPerson(client, 'viewer')
  const { page } = await visit(`/console/people?name=${name}`, { role: 'admin' })
  await page.getByRole('cell', { name, exact: true }).waitFor()
  await expectDialog(page, 'New account', 'Name')
  await expectDialog(page, `Edit ${name}`, 'Name')
  await expectDialog(page, `More actions for ${name}`, 'Cancel', 'Reset')
  await expectDialog(page, `More actions for ${name}`, `Type ${name} to confirm`, 'Delete')
  // Twice, because the page may have kept the dialog.
  await expectDialog(page, `Edit ${name}`, 'Name')
  // The question before unsaved input is lost begins at the button that loses nothing.
  await page.getByRole('button', { name: 'New account' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('x')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  await expectFocus(page, 'Stay')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'Name')
  await page.reload()

  const open = async (button: string | RegExp, first: string) => {
    await page.getByRole('button', { name: button }).focus()
    await page.keyboard.press('Enter')
    await expectFocus(page, first)
  }
  // Twice: the code of the menu is loaded when it is first opened.
  for (let time = 0; time < 2; time++) {
    await open(`More actions for ${name}`, 'Reset')
    await page.keyboard.press('ArrowDown')
    await expectFocus(page, 'Delete')
    await page.keyboard.press('Escape')
    await expectFocus(page, `More actions for ${name}`)
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor({ state: 'hidden' })
  }
  await open(/Your account$/, 'Your account')
  await page.keyboard.press('ArrowDown')
  await expectFocus(page, 'Sign out')
  await page.keyboard.press('ArrowUp')
  await expectFocus(page, 'Your account')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()

  const key = newSerial('key')
  await client.operate('createOperatorKey', { name: key, role: 'viewer' })
  await page.goto(`${client.url}/console/people?tab=keys`)
  await expectDialog(page, 'New key', 'Name')
  await expectDialog(page, `Reassign ${key}`, 'New owner')
  await expectDialog(page, `Revoke ${key}`, `Type ${key} to confirm`)
  // The cross can still be reached, both ways.
  await page.goto(`${client.url}/console/people?tab=keys`)
  await page.getByRole('button', { name: 'New key' }).click()
  await expectFocus(page, 'Name')
  await page.keyboard.press('Shift+Tab')
  await expectFocus(page, 'Close')
})

longBrowserTest('the focus begins at the top of a page that a link inside the console leads to', async () => {
  const app = await newApplication(client)
  await newDevice(app)
  const { page } = await visit('/console/applications', { role: 'operator' })
  const isAt = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Refused requests' }).click()
  await isAt('Refused requests')
  await menu.getByRole('link', { name: 'Devices' }).focus()
  await page.keyboard.press('Enter')
  await isAt('Devices')
  const toFirstRow = async () => {
    await page.locator('main .rows tbody a').first().waitFor()
    await page.keyboard.press('Tab')
    await expectFocus(page, 'Skip to content')
    await page.keyboard.press('Tab')
    await expectFocus(page, 'Skip to table')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.closest('main .rows tbody') !== null)).toBe(true)
  }
  await toFirstRow()
  // By the search, and by the browser's way back.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
  await page.keyboard.type('events')
  await page.getByRole('option', { name: 'Events', exact: true, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await isAt('Events')
  await toFirstRow()
  await page.goBack()
  await isAt('Devices')
  await toFirstRow()
  // A page that begins with a field keeps the focus there, and a filter keeps it too.
  await page.goto(`${client.url}/console/devices?appId=${app.appId}`)
  await page.getByRole('link', { name: 'New device' }).click()
  await isAt('New device')
  await expectFocus(page, 'Serial number')
  await menu.getByRole('link', { name: 'Devices' }).click()
  await isAt('Devices')
  await page.getByLabel('Serial number').fill('x')
  await page.waitForURL('**deviceNo=x')
  await expectFocus(page, 'Serial number')
})

longBrowserTest('the focus skips to the content, which is no entry in the history, and no saved form is', async () => {
  const app = await newApplication(client)
  await newDevice(app, { deviceName: 'North gate' })
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
  await page.getByRole('link', { name: 'North gate', exact: true }).click()
  await page.getByRole('heading', { name: 'North gate', level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  await expectFocus(page, 'Skip to content')
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).hash).toBe('')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('South gate')
  await page.goBack()
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Stay' }).click()
  await question.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'South gate', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'South gate', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
})

longBrowserTest('the focus reaches a button that cannot be pressed, which says why, in a bar of one line', async () => {
  await newDevices(await newApplication(client), 2)
  const viewport = { width: 1440, height: 900 }
  const { page } = await visit('/console/devices', { role: 'operator', viewport })
  await page.locator('main .rows tbody a').first().waitFor()
  await page.locator('main .rows tbody').getByRole('checkbox').first().check()
  await page.getByText('1 selected').waitFor()
  const all = page.getByRole('button', { name: /^Bulk action on all/ })
  await all.focus()
  const reason = page.getByRole('tooltip')
  await reason.waitFor()
  expect(await all.getAttribute('aria-describedby')).toBe(await reason.getAttribute('id'))
  expect(await all.isDisabled()).toBe(true)
  await page.keyboard.press('Enter')
  expect(await page.getByRole('dialog').count()).toBe(0)
  const bar = page.getByRole('navigation', { name: 'Pages' })
  const heights = await bar.locator('button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y))
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(16)
})
