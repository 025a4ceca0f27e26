import { expect } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { deviceBody, siteBody, type TestApplication } from '../kit/records.ts'
import { client } from './support.ts'

// Records of an application, created through the API.

/** At a host name that no DNS server resolves, so that every callback to it fails. */
export const failingUrl = 'https://callbacks.forecourt-browser-test.net/events'

export async function newDevice(app: TestApplication, members: Record<string, unknown> = {}) {
  const device = deviceBody(app.appId, members)
  const made = await client.call('createDevice', device, { token: app.token })
  expect(made.code).toBe(0)
  return made.data
}

/** Creates devices named “Gate 000”, “Gate 001” …, and returns their serial numbers. */
export async function newDevices(app: TestApplication, count: number, members: object = {}): Promise<string[]> {
  const devices = Array.from({ length: count }, (_, index) => {
    const { appId: _appId, ...device } = deviceBody(app.appId, {
      deviceName: `Gate ${String(index).padStart(3, '0')}`,
      ...members,
    })
    return device
  })
  for (let first = 0; first < count; first += limits.batchRows) {
    const batch = devices.slice(first, first + limits.batchRows)
    const { data } = await client.call('createDevices', { devices: batch }, { token: app.token })
    expect(data.results.filter(({ code }) => code !== 0)).toEqual([])
  }
  return devices.map(({ deviceNo }) => String(deviceNo))
}

/** Creates sites in one batch, named “Park 0”, “Park 1” … if the name is “Park”. */
export async function newSites(
  { appId, token }: TestApplication,
  count: number,
  name: string,
  membersOf: (index: number) => object = () => ({}),
): Promise<void> {
  const sites = Array.from({ length: count }, (_none, index) => {
    const { appId: _owner, ...site } = siteBody(appId, { siteName: `${name} ${index}`, ...membersOf(index) })
    return site
  })
  expect((await client.call('saveSites', { sites }, { token })).code).toBe(0)
}

/** Reads a device as an operator. */
export const look = (appId: string, deviceNo: string) => client.operate('getDevice', { appId, deviceNo })

export async function newSite(app: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  const made = await client.call('saveSite', siteBody(app.appId, members), { token: app.token })
  if (made.code !== 0) throw new Error(`no site: ${made.text}`)
  return made.data
}

export async function newRule(app: TestApplication, ruleType: number, ruleName: string): Promise<number> {
  const members =
    ruleType === 3
      ? { freeMinutes: 15, unitMinutes: 10, unitPrice: '1' }
      : { periods: [{ startTime: '00:00:00', electricityPrice: '0.6', servicePrice: '0.4' }] }
  const made = await client.call('saveBillingRule', { ruleName, ruleType, ...members }, { token: app.token })
  if (made.code !== 0) throw new Error(`None: ${made.text}`)
  return made.data.id
}
