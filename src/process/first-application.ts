import { randomBytes } from 'node:crypto'
import { hasApplications, insertApplication, requireLockedApplication } from '../applications/store.ts'
import { saveConfig } from '../applications/third-party-config/save.ts'
import { insertBillingRule } from '../billing-rules/store.ts'
import { hashSecret, newSecret } from '../callers/credentials.ts'
import type { Context } from '../context.ts'
import type { Sql } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertEvent } from '../events/store.ts'

const actor = 'operator:first start'
const noTerms = { periods: null, freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
const dayAndNight = [
  { startTime: '00:00:00', electricityPrice: '0.4200', servicePrice: '0.3000' },
  { startTime: '07:00:00', electricityPrice: '0.9800', servicePrice: '0.4500' },
  { startTime: '22:00:00', electricityPrice: '0.4200', servicePrice: '0.3000' },
]
const demoRules = [
  { ...noTerms, ruleName: 'Fast charging', ruleType: 1, periods: dayAndNight },
  { ...noTerms, ruleName: 'Slow charging', ruleType: 2, periods: dayAndNight },
  {
    ...noTerms,
    ruleName: 'Occupancy',
    ruleType: 3,
    freeMinutes: 15,
    unitMinutes: 30,
    unitPrice: '2.00',
    dailyCap: '40.00',
  },
]

export interface Demo {
  /** Returns commands, ready to paste, that fetch a token and create a site and a device. */
  commands(url: string): string
}

/** Only if there is no application. */
export async function createDemoOnce(sql: Sql, context: Pick<Context, 'secrets'>): Promise<Demo | undefined> {
  if (await hasApplications(sql)) return undefined
  const appSecret = newSecret()
  const appId = randomBytes(10).toString('hex')
  const ruleIds = await transaction(sql, async (tx) => {
    await insertApplication(tx, {
      appId,
      appName: 'demo',
      secretHash: hashSecret(appSecret),
      tokenLifetimeSeconds: 7200,
      rateLimitPerSecond: 1000,
    })
    await requireLockedApplication(tx, appId)
    await saveConfig(context, tx, { appId, operatorName: 'Demo operator' }, actor)
    const ids: number[] = []
    for (const rule of demoRules) {
      const data = await insertBillingRule(tx, { appId, ...rule })
      await insertEvent(tx, { appId, type: 'billingRule.created', actor, subject: data.id, data })
      ids.push(data.id)
    }
    return ids
  })
  return { commands: (url) => commands(url, appId, appSecret, ruleIds) }
}

function commands(url: string, appId: string, appSecret: string, [fast, slow, occupancy]: number[]): string {
  const site = {
    appId,
    siteName: 'Riverside charging park',
    contacts: 'Wang Fang',
    contactsPhone: '13800000000',
    customerServicePhone: '4000000000',
    businessWeekDay: 'Monday to Sunday',
    businessStartTime: '00:00:00',
    businessClosingTime: '24:00:00',
    fastChargeBillRuleId: fast,
    rushingBillRuleId: slow,
    placeholderBillRuleId: occupancy,
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '360102',
    districtName: '东湖区',
    coordinates: '115.899918,28.676493',
  }
  const device = {
    appId,
    deviceNo: 'FC-GATE-0001',
    deviceName: 'East gate barrier',
    districtCode: '360102',
    coordinates: '115.899918,28.676493',
  }
  const post = (path: string, body: object) =>
    `curl -s -w '\\n' ${url}${path} \\\n  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`
  return `
The application "demo" is ready. Its secret is shown only this once. Paste these commands into a shell:

TOKEN=$(curl -s ${url}/api/auth/v1/oauth/token -H 'Content-Type: application/json' \\
  -d '{"grant_type":"client_credentials","client_id":"${appId}","client_secret":"${appSecret}"}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

${post('/api/charging/v1/siteManageThird/save', site)}

${post('/api/device/entrance/guard/create', device)}
`
}
