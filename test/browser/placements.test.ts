import { expect } from 'bun:test'
import { savePlacements } from '../../src/devices/placement/contract.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { Hand, shows } from './hand.ts'
import { newDevice, newSite } from './records.ts'
import { browserTest, client, expectSound, longBrowserTest, visit } from './support.ts'

const coordinates = '115.899918,28.676493'
const newGate = async (app: TestApplication) => (await newDevice(app, { coordinates })).deviceNo

browserTest('devices nearby and pasted serials are placed on the page of a site, in order of lanes', async () => {
  const app = await newApplication(client, { appName: newSerial('Placed') })
  const site = await newSite(app, { coordinates })
  const [near, pasted] = [await newGate(app), await newGate(app)]
  await client.call('reportDeviceState', { deviceNo: near, runStatus: 1 }, { token: app.token })
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
  await page.getByText('No devices at this site yet.').waitFor()
  await page.getByRole('button', { name: 'Add devices' }).click()
  const drawer = page.getByRole('dialog', { name: 'Add devices' })
  await drawer.getByRole('checkbox', { name: near }).check()
  await drawer.getByLabel('Serial numbers').fill(`${pasted}, no-such-serial`)
  await drawer.getByText('3 selected').waitFor()
  await drawer.getByRole('button', { name: 'Add', exact: true }).click()
  await shows(drawer, '2 of 3 added.', '20002')
  await drawer.getByRole('button', { name: 'Close' }).last().click()

  // An exit comes behind the entrance.
  const gates = page.getByRole('table', { name: 'Devices' }).or(page.getByLabel('Devices').getByRole('table')).first()
  await gates.getByRole('row').nth(2).waitFor()
  await page.getByRole('button', { name: `Change site or lane of ${near}` }).click()
  const dialog = page.getByRole('dialog')
  await new Hand(page).choose(dialog.getByRole('combobox', { name: 'Lane type' }), 'Exit')
  await dialog.getByLabel('Lane name').fill('North gate')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await gates.getByText('North gate').waitFor()
  await gates.getByText(near, { exact: true }).waitFor()
  await expectSound(page, site.siteName)
  const placed = await client.operate('getPlacement', { appId: app.appId, deviceNo: near })
  expect(placed.data).toMatchObject({ siteId: site.id, laneType: 2, laneName: 'North gate' })

  await page.getByRole('button', { name: `Remove ${pasted} from the site` }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('Broken')
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await gates.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await page.getByText('Previous devices').click()
  await page.getByText('Broken').waitFor()
})

longBrowserTest('devices whose response was lost are added again after a change', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const deviceNo = await newGate(app)
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator', isCutOff: true })
  let isLost = true
  await page.route(`**${savePlacements.path}`, async (route) => {
    if (!isLost) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Add devices' }).click()
  const drawer = page.getByRole('dialog', { name: 'Add devices' })
  await drawer.getByLabel('Serial numbers').fill(deviceNo)
  await drawer.getByRole('button', { name: 'Add', exact: true }).click()
  await drawer.getByRole('alert').first().waitFor()
  isLost = false
  await new Hand(page).choose(drawer.getByRole('combobox', { name: 'Lane type' }), 'Exit')
  await drawer.getByRole('button', { name: 'Add', exact: true }).click()
  await shows(drawer, '1 of 1 added.')
  const placed = await client.operate('getPlacement', { appId: app.appId, deviceNo })
  expect(placed.data).toMatchObject({ siteId: site.id, laneType: 2 })
})

longBrowserTest('the page of a device shows its site, and what is nearby while it stands nowhere', async () => {
  const app = await newApplication(client, { appName: newSerial('Standing') })
  const site = await newSite(app, { siteName: newSerial('Park'), contacts: 'Zhang Wei', coordinates })
  const deviceNo = await newGate(app)
  const { page } = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'operator' })
  await page.getByText('This device has no site.').waitFor()
  await page.getByRole('button', { name: 'Add to this site' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('Zhang Wei').waitFor()
  await page.getByRole('link', { name: site.siteName }).first().waitFor()
  await page.getByLabel('Map of the device and its site').first().waitFor()
  // The ring is the device itself.
  await page.locator('.map-ring span').waitFor()
  await expectSound(page, 'East gate barrier')
})

longBrowserTest('lists show the site of each device, and how many devices of each site are online', async () => {
  const app = await newApplication(client, { appName: newSerial('Lists') })
  const site = await newSite(app, { siteName: newSerial('Park') })
  const [there, elsewhere] = [await newGate(app), await newGate(app)]
  await client.call('savePlacement', { deviceNo: there, siteId: site.id, laneType: 1 }, { token: app.token })
  const viewport = { width: 1680, height: 900 }
  const { page } = await visit(`/console/sites?appId=${app.appId}`, { role: 'viewer', viewport })
  // Nobody gets in while the only entrance is offline.
  await page.getByText('0 of 1 online').waitFor()
  expect(await page.locator('.state-bad').getByText('0 of 1 online').count()).toBe(1)
  await page.getByRole('link', { name: '0 of 1 online' }).click()
  await page.getByText('1 total').waitFor()
  await page.getByRole('cell', { name: there, exact: true }).waitFor()
  await page.getByRole('link', { name: site.siteName }).waitFor()
  expect(await page.getByText(elsewhere).count()).toBe(0)
  await expectSound(page, 'Devices')
})
