import type { Locator, Page } from 'playwright-core'
import type { Person } from '../kit/people.ts'

/** Fills in a form, by the labels of its fields. */
export async function fillIn(form: Page | Locator, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(text)
}

/** Waits until each of the texts is shown. */
export async function shows(place: Page | Locator, ...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await place.getByText(text).waitFor()
}

export const press = (place: Page | Locator, name: string | RegExp) => place.getByRole('button', { name }).click()

/** The row of a table, by a text in it. */
export const row = (place: Page | Locator, text: string | RegExp) => place.getByRole('row', { name: text })

/** Presses the button of an act, and then the one of the same name in the dialog that asks for it. */
export async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: verb }).click()
  await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click()
}

/** Signs in on the page that is open. */
export async function enterByPassword(page: Page, { name, password }: Omit<Person, 'id'>): Promise<void> {
  // The page that is being left may also have a field with this name.
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  const form = page.locator('.sign-in')
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Password').fill(password)
  await form.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Sets an account up, on the page of its link. */
export async function setUp(page: Page, password: string, again = password): Promise<void> {
  await fillIn(page, { 'New password': password, 'Repeat password': again })
  await press(page, 'Set up and sign in')
}

/** Acts as a person does, and counts clicks and fields. */
export class Hand {
  readonly page: Page
  clicks = 0
  fields = 0

  constructor(page: Page) {
    this.page = page
  }

  async click(locator: Locator): Promise<void> {
    this.clicks++
    await locator.click()
  }

  press(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    return this.click(within.getByRole('button', { name, exact: true }))
  }

  go(title: string): Promise<void> {
    return this.click(this.page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: title }))
  }

  async type(locator: Locator, text: string): Promise<void> {
    this.fields++
    await locator.fill(text)
  }

  /** Types a part of an option, and chooses the first match with Enter. */
  async find(locator: Locator, text: string): Promise<void> {
    await this.type(locator, text)
    await this.page.locator('.ant-select-item-option, .ant-cascader-menu-item').getByText(text).first().waitFor()
    // While the table of regions is still loading after the input, no row is active.
    const rows = this.page.locator('.ant-cascader-menu-item:visible')
    const active = this.page.locator('.ant-cascader-menu-item-active:visible')
    if ((await rows.count()) > 0 && (await active.count()) === 0) {
      await locator.press('ArrowDown')
      await active.first().waitFor()
    }
    await locator.press('Enter')
  }

  async choose(list: Locator, option: string): Promise<void> {
    await this.click(list)
    await this.click(this.page.locator('.ant-select-item-option').getByText(option, { exact: true }))
  }
}
