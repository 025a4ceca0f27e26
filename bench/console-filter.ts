// How long the console's lists take to show what a filter asks for, from the last key or click until the rows are painted,
// and how far anything moves meanwhile: in Chromium, on 10,000 devices and 1,000 sites.
//
//   bun bench/console-filter.ts [KIND …] [--tries 20] [--moved]
//
// KIND is a part of a list's or a filter's name; only such filters are measured then. With --moved it names what moved.
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Request } from 'playwright-core'
import { pageDevices } from '../src/devices/contract.ts'
import { pageAudit, pageEvents } from '../src/events/contract.ts'
import { pageSites } from '../src/sites/contract.ts'
import { eventTypes, platformEventTypes } from '../src/vocabulary/event-types.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { Client } from '../test/kit/client.ts'
import { newPerson, signIn } from '../test/kit/people.ts'
import { deviceBody, newApplication, siteBody } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import { sleep } from '../test/kit/waits.ts'
import { table } from './report.ts'
import { timingOf } from './timing.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tries: { type: 'string', default: '20' }, moved: { type: 'boolean', default: false } },
})
const tries = Number(values.tries)
/** The first tries load what a list loads once, such as the options of a filter. */
const unmeasured = 2
const devices = 10_000
const sites = 1_000
const portion = 1_000

const tell = (words: string) => process.stdout.write(`${words}\n`)
// While it measures, no device falls silent.
const service = await startService({ env: { FORECOURT_PRESENCE_SECONDS: '86400' } })
const client = new Client(service)
const { appId, token } = await newApplication(client, { appName: 'Measured' })
await fill()

const browser = await launchChromium(false)
const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } })
await context.addInitScript({ path: join(import.meta.dirname, 'watch-filter.mjs') })
const headers = await signIn(client, await newPerson(client, 'admin'))
const [cookie = '', secret = ''] = headers.cookie.split('=')
await context.addCookies([{ name: cookie, value: secret, url: client.url }])
const page = await context.newPage()
const underWay = new Map<Request, number>()
page.on('request', (request) => underWay.set(request, performance.now()))
page.on('requestfinished', (request) => underWay.delete(request))
page.on('requestfailed', (request) => underWay.delete(request))

/** What the rows of a try show, and how many there are. */
interface Wanted {
  /** Each row has one of them. */
  texts: string[]
  counted: { total: number; totalIsExact: boolean }
}

interface Filter {
  list: string
  what: string
  path: string
  operation: string
  /** Uses the filter up to its last key or click, which it returns. */
  prepare(index: number): Promise<() => Promise<void>>
  wanted(index: number): Promise<Wanted>
}

type Query = Record<string, string>
type Read = (query: Query) => Promise<Wanted['counted']>
const readDevices: Read = async (query) => (await client.operate('pageDevices', query)).data
const readSites: Read = async (query) => (await client.operate('pageSites', query)).data
const readEvents: Read = async (query) => (await client.operate('pageEvents', { appId, ...query })).data
const shownTypes = [...eventTypes, ...platformEventTypes].filter((type) => type !== 'device.stateChanged').join(',')
const readAudit: Read = async (query) =>
  (await client.call('pageAudit', { type: shownTypes, ...query }, { headers })).data

interface List {
  list: string
  path: string
  /** The path of the page operation. */
  operation: string
  read: Read
}

/** A text that is typed key by key, or entered: its last key is the text's last, or Enter. */
function typed(of: List, label: string, member: string, textOf: (index: number) => string, isEntered = false): Filter {
  return {
    ...of,
    what: `${label}, ${isEntered ? 'Enter' : 'typed'}`,
    async prepare(index) {
      const text = textOf(index)
      await page.getByLabel(label, { exact: true }).focus()
      await page.keyboard.type(isEntered ? text : text.slice(0, -1))
      return () => page.keyboard.press(isEntered ? 'Enter' : text.slice(-1))
    },
    wanted: async (index) => ({ texts: [textOf(index)], counted: await of.read({ [member]: textOf(index) }) }),
  }
}

interface Choice {
  option: string
  query: Query
  texts: string[]
}

/** An option of a list that is opened before; a long list is searched, because it draws only what is in view. */
function chosen(of: List, label: string, choices: Choice[], isSearched = false): Filter {
  const choiceOf = (index: number) => choices[index % choices.length] as Choice
  return {
    ...of,
    what: `${label}, chosen`,
    async prepare(index) {
      await page.getByRole('combobox', { name: label, exact: true }).click()
      if (isSearched) await page.keyboard.type(choiceOf(index).option)
      const option = page
        .locator('.ant-select-item-option:visible, .ant-cascader-menu-item:visible')
        .getByText(choiceOf(index).option, { exact: true })
      await option.scrollIntoViewIfNeeded()
      return () => option.click()
    },
    async wanted(index) {
      const { texts, query } = choiceOf(index)
      return { texts, counted: await of.read(query) }
    },
  }
}

const deviceList: List = { list: 'devices', path: '/console/devices', operation: pageDevices.path, read: readDevices }
const siteList: List = { list: 'sites', path: '/console/sites', operation: pageSites.path, read: readSites }
const feed: List = {
  ...{ list: 'events of one', path: `/console/events?appId=${appId}` },
  ...{ operation: pageEvents.path, read: readEvents },
}
const audit: List = { list: 'audit', path: '/console/events?tab=audit', operation: pageAudit.path, read: readAudit }
/** A hundred rows have it in their number. */
const partOf = (index: number) => `${String(index % 100).padStart(2, '0')}`
const serialPart = (index: number) => `GATE-${partOf(index)}`
const parkPart = (index: number) => `Park ${partOf(index)}`
const filters: Filter[] = [
  typed(deviceList, 'Serial number', 'deviceNo', serialPart),
  typed(deviceList, 'Serial number', 'deviceNo', serialPart, true),
  typed(deviceList, 'Name', 'deviceName', (index) => `Barrier ${partOf(index)}`),
  chosen(deviceList, 'Connection', [
    { option: 'Online', query: { onlineStatus: '1' }, texts: ['Online'] },
    { option: 'Offline', query: { onlineStatus: '2' }, texts: ['Offline'] },
  ]),
  chosen(deviceList, 'Health', [{ option: 'Faulty', query: { status: '2' }, texts: ['Faulty'] }]),
  typed(siteList, 'Site name', 'siteName', parkPart),
  typed(siteList, 'Site name', 'siteName', parkPart, true),
  chosen(siteList, 'Province, city, district', [
    { option: '浙江省', query: { provinceCode: '330000' }, texts: ['浙江省'] },
    { option: '江西省', query: { provinceCode: '360000' }, texts: ['江西省'] },
  ]),
  chosen(siteList, 'Devices', [{ option: 'With devices', query: { hasDevices: 'true' }, texts: ['Park'] }]),
  typed(feed, 'Serial number', 'deviceNo', (index) => `GATE-${partOf(index)}00`),
  chosen(
    feed,
    'Event',
    [
      { option: 'Site created', query: { type: 'site.created' }, texts: ['Site created'] },
      { option: 'Device bound', query: { type: 'device.bound' }, texts: ['Device bound'] },
    ],
    true,
  ),
  chosen(
    audit,
    'Event',
    [
      { option: 'Site created', query: { type: 'site.created' }, texts: ['Site created'] },
      { option: 'Device added to a site', query: { type: 'device.placed' }, texts: ['Device added to a site'] },
    ],
    true,
  ),
]

interface Tried {
  askedMs: number
  answeredMs: number
  shownMs: number
  seen: Shift[]
}

interface Shift {
  value: number
  hadRecentInput: boolean
  moved: string[]
}

async function measure(filter: Filter, index: number): Promise<Tried> {
  await page.goto(client.url + filter.path)
  await page.locator('main table.rows tbody tr').nth(1).waitFor()
  // The parts of the page that load after its rows.
  await becomesQuiet()
  const { texts, counted } = await filter.wanted(index)
  const finish = await filter.prepare(index)
  const number = counted.total.toLocaleString('en')
  const total = counted.totalIsExact ? `${number} total` : `More than ${number}`
  const wanted = { texts, total, operation: filter.operation }
  await page.evaluate(`watchFilter(${JSON.stringify(wanted)})`)
  await finish()
  return page.evaluate<Tried>('watched')
}

/** What a page listens to for long never ends, so its network is never idle. */
async function becomesQuiet(): Promise<void> {
  const isLong = (beganAt: number) => performance.now() - beganAt > 2_000
  const isQuiet = () => [...underWay.values()].every(isLong)
  for (let quietMs = 0; quietMs < 500; quietMs = isQuiet() ? quietMs + 50 : 0) await sleep(50)
}

/** A row of the table: one that the filter keeps stands elsewhere among those that it finds. */
const isRow = (what: string) => what.startsWith('TR.')
const median = (values: number[]) => timingOf(values.toSorted((one, other) => one - other)).p50
const sumOf = (shifts: Shift[]) => shifts.reduce((sum, { value }) => sum + value, 0)

tell(`Machine: ${cpus().length} cores (${cpus()[0]?.model.trim()}), browser, service and database on it.`)
tell(`Chromium ${browser.version()}, Bun ${Bun.version}; ${devices} devices, ${sites} sites; ${tries} tries each.\n`)
const rows: string[][] = []
for (const filter of filters) {
  const name = `${filter.list} ${filter.what}`
  if (positionals.length > 0 && !positionals.some((kind) => name.includes(kind))) continue
  const taken: Tried[] = []
  const moved = new Set<string>()
  for (let index = 0; index < tries + unmeasured; index++) {
    const tried = await measure(filter, index)
    if (index < unmeasured) continue
    taken.push(tried)
    for (const shift of tried.seen) for (const what of shift.moved) moved.add(what)
  }
  const times = (['askedMs', 'answeredMs', 'shownMs'] as const).map((at) => median(taken.map((tried) => tried[at])))
  const shown = taken.map(({ shownMs }) => shownMs).sort((one, other) => one - other)
  const p95 = shown[Math.ceil(shown.length * 0.95) - 1] ?? 0
  const most = (counts: (shift: Shift) => boolean) =>
    Math.max(...taken.map(({ seen }) => sumOf(seen.filter(counts)))).toFixed(4)
  const shifts = [
    most(() => true),
    most(({ moved }) => !moved.every(isRow)),
    most(({ hadRecentInput }) => !hadRecentInput),
  ]
  rows.push([filter.list, filter.what, ...[...times, p95].map((ms) => ms.toFixed(0)), ...shifts])
  process.stderr.write(`${rows.at(-1)?.join('  ')}\n`)
  if (values.moved) process.stderr.write([...moved].map((what) => `  ${what}\n`).join(''))
}
tell(
  table(['list', 'filter', 'asked', 'answered', 'shown', 'shown, p95', 'shift', 'but of rows', 'without input'], rows),
)
tell(
  '\nMilliseconds from the last key or click, medians; “typed” has the time in it that a field waits for another key. Shifts are the most of a try.',
)
await browser.close()
await service.stop()

/**
 * Devices and sites whose numbers are in their names; a quarter of the devices is offline, and a tenth faulty. What an
 * operator does is in the audit trail.
 */
async function fill(): Promise<void> {
  const numbers = (count: number, width: number) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(width, '0'))
  for (const some of portions(numbers(devices, 4))) {
    const rows = some.map((number) => {
      const { appId: _, ...device } = deviceBody(appId, { deviceNo: `GATE-${number}`, deviceName: `Barrier ${number}` })
      return device
    })
    await made(client.call('createDevices', { devices: rows }, { token }))
    const reports = rows.map(({ deviceNo }, index) => ({
      ...{ deviceNo, onlineStatus: index % 4 === 0 ? 2 : 1, status: index % 10 === 0 ? 2 : 1, runStatus: index % 3 },
    }))
    await made(client.call('reportDeviceStates', { reports }, { token }))
  }
  const zhejiang = { provinceCode: '330000', provinceName: '浙江省', cityCode: '330100', cityName: '杭州市' }
  const hangzhou = { ...zhejiang, districtCode: '330106', districtName: '西湖区' }
  const parks = numbers(sites, 3).map((number, index) => {
    const { appId: _, ...site } = siteBody(appId, { siteName: `Park ${number}`, ...(index % 2 === 0 ? hangzhou : {}) })
    return site
  })
  await made(client.operate('saveSites', { appId, sites: parks }))
  const { list } = (await client.operate('pageSites', { appId, pageSize: 100 })).data
  const placements = numbers(portion, 4).map((number, index) => ({
    ...{ deviceNo: `GATE-${number}`, siteId: list[index % list.length]?.id, laneType: 1 + (index % 4) },
  }))
  await made(client.operate('savePlacements', { appId, placements }))
}

function portions<Row>(rows: Row[]): Row[][] {
  const starts = Array.from({ length: Math.ceil(rows.length / portion) }, (_, index) => index * portion)
  return starts.map((from) => rows.slice(from, from + portion))
}

/** What a batch answers; throws unless every row was taken. */
async function made<Data extends { results: { code: number }[] }>(
  answered: Promise<{ code: number; text: string; data: Data }>,
): Promise<Data> {
  const answer = await answered
  if (answer.code !== 0 || answer.data.results.some(({ code }) => code !== 0))
    throw new Error(answer.text.slice(0, 500))
  return answer.data
}
