import { describe, expect } from 'bun:test'
import { createAct } from '../../src/bulk/acts/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { getPlacement, savePlacement } from '../../src/devices/placement/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication } from '../harness.ts'
import { Hand } from './hand.ts'
import { newSite } from './site-support.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSound,
  leadTo,
  longBrowserTest,
  narrow,
  newSerial,
  picture,
  visit,
} from './support.ts'

const coordinates = '115.899918,28.676493'

async function newDevice(app: { appId: string; token: string }, deviceNo = newSerial('Gate')): Promise<string> {
  await client.call(createDevice, deviceBody(app.appId, { deviceNo, coordinates }), { token: app.token })
  return deviceNo
}

describe('which devices stand at which site', () => {
  browserTest('devices nearby and pasted serials are placed on the page of a site, in order of lanes', async () => {
    const app = await newApplication(client, { appName: newSerial('Placed') })
    const site = await newSite(app, { coordinates })
    const [near, pasted] = [await newDevice(app), await newDevice(app)]
    await client.call(reportDeviceState, { deviceNo: near, runStatus: 1 }, { token: app.token })
    const visited = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
    const { page } = visited
    await page.getByText('No devices at this site yet.').waitFor()
    await page.getByRole('button', { name: 'Add devices' }).click()
    const drawer = page.getByRole('dialog', { name: 'Add devices' })
    await drawer.getByRole('checkbox', { name: near }).check()
    await drawer.getByLabel('Serial numbers').fill(`${pasted}, no-such-serial`)
    await drawer.getByText('3 selected').waitFor()
    await picture(page, 'place-devices')
    await drawer.getByRole('button', { name: 'Add', exact: true }).click()
    await drawer.getByText('2 of 3 added.').waitFor()
    await drawer.getByText('20002').waitFor()
    await drawer.getByRole('button', { name: 'Close' }).last().click()

    // An exit comes behind the entrance.
    const gates = page.getByRole('table', { name: 'Devices' }).or(page.getByLabel('Devices').getByRole('table')).first()
    await gates.getByRole('row').nth(2).waitFor()
    await page.getByRole('button', { name: `Change site or lane of ${near}` }).click()
    const dialog = page.getByRole('dialog')
    await new Hand(page).choose(dialog.getByRole('combobox', { name: 'Lane type' }), 'Exit')
    await dialog.getByLabel('Lane name').fill('North gate')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await gates.getByText('North gate').waitFor()
    await gates.getByText(near, { exact: true }).waitFor()
    await expectSound(visited, site.siteName)
    await picture(page, 'site-gates')
    const placed = await client.operate(getPlacement, { appId: app.appId, deviceNo: near })
    expect(placed.data).toMatchObject({ siteId: site.id, laneType: 2, laneName: 'North gate' })

    await page.getByRole('button', { name: `Remove ${pasted} from the site` }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('Broken')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await gates.getByRole('row').nth(2).waitFor({ state: 'detached' })
    await page.getByText('Previous devices').click()
    await page.getByText('Broken').waitFor()
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('the page of a device shows its site, and what is nearby while it stands nowhere', async () => {
    const app = await newApplication(client, { appName: newSerial('Standing') })
    const site = await newSite(app, { siteName: newSerial('Park'), contacts: 'Zhang Wei', coordinates })
    const deviceNo = await newDevice(app)
    const visited = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'operator' })
    const { page } = visited
    await page.getByText('This device has no site.').waitFor()
    await page.getByRole('button', { name: 'Add to this site' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Zhang Wei').waitFor()
    await page.getByRole('link', { name: site.siteName }).first().waitFor()
    await page
      .getByRole('region', { name: 'Map of the device and its site' })
      .or(page.getByLabel('Map of the device and its site'))
      .first()
      .waitFor()
    // The ring is the device itself.
    await page.locator('.map-ring span').waitFor()
    await expectSound(visited, 'East gate barrier')
    await picture(page, 'device-site')
    expect(visited.faults).toEqual([])
  })

  browserTest('lists show the site of each device, and how many devices of each site are online', async () => {
    const app = await newApplication(client, { appName: newSerial('Lists') })
    const site = await newSite(app, { siteName: newSerial('Park') })
    const [there, elsewhere] = [await newDevice(app), await newDevice(app)]
    const body = { deviceNo: there, siteId: site.id, laneType: 1 }
    await client.call(savePlacement, body, { token: app.token })
    const visited = await visit(`/console/sites?appId=${app.appId}`, {
      role: 'viewer',
      viewport: { width: 1680, height: 900 },
    })
    const { page } = visited
    // Nobody gets in while the only entrance is offline.
    await page.getByText('0 of 1 online').waitFor()
    expect(await page.locator('.state-bad').getByText('0 of 1 online').count()).toBe(1)
    await page.getByRole('link', { name: '0 of 1 online' }).click()
    await page.getByText('1 total').waitFor()
    await page.getByRole('cell', { name: there, exact: true }).waitFor()
    await page.getByRole('link', { name: site.siteName }).waitFor()
    expect(await page.getByText(elsewhere).count()).toBe(0)
    await expectSound(visited, 'Devices')
    await picture(page, 'devices-of-site')
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('sites, devices and acts fit a phone, in Chinese', async () => {
    const app = await newApplication(client, { appName: newSerial('Phone') })
    const site = await newSite(app, { siteName: newSerial('Park'), coordinates })
    const deviceNo = await newDevice(app)
    const { headers } = await visit('/console/account', { role: 'operator', viewport: narrow })
    // The person's name is long, and it is in the events.
    const body = { appId: app.appId, deviceNo, siteId: site.id, laneType: 1, laneName: '北门入口一号通道' }
    await client.call(savePlacement, body, { headers })
    const act = {
      appId: app.appId,
      kind: 'devices',
      act: 'update',
      filter: { deviceNo },
      set: { tag: 'lane=2' },
    } as const
    const { data: begun } = await client.call(createAct, act, { headers })
    const chinese = { role: 'operator', language: 'zh', viewport: narrow } as const
    const visited = await visit(`/console/devices/${app.appId}/${deviceNo}`, chinese)
    const { page } = visited
    await page.getByRole('link', { name: site.siteName }).first().waitFor()
    await page.getByText('设备已放置').or(page.getByText('北门入口一号通道')).first().waitFor()
    await expectFramed(visited, 'East gate barrier')
    await picture(page, 'device-phone')
    await leadTo(page, `/console/sites/${app.appId}/${site.id}`)
    await page.getByText('北门入口一号通道').first().waitFor()
    await expectFramed(visited, site.siteName)
    await page.getByText('设备').filter({ visible: true }).first().scrollIntoViewIfNeeded()
    await picture(page, 'site-gates-phone')
    await leadTo(page, `/console/acts?appId=${app.appId}`)
    await page.getByRole('link', { name: `操作 ${begun.id}：修改设备` }).waitFor()
    await expectFramed(visited, '批量操作')
    await picture(page, 'acts-phone')
    await leadTo(page, `/console/acts/${begun.id}`)
    await page.getByText(deviceNo).first().waitFor()
    await expectFramed(visited, `操作 ${begun.id}：修改设备`)
    await picture(page, 'act-phone')
    await leadTo(page, `/console/devices?deviceNo=${deviceNo}`)
    const card = page.getByRole('row').filter({ hasText: deviceNo })
    await card.getByRole('link', { name: 'East gate barrier' }).waitFor()
    expect((await card.boundingBox())?.height).toBeLessThanOrEqual(96)
    // The buttons stand in one row.
    const tops = await page
      .locator('.page-actions > *')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    expect(new Set(tops).size).toBe(1)
    await expectFramed(visited, '设备')
    await picture(page, 'devices-phone')
    await leadTo(page, `/console/devices?appId=${app.appId}`)
    await page.getByRole('button', { name: '符合条件的 1 条…' }).click()
    await page.getByRole('dialog').getByText('转移设备').waitFor()
    await expectFramed(visited, '设备')
    await picture(page, 'act-dialog-phone')
    expect(visited.faults).toEqual([])
  })
})
