import { expect } from 'bun:test'
import { updateApplication } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { saveDeviceModel } from '../../src/devices/models/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { createOperator } from '../../src/people/operators/contract.ts'
import { deviceBody, newApplication } from '../harness.ts'
import { newRule, newSite } from './site-support.ts'
import { browserTest, client, leadTo, newSerial, visit, whatIsWider } from './support.ts'

/** A name of the greatest length in which no line can break. A page that treats it as HTML would run its script. */
const text = (index: number) => `<img/src=x/onerror="document.title='run'">${index}`.padEnd(64, 'W')

browserTest(
  'hostile text is text on every page of the console, and only addresses of web pages are links',
  async () => {
    const app = await newApplication(client, { appName: text(1), thirdPartyConfig: { operatorName: text(2) } })
    const { appId, token } = app
    const deviceNo = newSerial('<img/src=x/onerror=alert(1)>')
    const serialPrefix = newSerial('<b>')
    await client.operate(saveDeviceModel, { serialPrefix, modelName: text(3) })
    const members = { deviceNo, deviceName: text(4), tag: text(5), detailAddress: text(6) }
    expect((await client.call(createDevice, deviceBody(appId, members), { token })).code).toBe(0)
    expect((await client.call(reportDeviceState, { deviceNo, statusRemark: text(7) }, { token })).code).toBe(0)
    const rule = await newRule(app, 3, text(8))
    const site = await newSite(app, {
      siteName: text(9),
      contacts: text(10),
      sitePictureUrl: 'javascript:document.title="run"',
      occupancyBillRuleId: rule,
    })
    expect((await client.operate(updateApplication, { appId, appName: text(11) })).code).toBe(0)
    const name = newSerial('<img src=x onerror=alert(1)>')
    expect((await client.operate(createOperator, { name, role: 'viewer' })).code).toBe(0)

    const { page, faults } = await visit('/console', { role: 'admin' })
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const serial = encodeURIComponent(deviceNo)
    // Lists that all tests share are filtered for the rows of this test.
    const pages: [path: string, shown: string][] = [
      [`/applications?appName=${encodeURIComponent(text(11))}`, text(11)],
      [`/applications/${appId}`, text(11)],
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
      [`/people?name=${encodeURIComponent(name)}`, name],
      ['', 'The newest events'],
    ]
    const wider: string[] = []
    for (const [path, shown] of pages) {
      await leadTo(page, `/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText(shown.slice(0, 20)).first().waitFor({ state: 'attached' })
      const found = await page.evaluate(() => ({
        title: document.title,
        // The console itself uses no such source and no such attribute.
        elements: document.querySelectorAll('img[src="x"], [onerror], [onload]').length,
        links: [...document.querySelectorAll('a')].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
      }))
      expect([path, found]).toEqual([path, { title: expect.not.stringMatching(/^run$/), elements: 0, links: 0 }])
      wider.push(...(await whatIsWider(page)))
    }
    expect(wider).toEqual([])
    expect(dialogs).toEqual([])
    expect(faults).toEqual([])
  },
)
