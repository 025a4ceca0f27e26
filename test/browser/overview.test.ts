import { describe, expect } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication } from '../harness.ts'
import {
  browserTest,
  client,
  expectFramed,
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
    const visited = await visit('/console', { role: 'viewer' })
    await visited.page.getByRole('img', { name: /in the last 24 hours/ }).waitFor({ timeout: 25_000 })
    await expectSoundInBothShades(visited, 'Overview', 'overview')
  })

  longBrowserTest('fits a phone, in Chinese', async () => {
    const visited = await visit('/console', { role: 'admin', language: 'zh', viewport: narrow })
    await expectFramed(visited, '概览')
    await picture(visited.page, 'overview-phone')
    await visited.page.getByRole('button', { name: '菜单' }).click()
    await visited.page.getByRole('link', { name: '人员与密钥' }).click()
    await visited.page.waitForURL('**/console/people')
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
