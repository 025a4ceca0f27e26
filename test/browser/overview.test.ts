import { describe, expect } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication } from '../harness.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSound,
  expectSoundInBothShades,
  longBrowserTest,
  narrow,
  picture,
  visit,
} from './support.ts'

describe('overview', () => {
  browserTest('shows the platform at a glance, light and dark', async () => {
    const app = await newApplication(client)
    for (let index = 0; index < 3; index++) {
      const device = deviceBody(app.appId)
      await client.call(createDevice, device, { token: app.token })
      await client.call(reportDeviceState, { deviceNo: device.deviceNo, status: 2 }, { token: app.token })
    }
    await client.call(createDevice, { ...deviceBody(app.appId), deviceNo: '' }, { token: app.token })
    const visited = await visit('/console', { role: 'viewer' })
    const { page } = visited
    await page.getByRole('figure', { name: /in the last 24 hours/ }).waitFor({ timeout: 25_000 })
    await expectSoundInBothShades(visited, 'Overview', 'overview')
    // An hour of the chart tells what it counts, and links to these rows.
    const hour = page.getByRole('link', { name: /: \d[\d,]* refused writes$/ }).last()
    await hour.hover()
    const told = /^\S+ (\d\d:\d\d):00 .*: ([\d,]+) refused/.exec((await hour.getAttribute('aria-label')) ?? '')
    const shown = await page.locator('.chart-told').innerText()
    expect(shown).toStartWith(`${told?.[1]}–`)
    expect(shown).toEndWith(`Refused writes ${told?.[2]}`)
    await hour.click()
    await page.waitForURL(/\/console\/refusals\?timeFrom=[\d-]+\+\d\d%3A00%3A00&timeTo=[\d-]+\+\d\d%3A\d\d%3A59$/)
    await page.getByRole('row').nth(1).waitFor()
  })

  longBrowserTest('fits a phone, in Chinese', async () => {
    const visited = await visit('/console', { role: 'admin', language: 'zh', viewport: narrow })
    await expectFramed(visited, '概览')
    await picture(visited.page, 'overview-phone')
    await visited.page.getByRole('button', { name: '菜单' }).click()
    await visited.page.getByRole('link', { name: '人员与密钥' }).click()
    await visited.page.waitForURL('**/console/people')
  })

  longBrowserTest('tells those who run the service what it stands on, in both languages', async () => {
    const visited = await visit('/console', { role: 'admin' })
    const { page } = visited
    await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Service' }).click()
    await page.getByText(/^PostgreSQL \d+\S* answers in \d+ ms\.$/).waitFor()
    await page.getByRole('button', { name: /^All \d+ tables$/ }).click()
    await page.getByRole('cell', { name: 'device_binding', exact: true }).waitFor()
    await page.getByRole('button', { name: /^All \d+ settings$/ }).click()
    await page.getByRole('cell', { name: 'FORECOURT_TIME_ZONE', exact: true }).waitFor()
    await expectSoundInBothShades(visited, 'Service', 'service')

    const inChinese = await visit('/console/service', { role: 'operator', language: 'zh', viewport: narrow })
    await inChinese.page.getByText(/^PostgreSQL \d+\S*，响应时间 \d+ 毫秒。$/).waitFor()
    expect(await inChinese.page.getByText('FORECOURT_TIME_ZONE').count()).toBe(0)
    await expectSound(inChinese, '服务')
    await picture(inChinese.page, 'service-phone')
  })

  longBrowserTest('leads a developer to their applications, and offers no more than their role may', async () => {
    const { appId } = await newApplication(client)
    const visited = await visit('/console', { role: 'developer', appIds: [appId] })
    await visited.page.waitForURL('**/console/applications')
    for (const name of ['Overview', 'People and keys', 'Models and inventory']) {
      expect(await visited.page.getByRole('link', { name }).count()).toBe(0)
    }
    expect(visited.faults).toEqual([])
  })
})
