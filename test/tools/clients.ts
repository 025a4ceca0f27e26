import { equal, ok } from 'node:assert/strict'
import createClient from 'openapi-fetch'
import { client as heyApi } from './generated/hey-api/client.gen.ts'
import { createDevice, getDevice, issueToken, saveSite } from './generated/hey-api/index.ts'
import type { components, paths } from './generated/openapi-typescript.ts'
import * as orval from './generated/orval/fetch.ts'
import { createDeviceBody } from './generated/orval/zod.ts'

// A program that uses clients generated from openapi.json: it gets a token, creates a site and the README's device, and
// recognises a refusal by its code. It compiles only if the generated types allow it, which the test checks too.

const { FORECOURT_URL: baseUrl = '', APP_ID: client_id = '', APP_SECRET: client_secret = '' } = process.env
const credentials = { grant_type: 'client_credentials', client_id, client_secret } as const

const site: components['schemas']['SiteRegistration'] = {
  appId: client_id,
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
}
/** The README's device, with a separate serial number for each client. */
const device = (deviceNo: string): components['schemas']['DeviceRegistration'] => ({
  appId: client_id,
  deviceNo,
  deviceName: 'East gate barrier',
  districtCode: '360102',
  coordinates: '115.899918,28.676493',
})
const shown = ({ deviceNo, status }: components['schemas']['Device']) => `${deviceNo} ${status}`

{
  const api = createClient<paths>({ baseUrl })
  const token = await api.POST('/api/auth/v1/oauth/token', { body: credentials })
  const headers = { authorization: `Bearer ${token.data?.access_token}` }
  const made = await api.POST('/api/charging/v1/siteManageThird/save', { headers, body: site })
  equal(made.data?.data.siteName, site.siteName)
  const path = '/api/device/entrance/guard/create'
  const created = await api.POST(path, { headers, body: device('FC-GATE-0001') })
  equal(created.data && shown(created.data.data), 'FC-GATE-0001 1')
  const again = await api.POST(path, { headers, body: device('FC-GATE-0001') })
  ok(again.response.status === 409 && again.error)
  equal(again.error.code, 20017)
}

{
  heyApi.setConfig({ baseUrl })
  const token = await issueToken({ body: credentials })
  heyApi.setConfig({ auth: token.data?.data.accessToken })
  equal((await saveSite({ body: site })).data?.data.siteName, site.siteName)
  const created = await createDevice({ body: device('FC-GATE-0002') })
  equal(created.data && shown(created.data.data), 'FC-GATE-0002 1')
  const { error } = await getDevice({ query: { deviceNo: 'FC-GATE-9999' } })
  // The code determines the type of the data.
  if (error?.code === 10001) throw new Error(error.data.errors[0]?.reason)
  equal(error?.code, 20002)
}

{
  // orval generates relative URLs for a browser; here they get the service's address.
  const plain = globalThis.fetch
  globalThis.fetch = Object.assign(
    (url: string | URL | Request, init?: RequestInit) => plain(baseUrl + url, init),
    plain,
  )
  const issued = await orval.issueToken(credentials)
  ok(issued.status === 200)
  const headers = { authorization: `Bearer ${issued.data.access_token}` }
  const made = await orval.saveSite(site, { headers })
  ok(made.status === 200)
  const body = createDeviceBody.parse(device('FC-GATE-0003'))
  const created = await orval.createDevice({ ...device('FC-GATE-0003'), ...body }, { headers })
  ok(created.status === 200)
  equal(shown(created.data.data), 'FC-GATE-0003 1')
  const again = await orval.createDevice(device('FC-GATE-0003'), { headers })
  ok(again.status === 409)
  equal(again.data.code, 20017)
}
