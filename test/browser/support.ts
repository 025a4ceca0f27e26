import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { atScale, isLong } from '../faults/support.ts'
import { type Client, newSerial, target } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { chromiumPath, launchChromium } from './chromium.ts'

// Real pages in a real browser, against the real service.

const isSkipped = chromiumPath === undefined && process.env.CI !== 'true'
const pictures = process.env.FORECOURT_TEST_PICTURES

/**
 * A test that needs a browser; skipped where there is none, while CI has one. A failed test is tried once more and
 * prints so: a click may come between two frames of a busy machine, and no promise depends on that.
 */
export function browserTest(name: string, run: () => Promise<void>, isLeftOut = isSkipped): void {
  const attempt = async () => {
    try {
      await run()
    } catch (error) {
      await describePages(name)
      // What the failed test has left may trouble others.
      await Promise.all(taken.splice(0).map(({ context }) => context.close()))
      throw error
    }
    await Promise.all(taken.splice(0).map(rest))
  }
  test.skipIf(isLeftOut)(name, attempt, { timeout: 120_000, retry: 1 })
}

/** One of the long run only: in the gate another visit meets the same part of the console. */
export function longBrowserTest(name: string, run: () => Promise<void>): void {
  browserTest(name, run, isSkipped || !isLong)
}

if (isSkipped) process.stderr.write('no Chromium on this machine: the browser tests are skipped\n')

/** The pages of a failed test, for the log. */
async function describePages(test: string): Promise<void> {
  for (const page of taken.flatMap(({ context }) => context.pages())) {
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

type Language = 'en' | 'zh'

/** A window with its own cookies and storage. It is used by one visit after the other: warm, it loads in half the time. */
interface Seat {
  context: BrowserContext
  page: Page
  language: Language
  isKept: boolean
}
/** The seats that the running test uses. */
const taken: Seat[] = []
const resting: Seat[] = []

async function takeSeat(language: Language, isKept: boolean): Promise<Seat> {
  const index = resting.findIndex((seat) => isKept && seat.language === language)
  const seat = resting.splice(index, index < 0 ? 0 : 1)[0] ?? (await newSeat(language, isKept))
  taken.push(seat)
  return seat
}

async function newSeat(language: Language, isKept: boolean): Promise<Seat> {
  browser ??= launchChromium()
  const context = await (await browser).newContext({
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(25_000)
  return { context, page: await context.newPage(), language, isKept }
}

/** Leaves nothing of a visit but what the browser has loaded. */
async function rest(seat: Seat): Promise<void> {
  const { context, page, isKept } = seat
  if (!isKept) return context.close()
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate(() => localStorage.clear())
  await page.goto('about:blank')
  await context.clearCookies()
  resting.push(seat)
}

/** Sessions of people who only look around; a test that changes an account creates its own. */
const sessions = new Map<Role, Promise<{ cookie: string }>>()

/** A session of a person of that role, made through the API. */
function sessionOf(role: Role, appIds: string[], through: Client): Promise<{ cookie: string }> {
  const make = async () => signIn(through, await newPerson(through, role, appIds))
  if (through !== client || role === 'developer') return make()
  const session = sessions.get(role) ?? make()
  sessions.set(role, session)
  return session
}

export interface Visit {
  role?: Role
  /** The applications of a developer. */
  appIds?: string[]
  language?: Language
  viewport?: { width: number; height: number }
  isDark?: boolean
  /** Another service than the one that the tests share. */
  through?: Client
  /** Whether time passes as `page.clock` says. */
  hasOwnClock?: boolean
}

export interface Visited {
  page: Page
  /** What the console has complained of since it was opened: nothing, or the test has to say why. */
  faults: string[]
  /** The session's headers, to look at the same through the API. */
  headers: { cookie: string }
}

/** Opens a page of the console as a person of that role; without a role, signed out. */
export async function visit(path: string, options: Visit = {}): Promise<Visited> {
  const { role, appIds = [], language = 'en', viewport = wide, isDark, through = client, hasOwnClock = false } = options
  const { context, page } = await takeSeat(language, !hasOwnClock)
  let headers = { cookie: '' }
  if (role !== undefined) {
    headers = await sessionOf(role, appIds, through)
    const [name = '', value = ''] = headers.cookie.split('=')
    await context.addCookies([{ name, value, url: through.url, httpOnly: true, sameSite: 'Strict' }])
  }
  if (hasOwnClock) await page.clock.install()
  await page.setViewportSize(viewport)
  await showIn(page, isDark === true ? 'dark' : 'light')
  const faults: string[] = []
  page.on('console', (message) => {
    // The browser itself writes each refused request to its console; the page's own words are what counts.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
    if (message.type() === 'error' && !isRefusal) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.goto(through.url + path)
  return { page, faults, headers }
}

/** Goes on to another page of the console that is open, as one of its links would: by its address, without loading it. */
export function leadTo(page: Page, path: string): Promise<void> {
  return page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  return page.emulateMedia({ colorScheme })
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Waits until animations have ended; endless ones do not count. Rows that are being read again are pale. */
async function settle(page: Page): Promise<void> {
  await page.locator('.rows-busy').first().waitFor({ state: 'detached' })
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })
}

/**
 * Holds a page to what a screen reader and a keyboard need: no serious or critical finding of axe, of all its rules or
 * of some.
 */
async function expectAccessible(page: Page, runOnly?: string[]): Promise<void> {
  // A text that is still fading in has too little contrast.
  await settle(page)
  // In the debugger's own world, because the page's policy allows no other script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  // Its preloading is for media, which no page plays.
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...(runOnly && { runOnly }) })
  const findings = await page.evaluate<Violation[]>(`axe.run(${options}).then(({ violations }) => violations)`)
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
export async function expectSound(visited: Visited, title: string | RegExp): Promise<void> {
  await expectFramed(visited, title)
  await expectAccessible(visited.page)
}

/**
 * The same in the light and in the dark, with a picture of each. In the gate the dark of two full pages stands for that
 * of all, which take their colours from the same theme.
 */
export async function expectSoundInBothShades(visited: Visited, title: string | RegExp, name: string): Promise<void> {
  await expectSound(visited, title)
  await picture(visited.page, name)
  if (!atScale(['overview', 'device'].includes(name), true)) return
  await showIn(visited.page, 'dark')
  await visited.page.locator('html[data-shade=dark]').waitFor()
  // Nothing but the colours is another.
  await expectAccessible(visited.page, ['color-contrast', 'link-in-text-block'])
  expect(visited.faults).toEqual([])
  await picture(visited.page, `${name}-dark`)
  await showIn(visited.page, 'light')
  await visited.page.locator('html[data-shade=light]').waitFor()
}

/** Holds a page to its frame: one `h1` with this text, nothing wider than the window, and no fault in the console. */
export async function expectFramed({ page, faults }: Visited, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  expect(await page.locator('h1').count()).toBe(1)
  expect(await whatIsWider(page)).toEqual([])
  expect(faults).toEqual([])
}

/** What of a page is wider than the window, or than its place. */
export function whatIsWider(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const rows = [...document.querySelectorAll('.wide:has(> .rows)')]
    const path = location.pathname + location.search
    return [
      ...(scrollWidth > clientWidth ? [`${path}: ${scrollWidth - clientWidth} px wider than its window`] : []),
      ...rows
        .filter((one) => one.scrollWidth > one.clientWidth)
        .map((one) => `${path}: ${one.ariaLabel} ${one.scrollWidth - one.clientWidth} px wider than their place`),
    ]
  })
}

/** Takes a picture, where FORECOURT_TEST_PICTURES names a folder for them. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  await settle(page)
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** Lets the service carry a request out, and breaks the connection before its answer. */
export async function loseAnswer(route: Route): Promise<void> {
  // A connection that the service has closed for its long rest is tried again, as the browser itself does.
  await route.fetch({ maxRetries: 3 })
  await route.abort()
}
