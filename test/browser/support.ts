import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Client, newSerial, target } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { chromiumPath, launchChromium } from './chromium.ts'

// Real pages in a real browser, against the real service.

const hasBrowser = chromiumPath !== undefined
const pictures = process.env.FORECOURT_TEST_PICTURES

/** A test that needs a browser. Where there is none it is skipped and says so; CI has one. */
export function browserTest(name: string, run: () => Promise<void>): void {
  const attempt = async () => {
    try {
      await run()
    } catch (error) {
      await describePages(name)
      throw error
    } finally {
      await Promise.all(contexts.splice(0).map((context) => context.close()))
    }
  }
  test.skipIf(!hasBrowser)(name, attempt, 120_000)
}
if (!hasBrowser) process.stderr.write('no Chromium on this machine: the browser tests are skipped\n')

/** What the pages of a failed test show, because nobody was there to see it. */
async function describePages(test: string): Promise<void> {
  for (const page of contexts.flatMap((context) => context.pages())) {
    const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
    process.stderr.write(`${test}: ${page.url()} shows\n${seen.slice(0, 6000)}\n`)
    if (!page.isClosed()) await picture(page, `failed ${test}`)
  }
}

export const client: Client = await target()
export { newSerial }

type Role = 'admin' | 'operator' | 'viewer' | 'developer'
const wide = { width: 1280, height: 800 }
export const narrow = { width: 390, height: 844 }

/** It ends with the process. */
let browser: Promise<Browser> | undefined
const contexts: BrowserContext[] = []

export interface Visit {
  role?: Role
  /** Of a developer. */
  appIds?: string[]
  language?: 'en' | 'zh'
  viewport?: { width: number; height: number }
  isDark?: boolean
  /** Another service than the one that the tests share. */
  through?: Client
}

export interface Visited {
  page: Page
  /** What the console has complained of since it was opened: nothing, or the test has to say why. */
  faults: string[]
  /** The session's headers, to look at the same through the API. */
  headers: { cookie: string }
}

/** Opens a page of the console as a new person of that role; without a role, as nobody. */
export async function visit(
  path: string,
  { role, appIds = [], language = 'en', viewport = wide, isDark, through = client }: Visit = {},
): Promise<Visited> {
  browser ??= launchChromium()
  const context = await (await browser).newContext({
    viewport,
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    timezoneId: 'Europe/Berlin',
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  contexts.push(context)
  let headers = { cookie: '' }
  if (role !== undefined) {
    headers = await signIn(through, await newPerson(through, role, appIds))
    const [name = '', value = ''] = headers.cookie.split('=')
    await context.addCookies([{ name, value, url: through.url, httpOnly: true, sameSite: 'Strict' }])
  }
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    // The browser itself writes each refused request to its console; the page's own words are what counts.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
    if (message.type() === 'error' && !isRefusal) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.setDefaultTimeout(25_000)
  await page.goto(through.url + path)
  return { page, faults, headers }
}

const axeSource = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Waits until what moves has come to rest; what turns for ever does not count. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })
}

/** Holds a page to what a screen reader and a keyboard need: no serious or critical finding of axe. */
async function expectAccessible(page: Page): Promise<void> {
  // A text that is still fading in has too little contrast.
  await settle(page)
  // By the debugger's own world, because the page's policy lets no other script in.
  const source = await Bun.file(axeSource).text()
  await page.evaluate(source)
  const findings = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }
    return (await axe.run({ resultTypes: ['violations'] })).violations
  })
  const serious = findings.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(
    serious.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`,
    ),
  ).toEqual([])
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** Holds a page to its frame, and to what a screen reader and a keyboard need. */
export async function expectSound(visited: Visited, title: string): Promise<void> {
  await expectFramed(visited, title)
  await expectAccessible(visited.page)
}

/** Holds a page to its frame: one `h1` with this text, nothing wider than the window, and no fault in the console. */
export async function expectFramed({ page, faults }: Visited, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  expect(await page.locator('h1').count()).toBe(1)
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(overflow, 'pixels that the page is wider than its window').toBeLessThanOrEqual(0)
  expect(faults).toEqual([])
}

/** Takes a picture, where FORECOURT_TEST_PICTURES names a folder for them. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  await settle(page)
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}
