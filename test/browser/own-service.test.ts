import { afterAll, describe, expect } from 'bun:test'
import { join } from 'node:path'
import { accessLost, attemptsFailed, type ToldFailure } from '../../src/bulk/jobs/failure/rules.ts'
import { failuresUntilHeld } from '../../src/deliveries/rules.ts'
import { Client } from '../kit/client.ts'
import { embeddedConnection, withSql } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { newPassword } from '../kit/people.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import { type Service, startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { expectFramed, leadTo, longBrowserTest, newSerial, visit } from './support.ts'

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

describe('a service of its own', () => {
  longBrowserTest(
    'counts anew at the first look after a pause, and leads to the sites that have no device',
    async () => {
      const service = await startOwn({})
      const through = new Client(service)
      const visited = await visit('/console', { role: 'viewer', through })
      const { page } = visited
      const figure = (name: string) => page.getByTestId(`figure-${name}`)
      await figure('Sites').getByText('0', { exact: true }).waitFor()
      await leadTo(page, '/console/account')
      const { appId, token } = await newApplication(through)
      const sites = Array.from({ length: 40 }, (_none, index) => {
        const { appId: _, ...site } = siteBody(appId, { siteName: `Park ${index}` })
        return site
      })
      expect((await through.call('saveSites', { sites }, { token })).code).toBe(0)
      // As after a pause of two minutes.
      await withSql(
        embeddedConnection(service.dataDir),
        (sql) => sql`update platform_count set counted_at = counted_at - interval '2 minutes'`,
      )
      await page.goto(`${service.url}/console`)
      // The first numbers that are shown are the new ones.
      await figure('Sites').getByText(/^\d/).first().waitFor()
      expect(await figure('Sites').innerText()).toContain('40')
      await page.getByRole('link', { name: '40' }).first().click()
      await page.getByText('40 total').waitFor()
      expect(new URL(page.url()).searchParams.get('hasDevices')).toBe('false')
      expect(visited.faults).toEqual([])
    },
  )

  longBrowserTest('tells why deliveries, imports and acts fail in the language of the reader', async () => {
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
    const { page, faults } = await visit('/console', { role: 'viewer', language: 'zh', through })
    const troubles = page.locator('#troubles')
    await troubles
      .getByText(/^自 [-\d]+ [:\d]+ 起每次投递都失败：连接被拒绝（ECONNREFUSED）$/)
      .waitFor({ timeout: 20_000 })
    await troubles.getByText(/在第 12 行停止：发起者不能再继续，应用已被冻结/).waitFor()
    await leadTo(page, `/console/imports/${lost}`)
    await page.getByText(/在第 12 行停止：.*应用已被冻结（10005）/).waitFor()
    await leadTo(page, `/console/acts/${failed}`)
    await page.getByText(/在 SN-7 处停止：连续 \d+ 次尝试失败（PostgresError）/).waitFor()
    await page.getByText('序列号 = SN，在线状态 = 离线').waitFor()
    await leadTo(page, `/console/deliveries?appId=${appId}`)
    await page.getByRole('cell', { name: '连接被拒绝（ECONNREFUSED）' }).first().waitFor()
    await page
      .getByRole('button', { name: /的详情$/ })
      .first()
      .click()
    await page.getByRole('dialog').getByText('连接被拒绝（ECONNREFUSED）').first().waitFor()
    for (const english of ['the connection failed', 'The import stopped', 'The act stopped']) {
      expect(await page.getByText(english).count()).toBe(0)
    }
    expect(faults).toEqual([])
  })

  longBrowserTest(
    'that wants serials in its inventory says so, and explains the refusal of one that is not',
    async () => {
      const through = new Client(await startOfOtherSettings())
      const { appId } = await newApplication(through)
      const { page, faults } = await visit(`/console/devices/new?appId=${appId}`, { role: 'operator', through })
      const deviceNo = newSerial()
      await page.getByLabel('Serial number').fill(deviceNo)
      await page.getByLabel('Name', { exact: true }).fill('South gate')
      await page.getByLabel('Coordinates').fill('115.899918,28.676493')
      await page.getByLabel('District code').fill('360102')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('alert').getByText('Error 20014').waitFor()
      expect(await page.getByLabel('Serial number').inputValue()).toBe(deviceNo)
      expect((await through.operate('getDevice', { appId, deviceNo })).code).toBe(20002)
      await leadTo(page, '/console/models?tab=inventory')
      await page.getByText('Others are refused with error 20014').waitFor()
      expect(faults).toEqual([])
    },
  )

  longBrowserTest('draws the base map that it is set to, from there and from nowhere else', async () => {
    const through = new Client(await startOfOtherSettings())
    const app = await newApplication(through)
    await through.call('saveSite', siteBody(app.appId, { coordinates: '115.899918,28.676493' }), { token: app.token })
    const visited = await visit(`/console/sites?appId=${app.appId}&view=map`, { role: 'viewer', through })
    await visited.page.locator('.map-point span').waitFor()
    const until = Date.now() + 20_000
    while (tilesAsked.length === 0 && Date.now() < until) await Bun.sleep(50)
    expect(tilesAsked.length).toBeGreaterThan(0)
    for (const path of tilesAsked) expect(path).toMatch(/^\/base\/\d+\/\d+\/\d+\.png$/)
    expect(await visited.page.locator('.map-name').count()).toBe(0)
    await expectFramed(visited, 'Sites')
  })

  longBrowserTest('keeps its only admin, who set the account up by the link of the first start', async () => {
    const service = await startOwn({ FORECOURT_OPERATOR_KEY: '' })
    const link = /(\/console\/set-up#\S+)/.exec(service.stdout())?.[1] ?? ''
    const { page, faults } = await visit(link, { through: new Client(service) })
    const [name, password] = [newSerial('only'), newPassword()]
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('Repeat password').fill(password)
    await page.getByRole('button', { name: 'Set up and sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await leadTo(page, '/console/people')
    await page.getByRole('button', { name: `Edit ${name}` }).click()
    const form = page.getByRole('dialog')
    await form.getByText('Disabled', { exact: true }).click()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Error 10054').waitFor()
    await form.getByText('Create another admin first, then try again.').waitFor()
    // The person is still an admin and still signed in.
    await page.goto(`${service.url}/console/people`)
    await page.getByRole('row').filter({ hasText: name }).getByText('Active').waitFor()
    expect(faults).toEqual([])
  })
})
