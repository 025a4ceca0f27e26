import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { streamEvents } from '../../src/events/contract.ts'
import { type Client, target } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { atScale, isLong } from '../kit/scale.ts'
import { chromiumPath, launchChromium } from './chromium.ts'

// Tests with a real browser against the real service.

const isSkipped = chromiumPath === undefined && process.env.CI !== 'true'
const pictures = process.env.FORECOURT_TEST_PICTURES

/**
 * A test that needs a browser. It is skipped on a machine without Chromium, but never in CI. It fails if a page that it
 * visited wrote an error to the console or did not catch one.
 */
export function browserTest(name: string, run: () => Promise<void>, isLeftOut = isSkipped): void {
  const attempt = async () => {
    try {
      await run()
      expect(taken.flatMap(({ faults }) => faults)).toEqual([])
    } catch (error) {
      await describePages(name)
      // The failed test's pages could disturb other tests.
      await Promise.all(taken.splice(0).map(({ context }) => context.close()))
      throw error
    }
    await Promise.all(taken.splice(0).map(rest))
  }
  test.skipIf(isLeftOut)(name, attempt, { timeout: 120_000 })
}

/** A test for the long run only; in the short run, another test covers the same part of the console. */
export function longBrowserTest(name: string, run: () => Promise<void>): void {
  browserTest(name, run, isSkipped || !isLong)
}

if (isSkipped) process.stderr.write('no Chromium on this machine: the browser tests are skipped\n')

/** Logs what the pages of a failed test show. */
async function describePages(test: string): Promise<void> {
  for (const page of taken.flatMap(({ context }) => context.pages())) {
    const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
    process.stderr.write(`${test}: ${page.url()} shows\n${seen.slice(0, 6000)}\n`)
    if (!page.isClosed()) await picture(page, `failed ${test}`)
  }
}

export const client: Client = await target()

type Role = 'admin' | 'operator' | 'viewer' | 'developer'
const wide = { width: 1280, height: 800 }
export const narrow = { width: 390, height: 844 }

/** The browser ends with this process. */
let browser: Promise<Browser> | undefined

type Language = 'en' | 'zh'

/**
 * A browser window with its own cookies and storage. Tests use it one after the other, because a page loads in half the
 * time when its files are cached.
 */
interface Seat {
  context: BrowserContext
  page: Page
  /** Errors that the page wrote to the console or did not catch in this visit. */
  faults: string[]
  language: Language
  isKept: boolean
}
/** The windows that the running test uses. */
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
  return { context, page: await context.newPage(), faults: [], language, isKept }
}

/** Removes everything of a visit except the browser's cache, and keeps the window for another test. */
async function rest(seat: Seat): Promise<void> {
  const { context, page, isKept } = seat
  if (!isKept) return context.close()
  page.removeAllListeners()
  seat.faults = []
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate(() => localStorage.clear())
  await page.goto('about:blank')
  await context.clearCookies()
  resting.push(seat)
}

/** Sessions for tests that do not change the account; a test that changes an account creates its own. */
const sessions = new Map<Role, { begunAt: number; session: Promise<{ cookie: string }> }>()
/** Its proof, which some acts ask for, lasts ten minutes. */
const sessionLastsMs = 300_000

/** The headers of a session of a person with that role, created through the API. */
function sessionOf(role: Role, appIds: string[], through: Client): Promise<{ cookie: string }> {
  const make = async () => signIn(through, await newPerson(through, role, appIds))
  if (through !== client || role === 'developer') return make()
  const known = sessions.get(role)
  if (known !== undefined && performance.now() - known.begunAt < sessionLastsMs) return known.session
  const session = make()
  sessions.set(role, { begunAt: performance.now(), session })
  return session
}

export interface Visit {
  role?: Role
  /** The applications that a developer is a member of. */
  appIds?: string[]
  language?: Language
  viewport?: { width: number; height: number }
  isDark?: boolean
  /** The client of the service to use, if it is not the shared one. */
  through?: Client
  /** Whether the test sets the page's time with `page.clock`. */
  hasOwnClock?: boolean
  /** The page has no stream of events, so that it polls, and its requests come to an end. */
  isPolling?: boolean
  /** The test breaks connections or has requests fail, which the browser logs as errors. */
  isCutOff?: boolean
}

export interface Visited {
  page: Page
  /** The session's headers, for requests to the API by the same person. */
  headers: { cookie: string }
}

/** Refuses the page a stream of events. A page with one never has an idle network. */
export function withoutStream(page: Page): Promise<unknown> {
  return page.route(`**${streamEvents.path}*`, (route) => route.fulfill({ status: 429, body: '' }))
}

/** Opens a page of the console, signed in as a person with that role; without a role, signed out. */
export async function visit(path: string, options: Visit = {}): Promise<Visited> {
  const { role, appIds = [], language = 'en', viewport = wide, isDark, through = client } = options
  const { hasOwnClock = false, isPolling = false, isCutOff = false } = options
  const { context, page, faults } = await takeSeat(language, !hasOwnClock)
  let headers = { cookie: '' }
  if (role !== undefined) {
    headers = await sessionOf(role, appIds, through)
    const [name = '', value = ''] = headers.cookie.split('=')
    await context.addCookies([{ name, value, url: through.url, httpOnly: true, sameSite: 'Strict' }])
  }
  if (hasOwnClock) await page.clock.install()
  if (isPolling) await withoutStream(page)
  await page.setViewportSize(viewport)
  await showIn(page, isDark === true ? 'dark' : 'light')
  // The browser logs each 4xx response as an error itself; only the page's own errors count.
  const ofBrowser = `Failed to load resource: ${isCutOff ? '' : 'the server responded with a status of 4'}`
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith(ofBrowser)) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.goto(through.url + path)
  return { page, headers }
}

/** Changes the URL of an open page without loading it, as a link inside the console does. */
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

/** Waits until tables have loaded and animations have ended, except endless animations. */
async function settle(page: Page): Promise<void> {
  await page.locator('.rows-busy').first().waitFor({ state: 'detached' })
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })
}

/** Expects no serious or critical finding of axe, the accessibility checker, by all its rules or by the given ones. */
export async function expectAccessible(page: Page, runOnly?: string[]): Promise<void> {
  // Text that is still fading in has too little contrast.
  await settle(page)
  // axe is injected through the debugger, because the page's policy allows no other script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  // axe preloads media; the pages have none.
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

/** Checks a page's frame: one `h1` with this text, nothing wider than the window, and no error in the console. */
export async function expectFramed(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  expect(await page.locator('h1').count()).toBe(1)
  expect(await whatIsWider(page)).toEqual([])
  expect(taken.find((seat) => seat.page === page)?.faults).toEqual([])
}

/**
 * Checks a page's frame and its accessibility; with the name of a picture, in the light and in the dark theme, with a
 * picture of each. In the short run only two full pages are checked in the dark, because all pages take their colours from
 * the same theme.
 */
export async function expectSound(page: Page, title: string | RegExp, name?: string): Promise<void> {
  await expectFramed(page, title)
  await expectAccessible(page)
  if (name === undefined) return
  await picture(page, name)
  if (!atScale(['overview', 'device'].includes(name), true)) return
  await showIn(page, 'dark')
  await page.locator('html[data-shade=dark]').waitFor()
  // Only the colours differ in the dark theme.
  await expectAccessible(page, ['color-contrast', 'link-in-text-block'])
  await picture(page, `${name}-dark`)
  await showIn(page, 'light')
  await page.locator('html[data-shade=light]').waitFor()
}

/** Describes the elements that are wider than the window or than their container. */
export function whatIsWider(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const rows = [...document.querySelectorAll('.wide:has(> .rows)')]
    const outside = [...document.querySelectorAll('main *')].find(
      (one) => one.getBoundingClientRect().right > clientWidth + 1 && one.closest('.wide, .page-actions, pre') === null,
    )
    const path = location.pathname + location.search
    return [
      ...(scrollWidth > clientWidth
        ? [`${path}: ${scrollWidth - clientWidth} px wider than its window: ${outside?.outerHTML.slice(0, 120)}`]
        : []),
      ...rows
        .filter((one) => one.scrollWidth > one.clientWidth)
        .map((one) => `${path}: ${one.ariaLabel} ${one.scrollWidth - one.clientWidth} px wider than their place`),
    ]
  })
}

/** Takes a screenshot if FORECOURT_TEST_PICTURES names a folder for it. */
async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  await settle(page)
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** Lets the service carry out a request, and breaks the connection before the browser gets the response. */
export async function loseAnswer(route: Route): Promise<void> {
  // The service may just have closed an idle connection; browsers repeat such a request too.
  await route.fetch({ maxRetries: 3 })
  await route.abort()
}

/** Collects the layout shifts of a page; with `isByItself`, only those that follow no input. Returns what moved so far. */
export async function watchShifts(page: Page, isByItself = false): Promise<() => Promise<string[]>> {
  await page.evaluate((leavesOutOwn) => {
    const shifts: string[] = []
    Object.assign(window, { shifts })
    interface Shift {
      value: number
      hadRecentInput: boolean
      sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[]
    }
    const place = ({ x, y, width, height }: DOMRect) => [x, y, width, height].map(Math.round).join(' ')
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as unknown as Shift[]) {
        // The caret of a field that takes several choices stands behind the chosen one.
        if (value < 0.0001 || (leavesOutOwn && hadRecentInput)) continue
        const moved = sources.map(({ node, previousRect, currentRect }) => {
          const element = node instanceof Element ? node : node?.parentElement
          return `${element?.outerHTML.slice(0, 60)} from ${place(previousRect)} to ${place(currentRect)}`
        })
        shifts.push(`${value.toFixed(4)}: ${moved.join(' | ')}`)
      }
    }).observe({ type: 'layout-shift' })
  }, isByItself)
  return () => page.evaluate(() => (window as unknown as { shifts: string[] }).shifts)
}

/** Holds up the requests for a file until a promise is kept. */
export const holdUp = (page: Page, file: string, until: () => Promise<unknown>) =>
  page.route(file, async (route) => {
    await until()
    await route.continue()
  })
