import type { Answer, Client } from '../kit/client.ts'
import { deviceBody, siteBody, type TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'

const periods = [{ startTime: '00:00:00', electricityPrice: '0.5', servicePrice: '0.3' }]

export type Operations = Record<string, () => Promise<Answer<unknown>>>

/** One operation for each way in which operations use the database. Each can be called repeatedly. */
export async function everyOperation(
  client: Client,
  { operatorKey }: Service,
  { appId, appSecret, token }: TestApplication,
): Promise<Operations> {
  const device = deviceBody(appId)
  const { deviceNo } = device
  await client.call('createDevice', device, { token })
  const text = () => String(Math.random())
  return {
    issueToken: () =>
      client.call('issueToken', { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }),
    createSession: () => client.call('createSession', { operatorKey }),
    createDevice: () => client.call('createDevice', deviceBody(appId), { token }),
    saveSite: () => client.call('saveSite', siteBody(appId), { token }),
    reportDeviceState: () => client.call('reportDeviceState', { deviceNo, statusRemark: text() }, { token }),
    updateDevice: () => client.call('updateDevice', { deviceNo, tag: text() }, { token }),
    unbindDevice: async () => {
      const made = deviceBody(appId)
      const created = await client.call('createDevice', made, { token })
      return created.status === 200 ? client.call('unbindDevice', { deviceNo: made.deviceNo }, { token }) : created
    },
    getDevice: () => client.call('getDevice', { deviceNo }, { token }),
    pageDevices: () => client.call('pageDevices', {}, { token }),
    pageBillingRules: () => client.call('pageBillingRules', {}, { token }),
    pageEvents: () => client.call('pageEvents', {}, { token }),
    getApplication: () => client.operate('getApplication', { appId }),
    createApplication: () =>
      client.operate('createApplication', { appName: 'test', thirdPartyConfig: { operatorName: 'Operator' } }),
    saveBillingRule: () => client.call('saveBillingRule', { ruleName: text(), ruleType: 1, periods }, { token }),
    pageAudit: () => client.operate('pageAudit', {}),
    getOverview: () => client.operate('getOverview', {}),
    getMetrics: () => client.operate('getMetrics', {}),
    getReadiness: () => client.call('getReadiness', {}),
  }
}

/**
 * Calls each operation until it succeeds. Returns the time from `began` to each success, the longest first; an
 * operation that does not succeed counts as 30 s. Any refusal but 50003 throws.
 */
export async function backAfter(operations: Operations, began: number): Promise<{ name: string; ms: number }[]> {
  const back = await Promise.all(
    Object.entries(operations).map(async ([name, operation]) => {
      await becomesTrue(async () => {
        const { status, code, text } = await operation()
        if (status !== 200 && code !== 50003) throw new Error(`${name}: ${text}`)
        return status === 200
      }, 30_000)
      return { name, ms: Math.round(performance.now() - began) }
    }),
  )
  return back.sort((a, b) => b.ms - a.ms)
}
