import type { Locator, Page } from 'playwright-core'

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
