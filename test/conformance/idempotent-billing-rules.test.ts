import { expect, test } from 'bun:test'
import { pageBillingRules, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { newApplication, target } from '../harness.ts'

const client = await target()
const terms = { ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00' }

test('saveBillingRule takes an Idempotency-Key: 16 saves at once have one effect and one answer', async () => {
  const { appId, token } = await newApplication(client)
  const options = { token, headers: { 'idempotency-key': 'rule-1' } }
  const saves = Array.from({ length: 16 }, () => client.call(saveBillingRule, { appId, ...terms }, options))
  const answers = await Promise.all(saves)
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
  expect(answers[0]?.code).toBe(0)
  const page = await client.call(pageBillingRules, { appId }, { token })
  expect(page.data.total).toBe(1)
  const other = await client.call(saveBillingRule, { appId, ...terms, unitPrice: '3.00' }, options)
  expect([other.status, other.code]).toEqual([422, 10008])
})
