import { expect } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { Hand } from './hand.ts'
import { newDevices, newRule, newSite } from './records.ts'
import { browserTest, client, expectSound, longBrowserTest, narrow, visit } from './support.ts'

longBrowserTest('2,000 devices are moved in 12 clicks and inputs, counted before, and it is told', async () => {
  const name = newSerial('Moving')
  const app = await newApplication(client, { appName: `${name} from` })
  const target = await newApplication(client, { appName: `${name} to` })
  await newDevices(app, 2_000)
  const { page } = await visit('/console/account', { role: 'operator' })
  const hand = new Hand(page)
  await hand.go('Devices')
  await hand.find(page.getByRole('combobox', { name: 'Application' }), `${name} from`)
  await hand.press('Bulk action on all 2,000…')
  const dialog = page.getByRole('dialog', { name: 'All matching devices' })
  await hand.click(dialog.getByRole('radio', { name: 'Transfer devices' }))
  await hand.find(dialog.getByRole('combobox', { name: 'Application' }), `${name} to`)
  expect(await dialog.getByRole('button', { name: 'Count matches' }).isDisabled()).toBe(true)
  await hand.type(dialog.getByLabel('Reason'), 'One landlord')
  // From where to where, and which.
  await dialog.getByText('all', { exact: true }).waitFor()
  await dialog.getByText(`${name} from`, { exact: true }).waitFor()
  await dialog.locator('.facts').getByText(`${name} to`, { exact: true }).waitFor()
  await hand.press('Count matches', dialog)
  await dialog.getByText('2,000 match now.').waitFor()
  await expectSound(page, 'Devices')
  await hand.press('Apply to 2,000', dialog)
  // Jobs of other tests on the same service go first.
  await dialog.getByText('2,000 of 2,000').waitFor({ timeout: 60_000 })
  await page.getByText('No devices yet.').or(page.getByText('No results match these filters.')).waitFor()
  await hand.click(dialog.getByRole('button', { name: 'Close' }).last())
  expect(hand.clicks + hand.fields).toBeLessThanOrEqual(12)
  const left = await client.operate('pageDevices', { appId: app.appId })
  const moved = await client.operate('pageDevices', { appId: target.appId })
  expect([left.data.total, moved.data.total]).toEqual([0, 2_000])

  // The count was a dry run, of which nothing is kept.
  const { data: acts } = await client.operate('pageActs', { appId: app.appId })
  expect(acts.list.map(({ dryRun, done }) => [dryRun, done])).toEqual([[false, 2_000]])
  await page.goto(`${client.url}/console/acts?appId=${app.appId}`)
  await page.getByRole('link', { name: 'Transfer devices' }).first().click()
  await page.getByText('One landlord').waitFor()
  await expectSound(page, `Bulk action ${acts.list[0]?.id}: Transfer devices`)
})

longBrowserTest('with another number than was counted nothing is done, and the refusal says so', async () => {
  const app = await newApplication(client, { appName: newSerial('Counted') })
  await newDevices(app, 3)
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
  await page.getByRole('button', { name: 'Bulk action on all 3…' }).click()
  const dialog = page.getByRole('dialog', { name: 'All matching devices' })
  await dialog.getByRole('radio', { name: 'Unbind devices', exact: true }).click()
  await dialog.getByRole('button', { name: 'Count matches' }).click()
  await dialog.getByText('3 match now.').waitFor()
  await newDevices(app, 1)
  await dialog.getByRole('button', { name: 'Apply to 3' }).click()
  await dialog.getByText('70004').waitFor()
  expect((await client.operate('pageDevices', { appId: app.appId })).data.total).toBe(4)
  // The rows must be counted again before the act can be sent again.
  expect(await dialog.getByRole('button', { name: /^Apply to/ }).count()).toBe(0)
})

longBrowserTest('sites of a city get another billing rule', async () => {
  const app = await newApplication(client, { appName: newSerial('Priced') })
  const rule = await newRule(app, 1, newSerial('Night'))
  for (const siteName of ['One', 'Two']) await newSite(app, { siteName })
  const { page } = await visit(`/console/sites?appId=${app.appId}`, { role: 'operator', viewport: narrow })
  await page.getByRole('button', { name: 'Bulk action on all 2…' }).click()
  const dialog = page.getByRole('dialog', { name: 'All matching sites' })
  await new Hand(page).find(dialog.getByRole('combobox', { name: 'Fast charging rule' }), 'Night')
  await dialog.getByRole('button', { name: 'Count matches' }).click()
  await dialog.getByText('2 match now.').waitFor()
  await dialog.getByRole('button', { name: 'Apply to 2' }).press('Enter')
  await dialog.getByText('2 of 2').waitFor()
  // The button that had the focus is gone; Enter and Escape go on in the dialog.
  expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  const sites = (await client.operate('pageSites', { appId: app.appId })).data.list
  expect(sites.map(({ fastChargeBillRuleId }) => fastChargeBillRuleId)).toEqual([rule, rule])
  const [act] = (await client.operate('pageActs', { appId: app.appId })).data.list
  const { data } = await client.operate('getAct', { id: act?.id ?? 0 })
  expect(data).toMatchObject({ set: { fastChargeBillRuleId: rule }, filter: { all: true } })
})

browserTest('devices of a city that are silent for a day are found, and exported, in six clicks', async () => {
  const name = newSerial('Silent')
  const app = await newApplication(client, { appName: name })
  const [silent = '', heard = ''] = await newDevices(app, 2, { provinceCode: '360000', cityCode: '360700' })
  const yesterday = new Date(Date.now() - 30 * 3600_000).toISOString()
  const reports = [{ deviceNo: silent, reportTime: yesterday }, { deviceNo: heard }]
  await client.call('reportDeviceStates', { appId: app.appId, reports }, { token: app.token })
  const { page } = await visit('/console/account', { role: 'viewer' })
  const hand = new Hand(page)
  await hand.go('Devices')
  await hand.find(page.getByRole('combobox', { name: 'Application' }), name)
  await hand.press('More filters')
  await hand.find(page.getByRole('combobox', { name: 'Province, city, district' }), '赣州市')
  await hand.click(page.getByLabel('Last report'))
  await hand.click(page.locator('.ant-picker-presets').getByText('No report for 1 day'))
  await page.getByText('1 total').waitFor()
  await page.getByRole('cell', { name: silent, exact: true }).waitFor()
  await hand.press('Export')
  const download = page.waitForEvent('download')
  await hand.click(page.getByText('CSV').first())
  const text = await Bun.file(await (await download).path()).text()
  expect(hand.clicks).toBeLessThanOrEqual(6)
  expect(text).toContain('lastReportTime')
  expect(text).toContain(silent)
  expect(text).not.toContain(heard)
})
