import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newPerson } from '../kit/people.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { client, longBrowserTest, newSerial, visit } from './support.ts'

/** The element that has the focus, by what a screen reader says of it. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    const label = element?.getAttribute('aria-label') ?? (element as HTMLInputElement | null)?.labels?.[0]?.innerText
    return (label ?? element?.innerText ?? '').trim()
  })

/** Waits until an element has the focus. */
async function expectFocus(page: Page, words: string): Promise<void> {
  let last = ''
  for (let attempt = 0; attempt < 30; attempt++) {
    last = await focused(page)
    if (last === words) return
    await page.waitForTimeout(100)
  }
  expect(last).toBe(words)
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
      for (let wait = 0; wait < 30 && (await focused(page)) === present; wait++) await page.waitForTimeout(50)
    }
    await page.keyboard.press('Enter')
  }
  await page.getByRole('dialog').waitFor()
  await expectFocus(page, first)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expectFocus(page, button)
}

describe('the focus', () => {
  longBrowserTest('begins at the first field of a dialog, or at the button that does nothing', async () => {
    const person = await newPerson(client, 'viewer')
    const { name } = person
    const { page, faults } = await visit(`/console/people?name=${name}`, { role: 'admin' })
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
    expect(faults).toEqual([])
  })

  longBrowserTest('begins at the top of a page that a link inside the console leads to', async () => {
    const { appId, token } = await newApplication(client)
    await client.call('createDevice', deviceBody(appId, { deviceName: 'The gate' }), { token })
    const { page, faults } = await visit('/console/applications', { role: 'operator' })
    await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Refused requests' }).click()
    await page.getByRole('heading', { level: 1, name: 'Refused requests' }).waitFor()
    const menu = page.getByRole('navigation', { name: 'Menu' })
    await menu.getByRole('link', { name: 'Devices' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
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
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
    await toFirstRow()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await toFirstRow()
    // A page that begins with a field keeps the focus there, and a filter keeps it too.
    await page.goto(`${client.url}/console/devices?appId=${appId}`)
    await page.getByRole('link', { name: 'New device' }).click()
    await page.getByRole('heading', { level: 1, name: 'New device' }).waitFor()
    await expectFocus(page, 'Serial number')
    await menu.getByRole('link', { name: 'Devices' }).click()
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await page.getByLabel('Serial number').fill('x')
    await page.waitForURL('**deviceNo=x')
    await expectFocus(page, 'Serial number')
    expect(faults).toEqual([])
  })

  longBrowserTest('skips to the content without an entry in the history, and a saved form is none either', async () => {
    const app = await newApplication(client)
    const body = deviceBody(app.appId, { deviceName: 'North gate' })
    expect((await client.call('createDevice', body, { token: app.token })).code).toBe(0)
    const { page, faults } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
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
    expect(faults).toEqual([])
  })

  longBrowserTest('enters a menu that the keyboard opens, and comes back', async () => {
    const person = await newPerson(client, 'viewer')
    const { name } = person
    const { page, faults } = await visit(`/console/people?name=${name}`, { role: 'admin' })
    await page.getByRole('cell', { name, exact: true }).waitFor()
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
    expect(faults).toEqual([])
  })

  longBrowserTest('reaches a button that cannot be pressed, which says why, in a bar of one line', async () => {
    const { appId, token } = await newApplication(client)
    for (const name of ['one', 'two']) {
      await client.call('createDevice', deviceBody(appId, { deviceName: name }), { token })
    }
    const viewport = { width: 1440, height: 900 }
    const { page, faults } = await visit('/console/devices', { role: 'operator', viewport })
    await page.locator('main .rows tbody a').first().waitFor()
    await page.locator('main .rows tbody').getByRole('checkbox').first().check()
    await page.getByText('1 selected').waitFor()
    const all = page.getByRole('button', { name: /matching…$/ })
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
    expect(faults).toEqual([])
  })
})
