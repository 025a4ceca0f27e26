import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { type SiteRecord, saveSite } from '../../src/sites/contract.ts'
import { siteBody, type TestApplication } from '../harness.ts'
import { client } from './support.ts'

// Shared setup for the tests of the list of sites and of the site forms.

export async function newSite(app: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  const made = await client.call(saveSite, siteBody(app.appId, members), { token: app.token })
  if (made.code !== 0) throw new Error(`no site: ${made.text}`)
  return made.data
}

export async function newRule(app: TestApplication, ruleType: number, ruleName: string): Promise<number> {
  const members =
    ruleType === 3
      ? { freeMinutes: 15, unitMinutes: 10, unitPrice: '1' }
      : { periods: [{ startTime: '00:00:00', electricityPrice: '0.6', servicePrice: '0.4' }] }
  const made = await client.call(saveBillingRule, { ruleName, ruleType, ...members }, { token: app.token })
  if (made.code !== 0) throw new Error(`None: ${made.text}`)
  return made.data.id
}
