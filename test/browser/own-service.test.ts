import { afterAll, expect } from 'bun:test'
import { join } from 'node:path'
import { accessLost, attemptsFailed, type ToldFailure } from '../../src/bulk/jobs/failure/rules.ts'
import { failuresUntilHeld } from '../../src/deliveries/rules.ts'
import { Client } from '../kit/client.ts'
import { embeddedConnection, withSql } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { newPassword } from '../kit/people.ts'
import { newApplication, newSerial, siteBody } from '../kit/records.ts'
import { type Service, startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { fillIn, setUp, shows } from './hand.ts'
import { expectFramed, leadTo, longBrowserTest, visit } from './support.ts'

// Tests that the shared service cannot run: they need other settings, or a single admin.

const tilesAsked: string[] = []
const tile = await Bun.file(join(projectFolder, 'docs', 'pictures', 'overview.png')).bytes()
const tiles = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    tilesAsked.push(new URL(request.url).pathname)
    return new Response(tile, { headers: { 'content-type': 'image/png', 'access-control-allow-origin': '*' } })
  },
})

const services: Service[] = []
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await tiles.stop(true)
})

/** A service with the inventory policy `required` and a base map. */
let ofOtherSettings: Promise<Service> | undefined
function startOfOtherSettings(): Promise<Service> {
  ofOtherSettings ??= startOwn({
    FORECOURT_INVENTORY_POLICY: 'required',
    FORECOURT_MAP_TILES: `http://127.0.0.1:${tiles.port}/base/{z}/{x}/{y}.png`,
  })
  return ofOtherSettings
}

async function startOwn(env: Record<string, string>): Promise<Service> {
  const service = await startService({ env })
  services.push(service)
  return service
}

/** Waits until callbacks fail: the overview counts at the first look, and not again for a while. */
async function callbacksFail({ dataDir }: Service): Promise<void> {
  await withSql(embeddedConnection(dataDir), async (sql) => {
    const areFailing = async () =>
      (await sql`select 1 from callback_endpoint where failures >= ${failuresUntilHeld}`).length > 0
    expect(await becomesTrue(areFailing, 20_000)).toBe(true)
  })
}

longBrowserTest('the overview counts anew after a pause, and leads to the sites without a device', async () => {
  const service = await startOwn({})
  const through = new Client(service)
  const { page } = await visit('/console', { role: 'viewer', through })
  const figure = (name: string) => page.getByTestId(`figure-${name}`)
  await figure('Sites').getByText('0', { exact: true }).waitFor()
  await leadTo(page, '/console/account')
  const { appId, token } = await newApplication(through)
  for (let count = 0; count < 3; count++) await through.call('saveSite', siteBody(appId), { token })
  // As after a pause of two minutes.
  await withSql(
    embeddedConnection(service.dataDir),
    (sql) => sql`update platform_count set counted_at = counted_at - interval '2 minutes'`,
  )
  await page.goto(`${service.url}/console`)
  // The first numbers that are shown are the new ones.
  await figure('Sites').getByText(/^\d/).first().waitFor()
  expect(await figure('Sites').innerText()).toContain('3')
  await page.getByRole('link', { name: '3 without devices' }).click()
  await page.getByText('3 total').waitFor()
  expect(new URL(page.url()).searchParams.get('hasDevices')).toBe('false')
})

longBrowserTest('why deliveries, imports and acts fail is told in the language of the reader', async () => {
  const service = await startOwn({ FORECOURT_PRIVATE_CALLBACKS: 'allow' })
  const through = new Client(service)
  // No process listens on this port.
  const thirdPartyConfig = { operatorName: 'Operator', callbackUrl: 'http://127.0.0.1:1/callback' }
  const { appId, token } = await newApplication(through, { thirdPartyConfig })
  await through.call('saveSite', siteBody(appId), { token })
  const [lost, failed] = await withSql(embeddedConnection(service.dataDir), async (sql) => {
    const job = (act: string | null, { words, failure }: ToldFailure) => sql<{ id: number }[]>`
      insert into import (app_id, kind, format, act, filter, is_dry_run, status, actor, finished_at, error, failure)
      values (${appId}, 'devices', ${act === null ? 'csv' : null}, ${act}, '{"deviceNo":"SN","onlineStatus":2}', false, 4, 'operator:x#1', now(), ${words}, ${JSON.stringify(failure)})
      returning id`
    const [[importing], [acting]] = [
      await job(null, accessLost({ noun: 'import', id: 1, place: '12' }, 'applicationFrozen')),
      await job('unbind', attemptsFailed({ noun: 'act', id: 2, place: 'SN-7' }, { name: 'PostgresError' })),
    ]
    return [importing?.id, acting?.id]
  })
  await callbacksFail(service)
  const { page } = await visit('/console', { role: 'viewer', language: 'zh', through })
  const troubles = page.locator('#troubles')
  await shows(troubles, /^自 [-\d]+ [:\d]+ 起每次投递都失败：连接被拒绝（ECONNREFUSED）$/)
  await shows(troubles, /在第 12 行停止：发起者不能再继续，应用已被冻结/)
  await leadTo(page, `/console/imports/${lost}`)
  await page.getByText(/在第 12 行停止：.*应用已被冻结（10005）/).waitFor()
  await leadTo(page, `/console/acts/${failed}`)
  await shows(page, /在 SN-7 处停止：连续 \d+ 次尝试失败（PostgresError）/, '序列号 = SN，在线状态 = 离线')
  await leadTo(page, `/console/deliveries?appId=${appId}`)
  await page.getByRole('cell', { name: '连接被拒绝（ECONNREFUSED）' }).first().waitFor()
  const details = page.getByRole('button', { name: /的详情$/ })
  await details.first().click()
  await page.getByRole('dialog').getByText('连接被拒绝（ECONNREFUSED）').first().waitFor()
  for (const english of ['the connection failed', 'The import stopped', 'The act stopped']) {
    expect(await page.getByText(english).count()).toBe(0)
  }
})

longBrowserTest('a service that wants serials in its inventory says so, and why it refuses another', async () => {
  const through = new Client(await startOfOtherSettings())
  const { appId } = await newApplication(through)
  const { page } = await visit(`/console/devices/new?appId=${appId}`, { role: 'operator', through })
  const deviceNo = newSerial()
  const place = { Coordinates: '115.899918,28.676493', 'District code': '360102' }
  await fillIn(page, { 'Serial number': deviceNo, Name: 'South gate', ...place })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('alert').getByText('Error 20014').waitFor()
  expect(await page.getByLabel('Serial number').inputValue()).toBe(deviceNo)
  expect((await through.operate('getDevice', { appId, deviceNo })).code).toBe(20002)
  await leadTo(page, '/console/models?tab=inventory')
  await page.getByText('Others are refused with error 20014').waitFor()
})

longBrowserTest('the base map is the one that is set, from there and from nowhere else', async () => {
  const through = new Client(await startOfOtherSettings())
  const app = await newApplication(through)
  await through.call('saveSite', siteBody(app.appId, { coordinates: '115.899918,28.676493' }), { token: app.token })
  const { page } = await visit(`/console/sites?appId=${app.appId}&view=map`, { role: 'viewer', through })
  await page.locator('.map-point span').waitFor()
  expect(await becomesTrue(() => tilesAsked.length > 0, 20_000)).toBe(true)
  for (const path of tilesAsked) expect(path).toMatch(/^\/base\/\d+\/\d+\/\d+\.png$/)
  expect(await page.locator('.map-name').count()).toBe(0)
  await expectFramed(page, 'Sites')
})

longBrowserTest('the only admin, who was set up by the link of the first start, is kept', async () => {
  const service = await startOwn({ FORECOURT_OPERATOR_KEY: '' })
  const link = /(\/console\/set-up#\S+)/.exec(service.stdout())?.[1] ?? ''
  const { page } = await visit(link, { through: new Client(service) })
  const [name, password] = [newSerial('only'), newPassword()]
  await page.getByLabel('Name').fill(name)
  await setUp(page, password)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await leadTo(page, '/console/people')
  await page.getByRole('button', { name: `Edit ${name}` }).click()
  const form = page.getByRole('dialog')
  await form.getByText('Disabled', { exact: true }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  await shows(form, 'Error 10054', 'Create another admin first, then try again.')
  // The person is still an admin and still signed in.
  await page.goto(`${service.url}/console/people`)
  await page.getByRole('row').filter({ hasText: name }).getByText('Active').waitFor()
})
