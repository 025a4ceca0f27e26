import { expect } from 'bun:test'
import { newPassword, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { isLong } from '../kit/scale.ts'
import { newRule, newSite } from './records.ts'
import { browserTest, client, leadTo, visit, whatIsWider } from './support.ts'

/** A name of the greatest length in which no line can break. A page that treats it as HTML would run its script. */
const text = (index: number) => `${index}<img/src=x/onerror="document.title='run'">`.padEnd(64, 'W')

browserTest('hostile text is text on every page, and only web pages and phone numbers are links', async () => {
  const app = await newApplication(client, { appName: text(1), thirdPartyConfig: { operatorName: text(2) } })
  const { appId, token } = app
  const deviceNo = newSerial('<img/src=x/onerror=alert(1)>')
  const serialPrefix = newSerial('<b>')
  const kind = { deviceType: text(14), deviceTypeName: text(15) }
  await client.operate('saveDeviceModel', { serialPrefix, modelName: text(3), ...kind })
  const members = { deviceNo, deviceName: text(4), tag: text(5), detailAddress: text(6) }
  expect((await client.call('createDevice', deviceBody(appId, members), { token })).code).toBe(0)
  expect((await client.call('reportDeviceState', { deviceNo, statusRemark: text(7) }, { token })).code).toBe(0)
  const rule = await newRule(app, 3, text(8))
  const site = await newSite(app, {
    siteName: text(9),
    contacts: text(10),
    sitePictureUrl: 'javascript:document.title="run"',
    occupancyBillRuleId: rule,
  })
  expect((await client.operate('updateApplication', { appId, appName: text(11) })).code).toBe(0)
  const lane = { laneType: 3, laneName: text(16) }
  const placement = { deviceNo, siteId: site.id, ...lane }
  expect((await client.call('savePlacement', placement, { token })).code).toBe(0)
  expect((await client.call('removePlacement', { deviceNo, reason: text(18) }, { token })).code).toBe(0)
  expect((await client.call('savePlacement', placement, { token })).code).toBe(0)

  // A person, who owns a key and schedules prices.
  const person = { id: 0, name: newSerial('<img/src=x/onerror=alert(1)>').padEnd(64, 'W'), password: newPassword() }
  const { code, data: account } = await client.operate('createOperator', { ...person, role: 'admin' })
  expect(code).toBe(0)
  const headers = await signIn(client, person)
  const keyName = newSerial('<img/src=x/onerror=alert(1)>').padEnd(64, 'W')
  const { data: key } = await client.call('createOperatorKey', { name: keyName, role: 'viewer' }, { headers })
  // Used, so that the list of keys shows every time that it can.
  expect((await client.call('getSession', {}, { token: String(key.operatorKey) })).code).toBe(0)
  const effectiveTime = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '')
  const terms = { appId, billingRuleId: rule, effectiveTime, freeMinutes: 0, unitMinutes: 10, unitPrice: '2' }
  const change = { ...terms, reason: text(17) }
  expect((await client.call('schedulePriceChange', change, { headers })).code).toBe(0)

  const { page } = await visit('/console', { role: 'admin' })
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  const serial = encodeURIComponent(deviceNo)
  // Lists that all tests share are filtered for the rows of this test.
  const pages: [path: string, shown: string][] = [
    [`/applications?appName=${encodeURIComponent(text(11))}`, text(11)],
    [`/applications/${appId}/overview`, text(11)],
    [`/sites?appId=${appId}`, text(9)],
    [`/sites/${appId}/${site.id}`, text(9)],
    [`/devices?appId=${appId}`, deviceNo],
    [`/devices/${appId}/${serial}`, deviceNo],
    [`/billing-rules?appId=${appId}`, text(8)],
    [`/models?serialPrefix=${encodeURIComponent(serialPrefix)}`, text(3)],
    [`/events?appId=${appId}`, deviceNo],
    [`/events?tab=audit&appId=${appId}`, text(11)],
    [`/devices?deviceNo=${serial}`, deviceNo],
    [`/sites?siteName=${encodeURIComponent(text(9))}`, text(9)],
    [`/billing-rules?ruleName=${encodeURIComponent(text(8))}`, text(8)],
    [`/people?name=${encodeURIComponent(person.name)}`, person.name],
    [`/people?tab=keys&operatorId=${account.id}`, keyName],
    [`/people?tab=sessions&operatorId=${account.id}`, person.name],
    [`/price-changes?appId=${appId}`, text(17)],
    [`/billing-rules/${appId}/${rule}`, text(8)],
    [`/deliveries?appId=${appId}`, 'Deliveries'],
    ['', 'Recent events'],
  ]
  const wider: string[] = []
  for (const [path, shown] of pages.filter((_, index) => isLong || index % 2 === 0)) {
    // By way of another page, because two pages in a row show the same texts.
    await leadTo(page, '/console/nothing')
    await page.getByRole('heading', { level: 1, name: '404' }).waitFor()
    await leadTo(page, `/console${path}`)
    await page.getByText(shown.slice(0, 20)).first().waitFor({ state: 'attached' })
    const found = await page.evaluate(() => ({
      title: document.title,
      // The console itself uses no such source and no such attribute.
      elements: document.querySelectorAll('img[src="x"], [onerror], [onload]').length,
      links: [...document.querySelectorAll('a')]
        .filter(({ protocol }) => !/^(?:https?|tel):$/.test(protocol))
        .map((one) => one.outerHTML),
    }))
    expect([path, found]).toEqual([path, { title: expect.not.stringMatching(/^run$/), elements: 0, links: [] }])
    wider.push(...(await whatIsWider(page)))
  }
  expect(wider).toEqual([])
  expect(dialogs).toEqual([])
})
