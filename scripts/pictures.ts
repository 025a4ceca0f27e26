import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApplication, pageApplications } from '../src/applications/contract.ts'
import { pageBillingRules, saveBillingRule } from '../src/billing-rules/contract.ts'
import { createDevices } from '../src/devices/contract.ts'
import { savePlacements } from '../src/devices/placement/contract.ts'
import { reportDeviceState } from '../src/devices/state/contract.ts'
import { createSession } from '../src/people/sessions/contract.ts'
import { getOverview } from '../src/service/overview/contract.ts'
import { pageSites, saveSite } from '../src/sites/contract.ts'
import { schedulePriceChange } from '../src/sites/price-changes/contract.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { Client } from '../test/kit/client.ts'
import { embeddedConnection, withSql } from '../test/kit/database.ts'
import { startService } from '../test/kit/service.ts'

// Takes the pictures of the console for the README and for docs/tour.md, on a service with invented sites and devices.
//
//   bun scripts/pictures.ts

const folder = join(import.meta.dirname, '..', 'docs', 'pictures')
const places = [
  {
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '360102',
    districtName: '东湖区',
    lng: 115.9,
    lat: 28.68,
  },
  {
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360400',
    cityName: '九江市',
    districtCode: '360402',
    districtName: '濂溪区',
    lng: 116.0,
    lat: 29.68,
  },
  {
    provinceCode: '330000',
    provinceName: '浙江省',
    cityCode: '330100',
    cityName: '杭州市',
    districtCode: '330106',
    districtName: '西湖区',
    lng: 120.13,
    lat: 30.26,
  },
  {
    provinceCode: '310000',
    provinceName: '上海市',
    cityCode: '310100',
    cityName: '市辖区',
    districtCode: '310115',
    districtName: '浦东新区',
    lng: 121.54,
    lat: 31.22,
  },
]
const kinds = [
  'Riverside charging park',
  'Station square',
  'Science park P2',
  'Old town garage',
  'Airport long stay',
  'University east gate',
]
const gates = ['East gate barrier', 'North gate barrier', 'Lift lobby door', 'Ramp barrier B1', 'Visitor door']

const service = await startService()
const client = new Client(service)

async function made<Data>(answered: Promise<{ code: number; text: string; data: Data }>): Promise<Data> {
  const answer = await answered
  if (answer.code !== 0) throw new Error(answer.text)
  return answer.data
}

/** The same numbers at each run, spread between 0 and 1. */
const spread = (index: number) => (index * 0.618_034) % 1

for (const appName of ['Greenway Mobility', 'Lakeside Parking', '城北停车']) {
  const { appId } = await made(
    client.operate(createApplication, { appName, thirdPartyConfig: { operatorName: `${appName} Ltd` } }),
  )
  const dayAndNight = [
    { startTime: '00:00:00', electricityPrice: '0.4200', servicePrice: '0.3000' },
    { startTime: '07:00:00', electricityPrice: '0.8600', servicePrice: '0.4000' },
    { startTime: '10:00:00', electricityPrice: '1.1200', servicePrice: '0.4500' },
    { startTime: '15:00:00', electricityPrice: '0.8600', servicePrice: '0.4000' },
    { startTime: '18:30:00', electricityPrice: '1.1200', servicePrice: '0.4500' },
    { startTime: '22:00:00', electricityPrice: '0.4200', servicePrice: '0.3000' },
  ]
  const fast = await made(
    client.operate(saveBillingRule, { appId, ruleName: 'Fast, peak and valley', ruleType: 1, periods: dayAndNight }),
  )
  await made(
    client.operate(saveBillingRule, {
      ...{ appId, ruleName: 'Occupancy after charging', ruleType: 3 },
      ...{ freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00', dailyCap: '40.00' },
    }),
  )
  for (let index = 0; index < 36; index++) {
    const { lng, lat, ...place } = places[index % places.length] as (typeof places)[number]
    const at = `${(lng + (spread(index) - 0.5) * 0.9).toFixed(6)},${(lat + (spread(index * 7) - 0.5) * 0.7).toFixed(6)}`
    await made(
      client.operate(saveSite, {
        ...{ appId, siteName: `${kinds[index % kinds.length]} ${index + 1}`, contacts: 'Wang Fang', ...place },
        ...{ contactsPhone: '13800000000', customerServicePhone: '4000000000', businessWeekDay: 'Monday to Sunday' },
        ...{ businessStartTime: '00:00:00', businessClosingTime: '24:00:00', coordinates: at },
        fastChargeBillRuleId: fast.id,
      }),
    )
  }
  const devices = Array.from({ length: 48 }, (_, index) => ({
    deviceNo: `${appName.slice(0, 2).toUpperCase()}-${String(10_000 + index * 37)}`,
    deviceName: `${gates[index % gates.length]} ${index + 1}`,
    districtCode: places[index % places.length]?.districtCode,
    coordinates: '115.899918,28.676493',
  }))
  await made(client.operate(createDevices, { appId, devices }))
  for (const [index, { deviceNo }] of devices.entries()) {
    if (index % 5 === 4) continue
    const isFaulty = index % 17 === 3
    await made(
      client.operate(reportDeviceState, {
        ...{ appId, deviceNo, onlineStatus: 1, status: isFaulty ? 2 : 1, runStatus: index % 3 },
        ...{ version: '2.4.1', batteryStatus: 1, batteryEnergy: `${40 + (index % 60)}%` },
        ...(isFaulty ? { statusRemark: 'arm motor overload' } : {}),
      }),
    )
  }
}

// A day's traffic, so that the chart has something to show: the first count has been made, and later ones keep its
// samples.
await client.operate(getOverview, {})
await withSql(embeddedConnection(service.dataDir), async (sql) => {
  await sql`
    insert into minute_figures (minute, creates, site_creates, refusals)
    select minute, 3 + (40 + 35 * sin((extract(hour from minute) - 1) / 24 * 6.28) + 12 * random())::int,
      (3 * random() ^ 8)::int, (6 * random() ^ 4)::int
    from generate_series(date_trunc('minute', now()) - interval '24 hours', now() - interval '2 minutes', '1 minute') as minute
    on conflict do nothing`
  await sql`
    update platform_count set counts = jsonb_set(counts::jsonb, '{online}', (
      select jsonb_agg(jsonb_build_array(at, (112 + 4 * sin(at / 9000.0) + 2 * random())::int) order by at)
      from generate_series((extract(epoch from now())::bigint / 300 - 287) * 300, extract(epoch from now())::bigint, 300) as at))`
})

const browser = await launchChromium()
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  locale: 'en-GB',
  reducedMotion: 'reduce',
})
const signedIn = await client.call(createSession, { operatorKey: client.operatorKey })
const [name = '', value = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? []
await context.addCookies([{ name, value, url: client.url }])
const page = await context.newPage()
mkdirSync(folder, { recursive: true })

async function take(path: string, file: string, ready: () => Promise<unknown>): Promise<void> {
  await page.goto(client.url + path)
  await ready()
  // A browser without a window draws a frame only when a picture is taken, and a map needs several frames.
  for (let frame = 0; frame < 5; frame++) {
    await page.screenshot({ path: join(folder, `${file}.png`) })
    await page.waitForTimeout(600)
  }
}

await take('/console', 'overview', () =>
  page.getByRole('figure', { name: /^Last 24 hours/ }).waitFor({ timeout: 30_000 }),
)
const first = await made(client.operate(pageApplications, { appName: 'Greenway' }))
const appId = first.list[0]?.appId ?? ''
await take(`/console/sites?appId=${appId}&view=map`, 'sites', () => page.getByText('36 sites on the map.').waitFor())
const sites = await made(client.operate(pageSites, { appId }))
const siteId = sites.list[0]?.id ?? ''
const placements = [0, 1, 2, 3].map((index) => ({
  deviceNo: `GR-${10_000 + index * 37}`,
  siteId,
  laneType: [1, 2, 3, 4][index],
  laneName: ['East in', 'East out', 'Ramp', 'Lobby'][index],
}))
await made(client.operate(savePlacements, { appId, placements }))
await take(`/console/sites/${appId}/${siteId}`, 'site', () => page.getByText('East out').first().waitFor())
await take(`/console/devices?appId=${appId}`, 'devices', () => page.getByText('East gate barrier').first().waitFor())
const rules = await made(client.operate(pageBillingRules, { appId, ruleType: 1 }))
const rule = rules.list[0]
const nextPeriods = rule?.periods?.map((period) => ({ ...period, servicePrice: '0.5000' }))
const effectiveTime = new Date(Date.now() + 6 * 86_400_000).toISOString().replace(/\.\d+/, '')
await made(
  client.operate(schedulePriceChange, {
    ...{ appId, billingRuleId: rule?.id, periods: nextPeriods, effectiveTime, reason: 'Prices of the winter' },
  }),
)
await take(`/console/billing-rules/${appId}/${rule?.id}`, 'billing-rule', () =>
  page.getByText('Prices of the winter').first().waitFor(),
)
await take('/console/service', 'service', () => page.getByRole('heading', { name: 'Service' }).waitFor())
await take('/console/sites', 'search', async () => {
  await page.getByText('Riverside charging park').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('gate')
  await page.getByText('University east gate').first().waitFor()
  await page.getByRole('dialog').getByText('Greenway Mobility').first().waitFor()
})
await browser.close()
await service.stop()
