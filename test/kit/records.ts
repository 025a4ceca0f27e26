import { randomBytes } from 'node:crypto'
import type { DeviceRegistration } from '../../src/devices/contract.ts'
import type { SiteRegistration } from '../../src/sites/contract.ts'
import type { Answer, Client } from './client.ts'

export interface TestApplication {
  appId: string
  appSecret: string
  token: string
}

/** Creates an application for one test: configured, without a rate limit, with a token. */
export async function newApplication(client: Client, members: Record<string, unknown> = {}): Promise<TestApplication> {
  const body = {
    appName: 'test',
    rateLimitPerSecond: null,
    thirdPartyConfig: { operatorName: 'Test operator' },
    ...members,
  }
  const created = await despiteLoad(() => client.operate('createApplication', body))
  if (created.code !== 0) throw new Error(`no application: ${created.text}`)
  const { appId } = created.data
  const appSecret = shownSecret(created.data.appSecret)
  return { appId, appSecret, token: await newToken(client, appId, appSecret) }
}

/** The secret in the response that created the application; throws when it is null. */
export function shownSecret(appSecret: string | null): string {
  if (appSecret === null) throw new Error('the secret is not shown')
  return appSecret
}

export async function newToken(client: Client, appId: string, appSecret: string): Promise<string> {
  const body = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
  const issued = await despiteLoad(() => client.call('issueToken', body))
  if (issued.code !== 0) throw new Error(`no token: ${issued.text}`)
  return issued.data.accessToken
}

/** Repeats a call that an overloaded service refused with 50003, so that a busy machine fails no test in its setup. */
export async function despiteLoad<Data>(ask: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (answer.code !== 50003 || tries === 30) return answer
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

export async function takeOffline(client: Client, appId: string): Promise<void> {
  const answer = await client.operate('takeApplicationOffline', { appId })
  if (answer.code !== 0) throw new Error(`not offline: ${answer.text}`)
}

/** A serial number that no other test uses. */
export function newSerial(prefix = 'SN'): string {
  return `${prefix}-${randomBytes(9).toString('hex')}`
}

/** A body with every member of createDevice. */
export function deviceBody(appId: string, members: Record<string, unknown> = {}): DeviceRegistration {
  return {
    appId,
    deviceNo: newSerial(),
    deviceName: 'East gate barrier',
    tag: 'lane=1',
    provinceCode: '360000',
    cityCode: '360100',
    districtCode: '360102',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
    ...members,
  }
}

/** A body with every member that createSite requires, and some more. */
export function siteBody(appId: string, members: Record<string, unknown> = {}): SiteRegistration {
  return {
    appId,
    siteName: 'Riverside charging park',
    contacts: 'Wang Fang',
    contactsPhone: '13800000000',
    customerServicePhone: '4000000000',
    businessWeekDay: 'Monday to Sunday',
    businessStartTime: '08:00:00',
    businessClosingTime: '22:00:00',
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '360102',
    districtName: '东湖区',
    ...members,
  }
}
